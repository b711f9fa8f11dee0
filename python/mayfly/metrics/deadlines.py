"""Until when what is played must be there."""

FRAME_DEADLINE_S = 0.1
"""A frame of a game is late when it takes longer, s."""
