"""Pages of a capture, and what is none."""

import polars as pl

import mayfly
from mayfly.comparison.overview import legend
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.recording import Recording


def whatif_of(path, starts_s):
    """A client that fetches 20 kB at each of these times, as its capture is replayed."""
    script = "up 300 | down 20000"
    flows = pl.DataFrame({"start_s": starts_s, "script": script, "direction": "down", "opened_by": "receiver"})
    scenario = load_scenario("whatif", {"network.rate": "20mbit", "network.buffer": 300, "duration": 120})
    mayfly.run(scenario, "fifo", flows, recording=Recording(path, "client"))
    return mayfly.whatif(path, "2mbit", 100, disciplines="fifo,fq_codel", overrides={"replications": 1}).summary


def test_a_client_that_fetches_one_after_the_other_loads_no_page(tmp_path):
    """Before: an updater was one page that took as long as it ran, and a faster link a gain for it."""
    found = whatif_of(tmp_path / "updater.pcap", [0.4 * number for number in range(60)])
    for row in found["disciplines"]:
        assert (row["users"]["pages"]["pages"], row["users"]["pages"]["series"]) == (0, 1)
    assert any("1 series of connections" in text for text in legend(found))
    assert "pages" not in found["recommendation"]["sentence"]


def test_connections_in_parallel_are_a_page(tmp_path):
    found = whatif_of(tmp_path / "page.pcap", [0.0, 0.3, 0.301, 0.302, 0.303])
    fifo = found["disciplines"][0]["users"]["pages"]
    assert (fifo["pages"], fifo["series"]) == (1, 0)
    # 100 kB at 2 Mbit/s.
    assert 0.4 < fifo["p50_s"] < 2.0
    assert not any("series of connections" in text for text in legend(found))


def test_a_page_is_made_of_the_same_connections_whatever_the_link_does(tmp_path):
    """Before: where the document came slowly, its parts were too late for the page."""
    path = tmp_path / "pages.pcap"
    starts_s = [visit + at for visit in (0.0, 20.0, 40.0) for at in (0.0, 0.5, 0.501, 0.502)]
    whatif_of(path, starts_s)
    counts = set()
    for rate in ("20mbit", "300kbit"):
        found = mayfly.whatif(path, rate, 100, disciplines="fifo,fq_codel", overrides={"replications": 1}).summary
        counts |= {row["users"]["pages"]["pages"] for row in found["disciplines"]}
        slow = found["disciplines"][0]["users"]["pages"]["p50_s"]
    assert counts == {3}
    # All 80 kB come over 300 kbit/s.
    assert slow > 80_000 * 8 / 300e3
