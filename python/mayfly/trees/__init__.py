"""Shapers in trees: what each discipline at the leaves would give each circuit of a provider."""
