"""The recording model: frozen records of what code under test did, queries and explanations."""
