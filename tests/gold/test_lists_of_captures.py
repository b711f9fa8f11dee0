"""The list of flows that a capture is replayed with is the one stored in ``tests/data/gold``, to the nanosecond."""

from pathlib import Path

import pytest
from gold import at_once, check, digest, facts, shared
from packets import FAR, NEAR, write_udp
from replayed_lists import ARCHIVES, RATES_BPS, disturbed, in_archive, of_command, of_rust, write_call

from mayfly.errors import MayflyError

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures/office.pcap.gz"
TINY = ROOT / "tests/data/tiny.pcapng.gz"
SITE = ["10.10.0.0/24"]
PATH_NAME = "CAPTURE"
"""Stands in refusals for where the capture is."""

SHARED = [
    "access_app_mix.pcap.gz",
    "access_home_alexa.pcap.gz",
    "echo_connections.pcap.gz",
    "enterprise_ad_lab.pcap.gz",
    "ndt_speedtest_v4.pcap.gz",
    "ndt_speedtest_v6.pcap.gz",
    "oddities/bigtcp-ipv4.pcap",
    "oddities/bigtcp-ipv6-hbh.pcap",
    "oddities/bigtcp-ipv6-vxlan-ipv4.pcap",
    "oddities/ip-in-mpls.pcap.gz",
    "oddities/tcptrace_segv_198pkts.pcap",
    "oddities/vlan.pcap",
    "oddities/wpa-Induction.pcap.gz",
    "smb_scanner.pcap.gz",
    "tcptrace_dsack.dmp.gz",
    "tcptrace_http.dmp.gz",
    "tcptrace_urgent.dmp.gz",
    "tcptrace_zwnd.dmp.gz",
]
"""Captures beside the checkout."""


KEYS = [
    "span_s",
    "rtt_s",
    "duration_ns",
    "offered_bytes",
    "calls",
    "call_trace_limit",
    "connection",
    "client",
    "back_bytes",
    "longest_wait_ns",
    "flows",
    "probes",
    "probed",
    "alone",
    "doubts",
    "missing",
]


def stored(link):
    """What is stored of a list: facts of its columns, and a digest of the list with its probes."""
    return facts({name: at_once(link[name]) if name in ("probed", "alone") else link[name] for name in KEYS})


def by_rust(name, path, content=None, internal=None, rates=RATES_BPS, rtts=(None,)):
    """Compares the list of the compiled module over each link, or its refusal; whether there is a list."""
    content = path.read_bytes() if content is None else content
    links = [(rate, rtt) for rate in rates for rtt in rtts]
    try:
        found = {
            f"{down}/{up}" + ("" if rtt is None else f", rtt {rtt}"): stored(link)
            for ((down, up), rtt), link in zip(links, of_rust(PATH_NAME, content, links, internal), strict=True)
        }
    except ValueError as refused:
        found = {"refused": str(refused)}
    inside = "" if internal is None else f", internal {' '.join(internal)}"
    check("lists", name + inside, {"capture": digest(content)} | found)
    return "refused" not in found


def by_command(name, path, **how):
    """Compares the list on the way of the commands."""
    case = ", ".join([name, *(f"{key} {value}" for key, value in how.items() if key != "internal")])
    try:
        found = stored(of_command(path, **how))
    except MayflyError as refused:
        found = {"refused": str(refused).replace(str(path), PATH_NAME)}
    check("forms", case, {"capture": digest(path.read_bytes())} | found)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_captures_give_their_lists(name):
    by_rust(name, shared(name))


@pytest.mark.slow
@pytest.mark.parametrize("internal", [["10.0.0.0/8", "2001::/16"], ["0.0.0.0/1", "::/2"]], ids=lambda one: one[0])
@pytest.mark.parametrize("name", [*SHARED, "office", "tiny"])
def test_named_networks_and_times_give_their_lists(name, internal):
    path = {"office": OFFICE, "tiny": TINY}.get(name) or shared(name)
    by_rust(name, path, internal=internal, rates=((3_000_000, 400_000),), rtts=(0.03,))


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES)
def test_strange_captures_give_a_list_or_a_refusal(archive):
    """Of each list all facts in one digest: there are hundreds."""
    found = {"lists": 0, "refusals": 0}
    for name, content in in_archive(shared(archive)):
        try:
            (link,) = of_rust(PATH_NAME, content, [(RATES_BPS[2], None)])
            found[name] = at_once(stored(link))
            found["lists"] += 1
        except ValueError as refused:
            found[name] = f"refused {digest(str(refused).encode())}"
            found["refusals"] += 1
    check("archives", archive, found)


@pytest.mark.parametrize("number", range(8))
def test_a_capture_with_holes_and_another_clock_gives_its_list(number):
    rates = (10 ** (5 + number // 2), 10 ** (7 - number // 2))
    assert by_rust(f"office, disturbed {number}", OFFICE, disturbed(OFFICE, number), rates=(rates,))


def test_a_small_capture_gives_its_list():
    by_rust("tiny", TINY, rtts=(None, 0.03))


def test_the_office_gives_its_list():
    assert by_rust("office", OFFICE, internal=SITE, rtts=(None, 0.05))


def test_a_call_gives_its_list(tmp_path):
    assert by_rust("call", write_call(tmp_path / "call.pcap"))


@pytest.mark.parametrize("internal", [["10.99.0.0/24"], ["10.10.0.1/24"], ["10.10.0.0/33"], []])
def test_networks_that_cannot_be_are_refused(internal):
    assert not by_rust("office", OFFICE, internal=internal, rates=RATES_BPS[1:2])


@pytest.mark.parametrize("apart_s", [4e7, 7e7, 2e9])
def test_years_between_packets_are_refused(tmp_path, apart_s):
    path = write_udp(tmp_path / "years.pcap", [(0.0, NEAR, FAR, 1, 2, 9), (apart_s, NEAR, FAR, 3, 4, 9)])
    assert not by_rust(f"years {apart_s}", path)


FORMS = ("users", "trains", "packets", "transfers")
LONG = [
    "access_home_alexa.pcap.gz",
    "enterprise_ad_lab.pcap.gz",
    "ndt_speedtest_v6.pcap.gz",
    "oddities/bigtcp-ipv6-vxlan-ipv4.pcap",
    "tcptrace_http.dmp.gz",
]


@pytest.mark.parametrize("replay", FORMS)
def test_every_form_of_the_office_gives_its_list(replay):
    # More than it carried: the queue is not looked for, which takes a while.
    by_command("office", OFFICE, internal=SITE, rates=RATES_BPS[1], replay=replay)


@pytest.mark.slow
@pytest.mark.parametrize("replay", FORMS)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"load": 0.8},
        {"load": 1.6},
        {"rtt": "40ms"},
        {"load": 0.8, "rtt": 0.2},
        {"hour": 1},
        {"hour": 2, "rtt": 0.04},
    ],
    ids=str,
)
def test_loads_times_and_hours_of_the_office_give_their_lists(replay, how):
    by_command("office", OFFICE, internal=SITE, rates=RATES_BPS[0], replay=replay, **how)


@pytest.mark.parametrize("replay", FORMS)
@pytest.mark.parametrize("how", [{}, {"load": 0.5}, {"rtt": 0.03}], ids=str)
def test_every_form_of_small_captures_gives_its_list(tmp_path, replay, how):
    by_command("tiny", TINY, replay=replay, **how)
    by_command("call", write_call(tmp_path / "call.pcap"), replay=replay, **how)


@pytest.mark.slow
@pytest.mark.parametrize("replay", FORMS)
@pytest.mark.parametrize("name", LONG)
def test_every_form_of_captures_gives_its_list(name, replay):
    by_command(name, shared(name), rates=RATES_BPS[2], replay=replay)
    by_command(name, shared(name), rates=RATES_BPS[2], replay=replay, load=0.8)
