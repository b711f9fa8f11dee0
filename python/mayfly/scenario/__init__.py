"""A scenario: the sections of its file, the values a caller overrides, and the ready ones."""
