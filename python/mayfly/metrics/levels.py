"""The level from which on a link is busy, without the library for tables."""

BUSY = 0.8
"""Share of a second for which a link sends from which on it is busy in that second, in either direction."""
