"""The language that claims are declared in."""
