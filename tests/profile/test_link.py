"""The guess of a link: on loads made by hand, on runs of the simulator whose link is known, and on a real one."""

import struct
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
    with pytest.raises(MayflyError, match=r"^no plateau to guess the link from .*; give rate and buffer$"):
        guess.required(rate=True, buffer=True)
    ended = mayfly_here("whatif", file, "--out", tmp_path / "out")
    assert ended.status == 2 and "no plateau" in ended.err and len(ended.err.splitlines()) == 1
    assert ended.err.rstrip().endswith("; give --rate and --buffer")


def test_a_sender_of_datagrams_at_a_constant_rate_is_perhaps_a_full_link(tmp_path):
    rows = [(1 + 0.002 * at, NEAR, FAR, 1000, 53, 1200) for at in range(8000)]
    found = guess_link(write_udp(tmp_path / "a.pcap", rows)).busier
    assert found.rate_bps is None
    assert found.perhaps_bps == pytest.approx(8 * 1228 / 0.002, rel=0.01) and found.perhaps_full_s > 15
    assert "as that of a full link or of senders that hold to it, and nothing tells whether" in found.why


def test_a_sender_of_a_constant_rate_whose_packets_do_not_wait_is_no_full_link(tmp_path):
    """The same by TCP: each packet is acknowledged 10 ms later."""
    near, far = (bytes(map(int, host.split("."))) for host in (NEAR, FAR))

    def frame(inside, seq, ack, flags, payload):
        ends, ports = (near + far, (1000, 80)) if inside else (far + near, (80, 1000))
        tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 65535, 0, 0) + bytes(payload)
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), seq % 60_000 + 2, 0, 64, 6, 0) + ends + tcp
        return bytes(12) + b"\x08\x00" + ip

    rows = [
        (0.0, frame(True, 99, 0, 2, 0)),
        (0.01, frame(False, 499, 100, 18, 0)),
        (0.02, frame(True, 100, 500, 16, 0)),
    ]
    for at in range(8000):
        rows.append((1 + 0.002 * at, frame(True, 100 + 1200 * at, 500, 16, 1200)))
        rows.append((1.01 + 0.002 * at, frame(False, 500, 1300 + 1200 * at, 16, 0)))
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for time_s, data in sorted(rows):
        parts.append(struct.pack("<IIII", *divmod(round(time_s * 1e6), 10**6), len(data), len(data)) + data)
    path = tmp_path / "a.pcap"
    path.write_bytes(b"".join(parts))
    found = guess_link(path).busier
    assert (found.rate_bps, found.perhaps_full_s) == (None, 0.0)
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


def test_no_second_is_busiest_whose_load_is_below_the_mean(tmp_path):
    # 2.2 s: the last fifth of a second carries most. It said "mean 225 kbit/s" below "busiest second 165 kbit/s".
    steady = [(0.1 * count, FAR, NEAR, 9, 9, 1000) for count in range(21)]
    burst = [(2.1 + 0.001 * count, FAR, NEAR, 9, 9, 1000) for count in range(100)]
    down = profile([write_udp(tmp_path / "a.pcap", steady + burst)], bootstrap=0).document()["link"]["directions"][
        "down"
    ]
    assert down["busiest"] is None and down["mean_bps"] > 400e3
    longer = [*steady, *burst, (3.5, FAR, NEAR, 9, 9, 1000)]
    down = profile([write_udp(tmp_path / "b.pcap", longer)], bootstrap=0).document()["link"]["directions"]["down"]
    assert down["busiest"]["bps"] > down["mean_bps"]


def test_top_hosts_are_hosts_that_carry_something(tmp_path):
    office = [(0.01 * count, FAR, NEAR, 9, 9, 1000) for count in range(1000)]
    nobody = [(1.0 + at, "0.0.0.0", "255.255.255.255", 68, 67, 300) for at in range(5)]
    nobody += [(2.0 + at, "169.254.7.7", NEAR, 5, 5, 1000) for at in range(3)]
    hardly = [(5.5, "10.0.0.9", FAR, 9, 9, 100)]
    captured = write_udp(tmp_path / "a.pcap", sorted(office + nobody + hardly))
    hosts = profile([captured], bootstrap=0).document()["link"]["hosts"]
    assert [row["host"] for row in hosts] == [NEAR]
