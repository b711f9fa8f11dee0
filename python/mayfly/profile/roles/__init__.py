"""Roles of hosts by what their connections look like: features, classifiers, hold-out, several traces.

Source: Chen 2012, 8.4.
"""
