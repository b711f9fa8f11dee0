"""The commands of ``mayfly workload``."""
