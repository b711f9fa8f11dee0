"""The commands of ``mayfly model``."""
