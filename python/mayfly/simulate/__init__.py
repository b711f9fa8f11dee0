"""Scenario files, and the runs they describe."""
