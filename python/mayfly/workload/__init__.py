"""Workloads: size laws, arrival processes, synthetic mixes, and flow lists read from files and captures.

Import the module you need: ``lists`` costs little more than polars, ``sizes`` brings numpy and, to solve a law, scipy.
"""
