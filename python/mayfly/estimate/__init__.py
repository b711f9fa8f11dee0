"""How much of the traffic at a queue does not respond to drops (PONRT, Zhao 2004), from samples of the queue."""

from mayfly.callable_package import calls
from mayfly.estimate.alarm import Alarm, alarms
from mayfly.estimate.estimate import Estimates, estimate, methods, parameters
from mayfly.estimate.samples import Samples, read_samples
from mayfly.estimate.score import Score, score

__all__ = [
    "Alarm",
    "Estimates",
    "Samples",
    "Score",
    "alarms",
    "estimate",
    "methods",
    "parameters",
    "read_samples",
    "score",
]

calls(__name__, "mayfly.estimate.estimate", "estimate")
