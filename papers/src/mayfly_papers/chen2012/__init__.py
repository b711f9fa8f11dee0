"""Chen 2012, a thesis: Early Flow Discard, its variants for wireless cells, enterprise traffic."""
