"""Analytic models: queueing laws, their optimisers, and estimates from samples. Import the module you need."""
