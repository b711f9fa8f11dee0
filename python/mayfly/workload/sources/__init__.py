"""Sources of traffic: each draws the flows of one kind."""
