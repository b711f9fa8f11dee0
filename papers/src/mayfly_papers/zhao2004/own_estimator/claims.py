"""Each statement of Zhao 2004, II, about the published estimator, of Mayfly's default method on the same samples."""

from mayfly_papers.zhao2004.estimator.claims import OWN
from mayfly_papers.zhao2004.estimator.scenarios import EXPERIMENTS

__all__ = ["CLAIMS", "EXPERIMENTS"]

CLAIMS = OWN
"""In the order of the dissertation."""
