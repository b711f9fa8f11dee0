"""Relations between runs in the kernel: the same again, and other numbers, order and names, give the same figures."""

import guest
import pytest
from drawn_links import FIGURES, by_flow, link, table
from guest_hosts import PRESET
from relations import differing, renamed, renumbered, shuffled

import mayfly
from mayfly.engines import engine as engine_named

pytestmark = pytest.mark.kernel

DISCIPLINES = ("fifo", "sfq", "fq", "codel", "fq_codel", "pie", "lfq", "las", "efd", "red")
WITH_DRAWS = {"red (linux)"}
"""An exception: RED of Linux draws from random numbers of the kernel, which no seed sets; so do CHOKe and CAKE."""
LINK = 338
"""Number of a dumbbell of 5 Mbit/s that loses 177 packets under `fifo`."""


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    guest.kernel()


def ran(one):
    """Figures of each flow under each discipline."""
    scenario = mayfly.load_scenario("wired", one.overrides)
    records = mayfly.compare(scenario, list(DISCIPLINES), table(one.rows), engine=engine_named("linux")).records
    return {str(name): by_flow(of) for (name,), of in records.partition_by("discipline", as_dict=True).items()}


@pytest.fixture(scope="module")
def drawn():
    one = link(LINK).with_(tcp__preset=PRESET, duration="20s")
    assert one.is_dumbbell
    return one


@pytest.fixture(scope="module")
def base(drawn):
    found = ran(drawn)
    assert len(found) == len(DISCIPLINES)
    return found


@pytest.fixture(scope="module")
def again(drawn):
    return ran(drawn)


def different(expected, found):
    return {name for name in expected if any(differing(expected[name], found[name], FIGURES, 0.0))}


def test_the_same_again_gives_the_same(base, again):
    assert different(base, again) <= WITH_DRAWS


def test_red_draws_what_no_seed_sets(base, again):
    assert different(base, again) >= WITH_DRAWS


def test_other_numbers_of_flows_another_order_and_other_names_of_hosts_give_the_same(drawn, base):
    changed, before = renumbered(renamed(drawn, in_order=False))
    found = {
        name: {before[number]: row for number, row in figures.items()}
        for name, figures in ran(shuffled(changed)).items()
    }
    assert different(base, found) <= WITH_DRAWS
