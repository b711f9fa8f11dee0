"""Workloads made of a profile: what is measured per class, the file of it, and flow lists drawn from it."""
