"""Text in and out: quantities with their units, and files that are written whole or not at all."""
