"""The M/G/1 queue under each policy, and how its answers compare."""
