"""`mayfly link-trace`: links whose rate varies."""
