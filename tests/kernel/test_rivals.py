"""fq_codel and cake are what the kernel has (docs/kernel/engine.md, "The rivals")."""

import guest
import pytest
import rivals

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module", autouse=True)
def _kernel():
    """Builds the kernel, or skips and says why."""
    guest.kernel()


@pytest.mark.parametrize("name", rivals.NAMES)
@pytest.mark.parametrize("case", rivals.DATAGRAMS)
def test_the_same_datagrams_meet_the_same_fate(case, name):
    # No host answers, so all that may differ is which flows share a queue (one of 300 here has bad luck), where a router
    # looks at its queue within a packet's time, and cake's random rounding. Both seeds are fixed.
    here, kernel = (rivals.datagrams(case, name, engine) for engine in ("simulator", "linux"))
    for group in here:
        assert here[group].share == pytest.approx(kernel[group].share, abs=0.02)
        assert here[group].loss == pytest.approx(kernel[group].loss, abs=0.04)
    for group in {"short", "flood"} & set(here):
        assert here[group].mean_ms == pytest.approx(kernel[group].mean_ms, rel=0.1)


SPLIT_SHARES = 0.15
"""By how much the shares of a split transfer may differ: the hosts' TCP fills its share otherwise."""


@pytest.mark.parametrize("name", rivals.NAMES)
@pytest.mark.parametrize("case", ["spaced-50", "spaced-90-renewed", "split-8", "overload-110"])
def test_attackers_get_what_they_get_in_the_kernel(case, name):
    here, kernel = (rivals.gaming(case, name, engine) for engine in ("simulator", "linux"))
    assert here.attacker == pytest.approx(kernel.attacker, rel=0.1 if case != "split-8" else SPLIT_SHARES)
