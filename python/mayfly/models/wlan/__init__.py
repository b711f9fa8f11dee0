"""A wireless cell under the distributed coordination function: its shares, times and windows."""
