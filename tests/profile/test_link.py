"""The guess of a link: on loads made by hand, on runs of the simulator whose link is known, and on a real one."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from invocation import mayfly_here
from packets import FAR, NEAR, write_udp

from mayfly.errors import MayflyError
from mayfly.profile.answer import profile
from mayfly.profile.link import BAND, guess_link, plateau_rate
from mayfly.scenario.scenario import load_scenario
from mayfly.simulate.recording import Recording
from mayfly.simulate.run import named, run_many
from mayfly.workload.capture import opener_is_near

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"


def simulated(path, rate_bps, buffer_bytes, load=0.9, side="client", discipline="fifo", seconds=20, **more):
    """A capture of TCP behind a link of a known rate and buffer."""
    scenario = load_scenario(
        "wired",
        {
            "network.rate": rate_bps,
            "network.buffer": f"{buffer_bytes}B",
            "network.delay": "10ms",
            "network.access_rate": "1gbit",
            "tcp.preset": "linux",
            "workload.load": round(load * rate_bps),
            "duration": seconds,
        }
        | more,
    )
    run_many(scenario, named([discipline]), recording=Recording(path, side))
    return path


def test_a_plateau_needs_many_windows_and_none_above():
    rng = np.random.default_rng(3)
    below = rng.uniform(0, 9e6, 200)
    full = rng.normal(10e6, 5e4, 40)
    assert plateau_rate(np.concatenate([below, full]), 0.1) == pytest.approx(10e6, rel=0.01)
    # Five windows are too few, as many above as at it are no plateau, and one packet more or less must not matter.
    assert plateau_rate(np.concatenate([below, full[:5]]), 0.1) is None
    assert plateau_rate(np.concatenate([below, full, rng.uniform(12e6, 60e6, 40)]), 0.1) is None
    assert plateau_rate(np.concatenate([below, full]) / 100, 0.1) is None
    assert plateau_rate(np.zeros(0), 0.1) is None


@pytest.mark.parametrize(
    ("rate_bps", "buffer_bytes", "side", "load"),
    [
        (10e6, 125_000, "client", 0.9),
        (10e6, 125_000, "server", 0.9),
        (2e6, 75_000, "client", 0.9),
        (50e6, 125_000, "client", 0.9),
        (10e6, 125_000, "client", 1.2),
    ],
)
def test_rate_and_buffer_of_a_full_link_are_found(tmp_path, rate_bps, buffer_bytes, side, load):
    """The tap behind the queue and before it.

    The load of a full window is the rate but for a packet and what a plateau may spread; a first-in first-out queue
    that drops was full, and no packet waits longer than a full one.
    """
    seconds = 60 if rate_bps < 5e6 else 20
    file = simulated(tmp_path / "a.pcap", int(rate_bps), buffer_bytes, load, side, seconds=seconds)
    found = guess_link(file).busier
    assert found.rate_low_bps <= rate_bps <= found.rate_high_bps
    assert found.rate_bps == pytest.approx(rate_bps, rel=BAND)
    assert found.lost > 0
    # A packet at the server and one on the access link wait as well.
    assert found.buffer_bytes <= 1.05 * buffer_bytes + 2 * 1500
    assert found.buffer_bytes >= 0.85 * buffer_bytes


def test_an_idle_link_is_not_guessed(tmp_path):
    file = simulated(tmp_path / "a.pcap", 10_000_000, 125_000, load=0.05, seconds=20)
    guess = guess_link(file)
    assert guess.busier.rate_bps is None
    with pytest.raises(MayflyError, match=r"^no plateau to guess the link from .*; give --rate and --buffer$"):
        guess.required(rate=True, buffer=True)
    ended = mayfly_here("whatif", file, "--out", tmp_path / "out")
    assert ended.status == 2 and "no plateau" in ended.err and len(ended.err.splitlines()) == 1


def test_a_sender_of_a_constant_rate_is_no_full_link(tmp_path):
    rows = [(1 + 0.002 * at, NEAR, FAR, 1000, 53, 1200) for at in range(8000)]
    found = guess_link(write_udp(tmp_path / "a.pcap", rows)).busier
    assert found.rate_bps is None
    assert "nothing waits or is lost there: the senders may hold to it by themselves" in found.why


def test_the_link_of_the_office_is_found():
    """captures/README.md: 20 Mbit/s and 150 kB down, 10 Mbit/s and 75 kB up, counted with 14 bytes of Ethernet."""
    guess = guess_link(OFFICE, internal=["10.10.0.0/24"])
    for found, rate_bps, buffer_bytes in ((guess.down, 20e6, 150e3), (guess.up, 10e6, 75e3)):
        of_ip = rate_bps * 1500 / 1514
        assert found.rate_low_bps <= of_ip <= found.rate_high_bps
        assert found.rate_bps == pytest.approx(of_ip, rel=0.02)
        assert 0.8 * buffer_bytes <= found.buffer_bytes <= buffer_bytes


def test_directions_swap_with_the_side():
    one = guess_link(OFFICE, internal=["10.10.0.0/24"])
    other = guess_link(OFFICE, internal=["203.0.113.0/24", "198.51.100.0/24"])
    assert one.down.rate_bps == other.up.rate_bps and one.up.rate_bps == other.down.rate_bps
    assert one.down.buffer_bytes == other.up.buffer_bytes and one.busier.direction != other.busier.direction


def test_the_standard_input_cannot_be_read_twice():
    with pytest.raises(MayflyError, match="cannot be guessed from the standard input"):
        guess_link("-")


def test_whatif_prints_the_guess_and_its_doubt(tmp_path):
    ended = mayfly_here(
        "whatif", OFFICE, "--internal", "10.10.0.0/24", "--disciplines", "fifo", "--out", tmp_path, "--json"
    )
    document = ended.document
    assert document["guess"]["busier"] == "down"
    assert document["scenario"]["network"]["rate"] == round(document["guess"]["down"]["rate_bps"])
    assert any("Mbit/s guessed" in note for note in document["notes"])
    assert any("a buffer of" in note and "guessed" in note for note in document["notes"])


def test_the_profile_says_when_the_link_is_full_and_by_whom():
    found = profile([OFFICE], internal=["10.10.0.0/24"], bootstrap=0)
    link = found.document()["link"]
    down = link["directions"]["down"]
    near = opener_is_near(found.sides.internal).alias("near")
    volumes = found.connections.volumes.join(found.frame.select("connection_id", near), on="connection_id")
    assert down["bytes"] == volumes.filter((pl.col("side") == "opener") != pl.col("near"))["wire_bytes"].sum()
    assert down["bytes"] + link["directions"]["up"]["bytes"] == found.document()["dataset"]["bytes"]
    assert down["busiest"]["bps"] <= link["guess"]["down"]["rate_high_bps"]
    shares = [row["share"] for row in link["hosts"]]
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1
    trips = link["round_trips"]
    assert trips["least_s"] < trips["median_s"] < trips["p95_s"] and trips["above_p95_s"] < trips["p95_s"]


def test_disciplines_that_keep_a_short_queue_still_show_the_rate(tmp_path):
    file = simulated(tmp_path / "a.pcap", 10_000_000, 125_000, discipline="fq_codel")
    found = guess_link(file).busier
    assert found.rate_bps == pytest.approx(10e6, rel=BAND)
    assert "a discipline that keeps its queue short looks like a short buffer" in found.buffer_why
