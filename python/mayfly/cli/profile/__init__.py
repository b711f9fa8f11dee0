"""The commands of ``mayfly profile``."""
