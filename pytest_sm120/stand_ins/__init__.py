"""Stand-ins for torch, triton and whatever else is not there, and the loader that uses them."""
