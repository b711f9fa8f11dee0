"""File formats of flow lists: one file per format, one row each in :mod:`mayfly.workload.formats.registry`."""
