"""Ours against other tools on the same capture: one file per tool, one row each in ``registry``."""
