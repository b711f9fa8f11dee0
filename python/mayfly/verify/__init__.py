"""The closed loop: what a what-if predicts beside what real programs then have."""
