"""LASACK against jobs simulated one by one: acknowledgements of uploads age by the data they acknowledge."""

import numpy as np
import pytest

from mayfly.laws.service_spec import service_law
from mayfly.models.queue import lasack
from mayfly.models.queue.jobs import poisson_jobs, simulate_jobs
from mayfly.models.queue.mg1 import MG1

CUTS = np.array([0.0, 0.3, 0.6, 0.85, 0.95, 1.0])
SURE = 1 - 0.01 / (2 * 2 * 3 * (len(CUTS) - 1))
"""All intervals of this file hold with probability 0.99 if the model is right."""


@pytest.mark.parametrize("spec", ["bounded-pareto:min=3,max=1e3,alpha=1.73", "exponential:mean=1"])
@pytest.mark.parametrize(("uploads", "ack"), [(0.5, 40 / 3000), (2.0, 0.3)])
def test_downloads_and_acknowledgements_take_as_long_as_the_model_says(spec, uploads, ack):
    law = service_law(spec)
    queue = MG1(law, 0.8 / (1 + uploads * ack))
    arrivals, sizes = poisson_jobs(law, queue.rho * (1 + uploads), 400_000)
    up = np.random.default_rng(5).random(len(sizes)) < uploads / (1 + uploads)
    run = simulate_jobs("las", arrivals, sizes, np.where(up, ack, 1.0))
    edges = np.r_[0.0, law.quantile(CUTS[1:-1]), np.inf]
    for which, response in ((~up, lasack.response), (up, lasack.ack_response)):
        expected = response(queue, sizes, uploads=uploads, ack=ack)
        found = run.mean_by_size(edges, np.where(which, run.response_time - expected, 0.0), level=SURE)
        assert np.all(np.abs(found.mean) <= found.half_width), found
        scale = run.mean_by_size(edges, np.where(which, expected, 0.0), level=SURE).mean
        assert np.median(found.half_width / scale) < 0.3


def test_a_model_with_the_misprint_of_the_paper_is_found_out():
    """Eq. 5 with y in place of y^i in the second moment."""
    law = service_law("bounded-pareto:min=3,max=1e3,alpha=1.73")
    queue = MG1(law, 0.8)
    arrivals, sizes = poisson_jobs(law, 0.8, 400_000)
    run = simulate_jobs("las", arrivals, sizes)
    idle = 1 - queue.load(sizes)
    misprint = law.partial_moment(1, sizes) + sizes**2 * law.survival(sizes)
    wrong = queue.arrival_rate * misprint / (2 * idle**2) + sizes / idle
    found = run.mean_by_size(np.r_[0.0, law.quantile(CUTS[1:-1]), np.inf], run.response_time - wrong, level=SURE)
    assert np.any(np.abs(found.mean) > found.half_width)
