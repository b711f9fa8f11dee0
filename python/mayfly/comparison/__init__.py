"""Several disciplines on one workload: the runs, their tables and figures, and the page."""
