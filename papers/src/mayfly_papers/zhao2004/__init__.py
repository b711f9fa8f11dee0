"""Zhao 2004, a thesis: the estimator of traffic that does not respond, queues under mixed loads."""
