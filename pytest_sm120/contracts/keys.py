"""Whether the place where a buffer was seen is the place that a contract names."""

from __future__ import annotations

from pytest_sm120.recorder.reachable import plain_key


def rank_of_key(seen: object, wanted: object) -> int | None:
    """Return how well a seen key fits the wanted one: 0 exactly, 1 as part of a path, None not.

    What a module global or a watched object holds is seen as a path, e.g.
    ``"_cache[('ws', 'cuda:0')]"``. It fits the wanted key ``("ws", "cuda:0")``, and so does
    ``"ws:cuda:0[1]"`` the key ``"ws:cuda:0"``: a tuple is kept there, with the buffer inside.
    """
    seen, wanted = plain_key(seen), plain_key(wanted)
    if seen == wanted:
        return 0
    path = str(seen)
    spelled = [f"[{wanted!r}]"]
    if isinstance(wanted, str):
        spelled.append(f".{wanted}")
    inside = any(_holds_part(path, part) for part in spelled)
    return 1 if inside or _begins_with(path, str(wanted)) else None


def _holds_part(path: str, part: str) -> bool:
    return any(_begins_with(path[at:], part) for at in range(len(path)) if path[at] == part[0])


def _begins_with(path: str, part: str) -> bool:
    rest = path[len(part) :]
    return path.startswith(part) and (not rest or rest[0] in ".[")
