"""The arena: every discipline on one board of criteria."""
