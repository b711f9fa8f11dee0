"""Filters of packets compared with tcpdump, and anonymized addresses in all that is written."""

import gzip
import itertools
import json
import random
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from invocation import refused_here
from polars.testing import assert_frame_equal
from tests.helpers.gold import shared
from typer.testing import CliRunner

import mayfly
from mayfly import _native
from mayfly.cli.app import app
from mayfly.errors import MayflyError
from mayfly.workload.capture import flows_of_capture
from mayfly.workload.connections import ReadOptions, read_captures
from mayfly.workload.sieve import checked_filter, key_of, noted, read_through, without_addresses

OFFICE = "captures/office.pcap.gz"
KEY = bytes(range(32))
DECODED = "(ip or ip6)"
"""What is decoded, as tcpdump names it."""

CAPTURES = (
    "tcptrace_urgent.dmp.gz",
    "ndt_speedtest_v6.pcap.gz",
    "smb_scanner.pcap.gz",
    "tcptrace_http.dmp.gz",
)
EXPRESSIONS = 60

needs_tcpdump = pytest.mark.skipif(shutil.which("tcpdump") is None, reason="tcpdump is not installed")


def plain(path: Path, into: Path) -> Path:
    """The capture, not packed."""
    found = into / path.stem
    found.write_bytes(gzip.decompress(path.read_bytes()))
    return found


def counted(path: Path, expression: str) -> int:
    """Packets that tcpdump finds."""
    done = subprocess.run(
        ["tcpdump", "-n", "--count", "-r", str(path), expression], capture_output=True, text=True, check=False
    )
    if "expression rejects all packets" in done.stderr:
        return 0
    assert done.returncode == 0, f"{expression}: {done.stderr}"
    return int(done.stdout.split()[0])


def expressions(frame: pl.DataFrame, chance: random.Random) -> list[str]:
    """Random expressions, mostly about hosts and ports that are there."""
    hosts = sorted({*frame["opener"], *frame["responder"]})
    ports = sorted({*frame["opener_port"].drop_nulls(), *frame["responder_port"].drop_nulls()})

    def test() -> str:
        way = chance.choice(("", "", "src ", "dst "))
        host = chance.choice(hosts)
        port = chance.choice(ports)
        kind = chance.randrange(6)
        if kind == 0:
            return f"{way}host {host}"
        if kind == 1:
            parts = host.split(".")
            net = ".".join(parts[: chance.randint(1, 3)]) if len(parts) == 4 else f"{host}/128"
            return f"{way}net {net}"
        if kind == 2:
            return f"{chance.choice(('', 'tcp ', 'udp '))}{way}port {port}"
        if kind == 3:
            return f"{way}portrange {port}-{min(port + chance.randrange(20_000), 65_535)}"
        if kind == 4:
            return f"{way}port {port} or {chance.choice(ports)}"
        return chance.choice(("tcp", "udp", "icmp", "icmp6", "ip", "ip6"))

    def some(depth: int) -> str:
        if depth == 0 or chance.random() < 0.3:
            return test()
        form = chance.choice(("{} and {}", "{} or {}", "not {}", "({})", "! ({} && {})", "({} || {})"))
        return form.format(some(depth - 1), some(depth - 1))

    return [some(3) for _ in range(EXPRESSIONS)]


@needs_tcpdump
@pytest.mark.parametrize("name", CAPTURES)
def test_a_filter_lets_as_many_packets_through_as_tcpdump(name: str, tmp_path: Path) -> None:
    path = plain(shared(name), tmp_path)
    options = ReadOptions(duplicates="keep")
    everything = read_captures(path, options)
    assert everything.counts["decoded"] == counted(path, DECODED)
    chance = random.Random(name)
    seen = set()
    for expression in expressions(everything.connections, chance):
        with read_through(expression):
            counts = read_captures(path, options).counts
        assert counts["decoded"] == counted(path, f"{DECODED} and ({expression})"), expression
        assert counts["packets"] + counts["filtered"] == everything.counts["packets"]
        seen.add(counts["decoded"])
    # They are neither all true nor all false.
    assert len(seen) > 3


@needs_tcpdump
def test_a_filtered_capture_is_read_as_the_file_that_tcpdump_filtered(tmp_path: Path) -> None:
    path = plain(Path(OFFICE), tmp_path)
    expression = "tcp and not port 443 and net 10.10.0.0/25"
    subprocess.run(
        ["tcpdump", "-r", str(path), "-w", str(tmp_path / "cut.pcap"), expression], capture_output=True, check=True
    )
    options = ReadOptions(max_trains=10**6, max_volumes=10**6)
    with read_through(expression):
        found = read_captures(path, options)
    cut = read_captures(tmp_path / "cut.pcap", options)
    assert found.connections.height > 10
    for table in ("connections", "trains", "volumes"):
        assert_frame_equal(getattr(found, table), getattr(cut, table))
    # The filter is a reason of its own: what tcpdump took out nobody sees.
    [account, whole] = [reading.counts.pop("account") for reading in (found, cut)]
    assert (
        account["used"] == whole["used"]
        and account["seen"]["count"] == found.counts["filtered"] + cut.counts["packets"]
    )
    assert found.counts | {"filtered": 0, "filter": None} == cut.counts | {"filtered": 0, "filter": None}


@needs_tcpdump
def test_a_tag_is_seen_on_the_whole_frame(tmp_path: Path) -> None:
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for place, tags in enumerate(((), (7,), (7, 9), (8,))):
        tagged = b"".join(struct.pack(">HH", 0x8100, tag) for tag in tags)
        packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
        frame = bytes(12) + tagged + b"\x08\x00" + packet + struct.pack(">HHHH", 1000 + place, 53, 8, 0)
        parts.append(struct.pack("<IIII", place, 0, len(frame), len(frame)) + frame)
    path = tmp_path / "tagged.pcap"
    path.write_bytes(b"".join(parts))
    for expression, most in (("vlan", 3), ("vlan 7", 2), ("vlan 9", 1), ("not vlan", 1), ("vlan and port 53", 3)):
        with read_through(expression):
            assert read_captures(path).counts["decoded"] == most, expression
    # tcpdump looks at the outermost tag alone.
    assert counted(path, "vlan") == 3 and counted(path, "vlan 7") == 2


def test_packets_left_out_are_said_and_a_table_has_none(tmp_path: Path) -> None:
    found = mayfly.profile(OFFICE, internal=["10.10.0.0/24"], filter="udp", bootstrap=0)
    assert set(found.frame["protocol"]) == {"udp"}
    said = [line for line in found.sentences() if "the filter" in line]
    assert len(said) == 1 and 'the filter "udp" leaves out ' in said[0] and "of 71,394 packets (94.4 %)" in said[0]
    found.write(tmp_path)
    with pytest.raises(MayflyError, match="filter: acts on packets, of which this file has none: read a capture"):
        mayfly.profile(tmp_path / "connections.parquet", filter="udp")
    with pytest.raises(MayflyError, match="'portal' is none of its words; allowed are"):
        mayfly.whatif(OFFICE, "10mbit", 300, filter="portal 3")


def words_in(folder: Path) -> set[str]:
    """Addresses in the files of a folder, as they stand there, in a column of a table or in its metadata."""
    found = set[str]()
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            for column in pl.read_parquet(path).iter_columns():
                if column.dtype in (pl.String, pl.Categorical):
                    found |= {str(value) for value in column.unique().drop_nulls()}
            # Metadata are not packed.
            found.add(path.read_bytes().decode("latin-1"))
        elif path.is_file():
            found.add(path.read_text(encoding="utf-8", errors="replace"))
    return found


@pytest.fixture(scope="module")
def addresses() -> set[str]:
    """All addresses of the office."""
    frame = read_captures(OFFICE).connections
    return {*frame["opener"], *frame["responder"]}


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file with a key."""
    path = tmp_path / "key"
    path.write_bytes(KEY)
    return path


FILTER = "net 10.10.0.0/24 and not host 203.0.113.10 and not (host 198.51.100.77 or 198.51.100.78)"
SHOWN = "net … and not host … and not (host … or …)"
NAMED = ("10.10.0.0", "203.0.113.10", "198.51.100.77", "198.51.100.78")
"""Addresses and networks of the filter."""


def run(*arguments: Any) -> str:
    """What a command prints."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_no_address_survives_in_a_profile(addresses: set[str], key: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    roles = tmp_path / "roles.csv"
    roles.write_text("host,role\n10.10.0.11,server\n")
    common = ["--internal", "10.10.0.0/24", "--laws", "--hosts", roles, "--trains", "--filter", FILTER]
    common += ["--anonymize-key", key]
    printed = run("profile", OFFICE, *common, "--bootstrap", "0", "--out", out)
    written = "\n".join([printed, *words_in(out)])
    assert not [address for address in (*addresses, *NAMED) if address in written]
    assert f'the filter "{SHOWN}" leaves out ' in " ".join(printed.split())
    assert "anonymized (Crypto-PAn) under the given key" in " ".join(printed.split())
    as_real = mayfly.profile(OFFICE, internal="10.10.0.0/24", hosts=roles, bootstrap=0, filter=FILTER).document()
    found = json.loads((out / "profile.json").read_text())
    assert as_real["counts"]["filtered"] == found["counts"]["filtered"] > 0
    assert (as_real["counts"]["filter"], found["counts"]["filter"]) == (FILTER, SHOWN)
    for subject in ("dataset", "composition", "rtt_s", "retransmission", "load"):
        assert found[subject] == json.loads(json.dumps(as_real[subject])), subject
    assert found["site"]["server"] == as_real["site"]["server"] == 1


def test_no_address_survives_in_an_answer_which_stays(addresses: set[str], tmp_path: Path) -> None:
    arguments = ["whatif", OFFICE, "--rate", "10mbit", "--buffer", "300", "--disciplines", "fifo,las", "-n", "1"]
    near = ["--internal", "10.10.0.0/24", "--filter", FILTER]
    run(*arguments, *near, "--out", tmp_path / "real")
    printed = run(*arguments, *near, "--out", tmp_path / "out", "--anonymize")
    written = "\n".join([printed, *words_in(tmp_path / "out")])
    assert not [address for address in (*addresses, *NAMED) if address in written]
    assert "under a key of this run alone" in " ".join(printed.split())
    real, found = (json.loads((tmp_path / name / "summary.json").read_text()) for name in ("real", "out"))
    assert any(SHOWN in note for note in found["notes"]) and any(FILTER in note for note in real["notes"])
    assert found["answer"] == real["answer"]
    for one, other in itertools.zip_longest(found["disciplines"], real["disciplines"]):
        assert one["users"]["short"] == other["users"]["short"]


def test_a_key_is_32_bytes_or_as_many_in_hexadecimal_digits(tmp_path: Path) -> None:
    path = tmp_path / "key"
    for held in (KEY, KEY + b"\n", KEY.hex().encode(), b"0x" + KEY.hex().upper().encode() + b"\n"):
        path.write_bytes(held)
        assert key_of(path) == KEY
    for held in (b"", KEY[:31], KEY + b"xx", b"g" * 64):
        path.write_bytes(held)
        with pytest.raises(MayflyError, match="must hold 32 bytes, or 64 hexadecimal digits"):
            key_of(path)


@pytest.mark.parametrize(
    "given", [b"", "", bytearray(), [], (), 0, 1, 32, 0.0, "x" * 32, b"abc", bytes(33), memoryview(KEY)]
)
def test_what_is_no_key_is_refused_and_leaves_no_address_as_it_is(given: Any) -> None:
    kind = type(given).__name__
    line = rf"^anonymize: {kind}( of length \d+)?: must be True, False, None or a key, bytes or bytearray of 32$"
    for call in (
        lambda: mayfly.profile(OFFICE, bootstrap=0, anonymize=given),
        lambda: mayfly.whatif(OFFICE, "10mbit", 300, anonymize=given),
    ):
        with pytest.raises(MayflyError, match=line):
            call()


def test_a_block_within_a_block_has_its_key_and_filter() -> None:
    with read_through(anonymize=bytearray(KEY)) as around, read_through("tcp", anonymize=False) as within:
        assert within.key == around.key == KEY
    with read_through("udp"), read_through(anonymize=KEY) as within:
        assert (within.filter, within.key) == ("udp", KEY)
    for absent in (None, False):
        with read_through("tcp", anonymize=absent) as alone:
            assert alone.key is None
    with read_through(anonymize=True) as drawn:
        assert drawn.key is not None and len(drawn.key) == 32


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (5, "5 (int)"),
        (b"tcp", "b'tcp' (bytes)"),
        (["tcp"], "['tcp'] (list)"),
        ("tcp\udcff", "'tcp\\udcff' (str)"),
    ],
)
def test_a_filter_that_is_no_text_is_refused_in_one_line(given: Any, shown: str) -> None:
    line = f"filter = {shown}: must be text of UTF-8, such as 'tcp port 443'"
    for call in (
        lambda: mayfly.profile(OFFICE, bootstrap=0, filter=given),
        lambda: mayfly.whatif(OFFICE, "10mbit", 300, filter=given),
        lambda: flows_of_capture(OFFICE, filter=given),
    ):
        with pytest.raises(MayflyError) as refused:
            call()
        assert str(refused.value) == line


def test_a_refused_filter_is_escaped_once() -> None:
    line = refused_here("profile", OFFICE, "--filter", "tcp or \x1b[2J\"'")
    assert line.startswith(r"""filter = 'tcp or \x1b[2J"'': '\x1b[2J"'' is none of its words; allowed are [src|dst]""")
    line = refused_here("profile", OFFICE, "--filter", "tcp\udcff")
    assert line == "filter = 'tcp\\udcff' (str): must be text of UTF-8, such as 'tcp port 443'"
    # What refuses an expression may be in it.
    with pytest.raises(MayflyError, match=r"^filter = 'x': 5': 'x':' is none of its words; allowed are \[src"):
        mayfly.profile(OFFICE, filter="x': 5")


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("10.0.0.1", "…"),
        ("net 10 or 11 or port 80 or 443", "net … or … or port 80 or 443"),
        ("port 80 or src 10.0.0.5 or 10.0.0.6", "port 80 or src … or …"),
        ("net 10 and vlan 7 or 11", "net … and vlan 7 or …"),
        ("net 10 and vlan and 11", "net … and vlan and …"),
        ("net 10 && vlan || 11 && !(vlan) || 12", "net … && vlan || … && !(vlan) || …"),
        ("!udp&&!(icmp||dst net 2001:db8::/32)", "!udp&&!(icmp||dst net …)"),
        ("tcp portrange 400-450 and\n(host fe80::1)", "tcp portrange 400-450 and\n(host …)"),
    ],
)
def test_a_filter_is_shown_without_addresses_where_these_are_anonymized(expression: str, shown: str) -> None:
    assert checked_filter(expression) == expression
    assert without_addresses(expression) == shown
    with read_through(expression, KEY):
        assert noted({})["filter"] == shown
    with read_through(expression):
        assert noted({})["filter"] == expression


@pytest.mark.parametrize(
    "command", [["profile"], ["profile", "--trains"], ["whatif", "--rate", "10mbit", "--buffer", "300"]]
)
def test_a_network_without_a_host_is_named_as_it_was_given(command: list[str], key: Path) -> None:
    near = ["--internal", "9.9.9.0/24", "--internal", "2001:db8::/32", "--anonymize-key", str(key)]
    line = refused_here(command[0], OFFICE, *command[1:], *near)
    seen = ", ".join(_native.anonymized(KEY, ["10.10.0.0/24", "203.0.113.0/24", "198.51.100.0/24"]))
    given = "internal = 9.9.9.0/24, 2001:db8::/32: no host is in it"
    assert line == f"{given}; seen, with other addresses than in the capture, are {seen}"
    assert refused_here(command[0], OFFICE, *command[1:], *near[:4]).startswith(f"{given}; seen are 10.10.0.0/24, ")


@pytest.mark.parametrize(
    ("command", "nothing"),
    [
        (["profile", OFFICE], "no connection to profile"),
        (["profile", OFFICE, "--trains"], "no connection to profile"),
        (["whatif", OFFICE, "--rate", "10mbit", "--buffer", "300"], "no TCP connection with payload and no UDP flow"),
        (["whatif", OFFICE], "no connection in it to guess the link from"),
        (["workload", "convert", OFFICE, "flows.csv"], "no flow in it"),
        (["workload", "from", OFFICE], "no connection to profile"),
    ],
)
def test_a_filter_that_nothing_passes_is_named(command: list[str], nothing: str) -> None:
    line = refused_here(*command, "--filter", "host 192.0.2.99")
    assert nothing in line
    assert line.endswith(': the filter "host 192.0.2.99" leaves out all 71,394 packets')
