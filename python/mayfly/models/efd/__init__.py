"""Early Flow Discard: sub-flows, thresholds and the sizes they favour."""
