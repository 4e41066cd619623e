"""Batches on other machines: an existing Dask scheduler, the same confined workers behind it."""
