"""Hostile input: one line that names the value, exit status 2, nothing left behind."""

import gzip
import os
import resource
from pathlib import Path

import polars as pl
import pytest
from invocation import heed_interrupts, mayfly
from invocation import refused as refused_by_a_process
from invocation import refused_here as refused

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests" / "data" / "tiny.pcapng.gz"
TAIL = ["--json"]


@pytest.fixture
def out(tmp_path):
    """A folder that must not come to be."""
    folder = tmp_path / "out"
    yield folder
    assert not folder.exists()


FLOW_LISTS = {
    "NaN size": ("start_s,size_bytes\n0,NaN\n", "size_bytes = NaN: must be a whole number from 1"),
    "negative time": ("start_s,size_bytes\n-1,100\n", "start_s = -1"),
    "NaN time": ("start_s,size_bytes\nnan,100\n", "start_s = "),
    "infinite time": ("start_s,size_bytes\ninf,100\n", "start_s = "),
    "zero size": ("start_s,size_bytes\n0,0\n", "size_bytes = 0"),
    "huge size": ("start_s,size_bytes\n0,99999999999999999999\n", "size_bytes = 99999999999999999999"),
    "unknown column": ("start_s,size_bytes,colour\n0,1,red\n", "column colour is unknown"),
    "misspelt column": ("start,size_bytes\n0,1\n", "did you mean start_s?"),
    "header only": ("start_s,size_bytes\n", "no flows after the header"),
    "empty": ("", "the file is empty"),
    "duplicate ids": ("flow_id,start_s,size_bytes\n1,0,1\n1,1,1\n", "flow_id = 1: must be unique"),
    "words": ("start_s,size_bytes\nsoon,some\n", "start_s = soon"),
    "ragged": ("start_s,size_bytes\n0,1,2,3\n", ""),
    "bad direction": ("start_s,size_bytes,direction\n0,1,sideways\n", "direction = sideways"),
    "udp without rate": ("start_s,size_bytes,protocol\n0,1,udp\n", "rate_bps"),
    "after the end": ("start_s,size_bytes\n5000,1\n", "no flow starts before the end of the run at 1000 s"),
    "escape codes": ("start_s,size_bytes\n\x1b[2J,1\n", "start_s"),
}


@pytest.mark.parametrize("name", FLOW_LISTS)
def test_flow_lists(name, tmp_path, out):
    content, said = FLOW_LISTS[name]
    path = tmp_path / "flows.csv"
    path.write_text(content)
    assert said in refused("simulate", "wired", "--discipline", "fifo", "--flows", path, "--out", out, *TAIL)


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "binary", "truncated gzip", "truncated parquet", "unreadable name"]
)
def test_flow_list_files(kind, tmp_path, out):
    path = tmp_path / "flows.csv.gz"
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(bytes(range(256)) * 20)
    elif kind == "truncated gzip":
        path.write_bytes(gzip.compress(b"start_s,size_bytes\n" + b"0,1\n" * 5000)[:60])
    elif kind == "truncated parquet":
        pl.DataFrame({"start_s": [0.0], "size_bytes": [1]}).write_parquet(path)
        path.write_bytes(path.read_bytes()[:-20])
    elif kind == "unreadable name":
        path = tmp_path / ("x" * 5000)
    assert "flows.csv" in refused("compare", "--flows", path, "--out", out, *TAIL) or kind == "unreadable name"


@pytest.mark.parametrize(
    "kind", ["missing", "empty", "folder", "text", "header only", "truncated", "empty gzip", "binary"]
)
def test_captures(kind, tmp_path, out):
    path = tmp_path / "office.pcap"
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("this is no capture\n" * 100)
    elif kind == "header only":
        path.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    elif kind == "truncated":
        path.write_bytes(gzip.decompress(CAPTURE.read_bytes())[:30])
    elif kind == "empty gzip":
        path.write_bytes(gzip.compress(b""))
    elif kind == "binary":
        path.write_bytes(bytes(range(256)) * 50)
    assert "office.pcap" in refused("whatif", path, "--rate", "1mbit", "--buffer", "20", "--out", out, *TAIL)


def test_a_capture_cut_off_in_a_packet_is_used_up_to_there(tmp_path):
    path = tmp_path / "cut.pcapng"
    whole = gzip.decompress(CAPTURE.read_bytes())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    arguments = ["--rate", "1mbit", "--buffer", "20", "-d", "fifo", "--out", tmp_path / "out", "--json"]
    ended = mayfly("whatif", path, *arguments)
    assert ended.status == 0, ended.err
    assert (
        0 < ended.document["workload"]["flows"] <= mayfly("whatif", CAPTURE, *arguments).document["workload"]["flows"]
    )


@pytest.mark.parametrize("rate", ["0", "-1", "abc", "1bit", "", "nan", "1e999", "500gbit", "10mips"])
def test_rates(rate, out):
    line = refused("whatif", CAPTURE, "--rate", rate, "--buffer", "20", "--out", out, *TAIL)
    assert line == f"--rate = '{rate}': must be a rate from 1kbit to 400gbit, such as 10mbit"


@pytest.mark.parametrize("buffer", ["0", "-5", "1.5", "1000000000", "", "abc", "0.5B", "nan", "9TB"])
def test_buffers(buffer, out):
    line = refused("whatif", CAPTURE, "--rate", "1mbit", "--buffer", buffer, "--out", out, *TAIL)
    assert line.startswith(f"--buffer = '{buffer}': must be a whole number of packets from 1 to 10000000")


def test_rate_and_buffer_of_both_directions(out):
    two = "must be one value, or two for down and up such as 300/50"
    size = "must be a whole number of packets from 1 to 10000000, or bytes such as 450kB, or a time such as 20ms"
    for rate, buffer, said in (
        ("1mbit/2mbit/3mbit", "20", f"--rate = '1mbit/2mbit/3mbit': {two}"),
        ("1mbit/0", "20", "--rate = '0': must be a rate from 1kbit to 400gbit, such as 10mbit"),
        ("10MB/s", "20", "--rate = '10MB/s': must be in bits, and B stands for bytes: write 80mbit"),
        ("1mbit", "20/x", f"--buffer = 'x': {size}"),
    ):
        assert refused("whatif", CAPTURE, "--rate", rate, "--buffer", buffer, "--out", out, *TAIL) == said
    line = refused("whatif", CAPTURE, "--rate", "1mbit", "--out", out, *TAIL)
    assert line.startswith("no plateau to guess the link from") and line.endswith("give --buffer")


@pytest.mark.parametrize("load", ["0", "NaN", "-1", "inf", "abc", "11", ""])
def test_loads(load, out):
    line = refused("whatif", CAPTURE, "--rate", "1mbit", "--buffer", "20", "--load", load, "--out", out, *TAIL)
    assert line == f"--load = '{load}': must be a share of the rate from 0.01 to 10, such as 0.8"


@pytest.mark.parametrize("cidr", ["abc", "10.0.0.0/33", "300.1.1.1", "", "10.0.0.0/8/8", "fe80::/200"])
def test_networks(cidr, out):
    line = refused("whatif", CAPTURE, "--rate", "1mbit", "--buffer", "20", "--internal", cidr, "--out", out, *TAIL)
    assert cidr in line and "network" in line.lower()


@pytest.mark.parametrize(
    "text", ["efdd", "efd(", "efd(threshold=0)", "efd(thresh=1)", "", ",", "fifo fifo", "efd(threshold=1e400)", "\x07"]
)
def test_disciplines(text, out):
    refused("compare", "-d", text, "--out", out, *TAIL)
    refused("simulate", "wired", "--discipline", text, "--out", out, *TAIL)


def test_a_process_of_its_own_says_the_same(out):
    arguments = ["compare", "-d", "efdd", "--out", out]
    assert refused_by_a_process(*arguments, *TAIL) == refused_by_a_process(*arguments) == refused(*arguments, *TAIL)


def test_simulate_takes_one_discipline(out):
    assert "must be one" in refused("simulate", "wired", "--discipline", "fifo,efd", "--out", out, *TAIL)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--duration", "0", "must be at least 1ns"),
        ("--duration", "-3s", "0 or more"),
        ("--duration", "nan", "0 or more"),
        ("--duration", "forever", "such as 0.2s"),
        ("--seed", "-1", "greater than or equal to 0"),
        ("--seed", str(2**70), "less than or equal to 9223372036854775807"),
        ("--seed", "abc", "'abc'"),
        ("--seed", "1.5", "1.5"),
        ("--replications", "0", "greater than or equal to 1"),
        ("--replications", "two", "'two'"),
        ("--replications", "1000000000", "less than or equal to 100000"),
        ("--set", "network.bufer=20", "did you mean network.buffer?"),
        ("--set", "network.buffer", "must be written name=value"),
        ("--set", "=3", "must be written name=value"),
        ("--set", "network.buffer=-5", "must be a whole number of packets"),
        ("--set", "workload.load=400gbit", "arrivals"),
        ("--set", "workload.mean=nan", "finite"),
        ("--set", "workload.mean=3", "mean = 3.0: must be above minimum = 6.0"),
        ("--set", "sample_interval=1ns", "sample_interval"),
        ("--set", "duration=5", "given twice"),
        ("--trace-flow", "nobody", "must be the flow_id of a flow, or a group"),
    ],
)
def test_options(option, value, said, out):
    arguments = ["--duration", "3s"] if value == "duration=5" else []
    assert said in refused("compare", "wired", option, value, *arguments, "--out", out, *TAIL)


def test_a_trace_is_asked_for_in_one_way(out):
    said = refused("compare", "wired", "--set", "trace=[3]", "--trace-flow", "4", "--out", out, *TAIL)
    assert "trace is given twice: by --trace-flow and by --set" in said


@pytest.mark.parametrize("content", [b"\x00\xff\x80" * 99, b"duration =", b"[network]\nbufer = 3\n", b"network = 3\n"])
def test_scenario_files(content, tmp_path, out):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    assert "mine.toml" in refused("compare", path, "--out", out, *TAIL)


def test_a_scenario_that_is_not_there_or_a_folder(tmp_path, out):
    assert "ready scenarios are" in refused("compare", "nothing", "--out", out, *TAIL)
    assert "Is a directory" in refused("compare", tmp_path, "--out", out, *TAIL)


def test_values_cannot_move_the_cursor(out):
    assert "\\x1b" in refused("compare", "\x1b[2J\x1b[31m", "--out", out)


@pytest.mark.parametrize("below", ["", "/deeper", "/deeper/still"])
def test_an_output_folder_that_is_a_file_is_told_before_the_work(below, tmp_path):
    path = tmp_path / "taken"
    path.write_text("mine")
    # A run of two years of simulated time would not end in the time the test has.
    line = refused("compare", "wired", "--duration", "17000h", "--out", f"{path}{below}", *TAIL)
    assert line == f"{path}{below}: cannot be written: {path} is not a folder"
    assert path.read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_is_refused_before_any_file_is_replaced(tmp_path):
    (tmp_path / "summary.json").mkdir()
    line = refused("simulate", "wired", "--discipline", "fifo", "--duration", "2s", "--out", tmp_path, *TAIL)
    assert line == f"{tmp_path}: cannot be written: summary.json is a folder"
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_folder_without_the_right_to_write_is_told_before_the_work(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    assert "no right to write" in refused("compare", "--duration", "17000h", "--out", folder / "out", *TAIL)


@pytest.mark.parametrize("limit", [0, 3000, 100_000])
def test_a_disk_that_fills_up_leaves_nothing(limit, tmp_path):
    def small_disk():
        heed_interrupts()
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    folder = tmp_path / "deep" / "out"
    line = refused_by_a_process(
        "compare", "-d", "fifo,las", "--duration", "200s", "--out", folder, "--json", preexec=small_disk
    )
    assert line.startswith(f"{folder}: cannot be written: ") and "too large" in line
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_leaves_earlier_results_alone(tmp_path):
    arguments = ["simulate", "wired", "--discipline", "fifo", "--out", tmp_path, "--json"]
    assert mayfly(*arguments, "--duration", "5s").status == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def small_disk():
        heed_interrupts()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    refused_by_a_process(*arguments, "--duration", "6s", preexec=small_disk)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_long_flow_list_is_read_within_memory(tmp_path):
    rows = 100_000
    flows = pl.DataFrame(
        {"start_s": pl.int_range(rows, eager=True) * 0.001, "size_packets": pl.repeat(1, rows, eager=True)}
    )
    flows.write_csv(tmp_path / "flows.csv")
    arguments = ["simulate", "wired", "--discipline", "fifo", "--flows", tmp_path / "flows.csv", "--json"]
    rate = ["--set", "network.rate=1gbit", "--set", "network.access_rate=10gbit"]
    few = mayfly(*arguments, *rate, "--out", tmp_path / "few", "--duration", "1s")
    assert few.document["workload"]["flows"] == 1000
    every = mayfly(*arguments, *rate, "--out", tmp_path / "all", "--duration", "101s")
    assert every.document["flows_completed"] == rows
    assert pl.read_parquet(tmp_path / "all" / "flows.parquet").height == rows


@pytest.mark.parametrize("buffer", ["1kB", "1500b", "1"])
def test_a_buffer_that_the_packet_in_transmission_fills(buffer, out):
    """Before: 1 kB less a packet was a negative limit, and a TypeError."""
    said = refused(
        "simulate",
        "wired",
        "--set",
        f"network.buffer={buffer}",
        "--set",
        "network.buffer_counts_transmission=true",
        "--out",
        out,
        "--discipline",
        "fifo",
        *TAIL,
    )
    assert "when it counts the packet in transmission" in said and "network.buffer" in said


def test_a_buffer_of_a_link_too(tmp_path, out):
    (tmp_path / "a.toml").write_text("""
duration = "1s"
[network]
topology = "graph"
buffer = 100
buffer_counts_transmission = true
link = [{ from = "a", to = "b", rate = "10mbit", buffer = "1kB" }]
hosts = [{ at = "a", name = "x", count = 1 }, { at = "b", name = "y", count = 1 }]
""")
    said = refused("simulate", tmp_path / "a.toml", "--discipline", "fifo", "--out", out, *TAIL)
    assert "when it counts the packet in transmission" in said


def test_a_file_that_is_no_flow_list_is_not_shown(tmp_path, out):
    """Before: `flows = "/etc/shadow"` in the sweep file of a stranger printed the first line of it."""
    secret = tmp_path / "secret"
    secret.write_text("root:$6$salt$hash:19000:0:99999:7:::\nnobody:*:1:0:1:7:::\n")
    (tmp_path / "sweep.toml").write_text(f'scenario = "wired"\nflows = "{secret}"\ndisciplines = "fifo"\n')
    ended = mayfly("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "results", "--workers", 1)
    assert ended.status == 3 and "not a flow list" in ended.out and "salt" not in ended.out + ended.err
    assert "not a flow list" in refused("compare", "--flows", secret, "--out", out, *TAIL)
