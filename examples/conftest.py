"""The miniature of a user's repository has settings of its own, so it runs in its own process."""

collect_ignore = ["upstream_repo"]
