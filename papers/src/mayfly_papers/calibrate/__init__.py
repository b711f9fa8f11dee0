"""What a paper must have run: a search of its unknown settings over half of its printed numbers."""
