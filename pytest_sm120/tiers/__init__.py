"""The tiers: which evidence a test can get on this machine, and the sessions that give it."""
