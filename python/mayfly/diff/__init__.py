"""Two runs or two captures beside each other: what changed beyond chance."""
