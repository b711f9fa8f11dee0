"""Who runs jobs: processes of this machine, or a Dask cluster with its certificates."""
