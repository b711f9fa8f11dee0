"""The memory of a command is bounded: one line, status 2, and nothing half-written."""

import contextlib
import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from invocation import COMMAND, PLAIN, mayfly, mayfly_here, refused, refused_here

from mayfly.cli import budget
from mayfly.errors import MayflyError
from mayfly.limits import READING, machine_bytes
from mayfly.text.files import UNFINISHED, complete, remove_unfinished
from mayfly.text.folder import filled

SMALL = ("--memory", "400mb")
ROWS = 30_000_000


def test_a_flow_list_that_unpacks_to_gigabytes(tmp_path):
    """Before: 1.5 MB of gzip took more than 10 GB."""
    path, out = tmp_path / "flows.csv.gz", tmp_path / "out"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"start_s,size_bytes\n")
        for _ in range(ROWS // 100_000):
            stream.write(b"0,1\n" * 100_000)
    said = refused(*SMALL, "compare", "--flows", path, "--out", out, "--json")
    assert "stopped at 0.4 GB" in said and "--memory 1gb" in said
    assert not out.exists()


def test_a_parquet_file_that_unpacks_to_gigabytes(tmp_path):
    path = tmp_path / "flows.parquet"
    pl.DataFrame({"start_s": np.zeros(ROWS), "size_bytes": np.ones(ROWS, dtype=np.int64)}).write_parquet(path)
    assert "stopped at" in refused(*SMALL, "compare", "--flows", path, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
WEB = """
network.rate = "1gbit"
workload.load = "1kbit"
workload.web = [{sessions = 10000, session_gap = "1us", pages = 40, objects = 10}]
"""


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (("simulate", "web.toml", "--discipline", "fifo"), "web: objects: 4 M flows take 0.6 GB or more"),
        (("workload", "draw", "office.toml", "--load", "400gbit", "--duration", "10s"), "duration = 10 s: 1"),
        (("compare", "flows.toml", "--disciplines", "all"), "runs = "),
        (("simulate", "batch.toml", "--discipline", "fifo"), "batch: flows: 5 M flows"),
        (("simulate", "load.toml", "--discipline", "fifo", "--no-stream"), "rate x duration_s: "),
    ],
)
def test_what_clearly_takes_more_than_there_is_is_refused_before_it_is_drawn(asked, what, tmp_path):
    (tmp_path / "web.toml").write_text(WEB)
    (tmp_path / "flows.toml").write_text(WEB.replace("10000", "150"))
    (tmp_path / "batch.toml").write_text(
        "duration = '5s'\nworkload.load = '1kbit'\nworkload.batch = [{flows = 1000000, size = '1GB', every = '1s'}]"
    )
    (tmp_path / "load.toml").write_text("duration = '60s'\nnetwork.rate = '400gbit'\nworkload.load = '300gbit'")
    if asked[0] == "workload":
        assert mayfly_here("workload", "from", OFFICE, "--internal", "10.10.0.0/24", "-o", tmp_path / "office.toml")
    out = tmp_path / "out.csv"
    said = refused(*SMALL, *asked, "--out", out, cwd=tmp_path)
    assert what in said and "the command has 0.4 GB of memory: `mayfly --memory " in said
    assert not out.exists()


@contextlib.contextmanager
def endless_rows():
    """A table of samples that never ends."""
    rows = "print('time_s,queue_packets,arrivals,drops')\nwhile True: print('1,2,3,4\\n' * 10_000, end='')"
    with subprocess.Popen([sys.executable, "-c", rows], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
        assert endless.stdout is not None
        yield endless.stdout
        endless.kill()


def test_input_that_never_ends():
    command = ["estimate", "--rate", "1mbit", "--rtt", "0.1s"]
    with endless_rows() as rows:
        done = subprocess.run(
            [*COMMAND, *SMALL, *command, "-"], stdin=rows, capture_output=True, env=PLAIN, timeout=120
        )
    assert done.returncode == 2 and b"stopped at 0.4 GB" in done.stderr
    # What is no table is refused at once.
    done = subprocess.run([*COMMAND, *SMALL, *command, "/dev/zero"], capture_output=True, env=PLAIN, timeout=120)
    assert done.returncode == 2 and b"its first line is longer than 65,536 bytes" in done.stderr


@pytest.mark.parametrize("command", [["simulate"], ["sweep", "run"], ["compare"], ["workload", "run"]])
def test_files_that_a_person_writes_are_not_endless(command, tmp_path):
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    ended = mayfly(*command, tmp_path / "zero.toml", "--out", tmp_path / "out", timeout=20)
    assert ended.status == 2 and ended.err.count("\n") <= 1


def test_as_many_seeds_as_nobody_can_run(tmp_path):
    for text in (
        "seeds = 1000000000",
        "seeds = 100000\n[fields]\n'network.buffer' = {from = 10, to = 1000, steps = 500}",
    ):
        (tmp_path / "sweep.toml").write_text(f'scenario = "wired"\n{text}')
        assert "must be at most" in refused_here("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out")


@pytest.mark.parametrize("text", ["", "8", "gb", "nan", "-1gb", "1e400gb", "10 apples", "100mb"])
def test_amounts_that_are_none(text):
    with pytest.raises(MayflyError, match="must be an amount from 300mb"):
        budget.parsed(text)
    assert mayfly_here("--memory", text, "disciplines").status == 2


def test_the_machine_is_what_its_groups_leave(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 8000000 kB\nMemFree: 1 kB\n")
    assert machine_bytes(tmp_path) == 8000000 * 1024
    (tmp_path / "proc/self/cgroup").write_text("0::/user/job\n")
    group = tmp_path / "sys/fs/cgroup/user"
    (group / "job").mkdir(parents=True)
    (group / "job/memory.max").write_text("max\n")
    assert machine_bytes(tmp_path) == 8000000 * 1024
    (group / "memory.max").write_text("4000000000\n")
    assert machine_bytes(tmp_path) == 4000000000
    (tmp_path / "proc/self/cgroup").write_text("3:memory:/box\n")
    old = tmp_path / "sys/fs/cgroup/memory"
    old.mkdir()
    (old / "memory.limit_in_bytes").write_text("2000000000\n")
    assert machine_bytes(tmp_path) == 2000000000


def test_what_is_half_written_is_removed(tmp_path):
    with pytest.raises(FileNotFoundError), complete(tmp_path / "a") as part:
        part.write_text("half")
        remove_unfinished()
        assert not list(tmp_path.iterdir())
    with pytest.raises(MayflyError), filled(tmp_path / "out", ["a"]) as folder:
        (folder / "a").write_text("half")
        remove_unfinished()
        assert not list((tmp_path / "out").iterdir())
    assert not UNFINISHED


def test_a_file_has_its_name_when_it_is_on_the_disk(tmp_path, monkeypatch):
    steps = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append("sync"), sync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("name"), replace(*names))[1])
    monkeypatch.setattr(Path, "replace", lambda old, new: os.replace(old, new))
    with complete(tmp_path / "a") as part:
        part.write_text("whole")
    assert steps == ["sync", "name", "sync"]
    steps.clear()
    with filled(tmp_path / "out", ["a", "b"]) as folder:
        for name in "ab":
            (folder / name).write_text("whole")
    # The last one: the folder is new in the one it is in.
    assert steps == ["sync", "sync", "name", "name", "sync", "sync"]


def test_nobody_can_lay_a_link_where_a_file_is_written(tmp_path):
    with complete(tmp_path / "a") as first, complete(tmp_path / "a") as second:
        assert first != second and str(os.getpid()) not in first.name.split(".")
        first.write_text("1")
        second.write_text("2")
    with complete(tmp_path / ("n" * 250)) as part:
        part.write_text("a long name")
    assert sys.getsizeof(part.name) < 250


def test_words_of_strangers_are_not_obeyed(tmp_path):
    """Before: escape sequences in the name of a capture and in the rows of a foreign store reached the terminal."""
    store = tmp_path / "out"
    text = '{"key": "a", "status": "failed", "seed": 1, "error": "\\u001b[2J\\u0007", "discipline": "\\u009b31m"}'
    for name in ("runs", "shards", "records"):
        (store / name).mkdir(parents=True)
    (store / "runs" / "a.json").write_text(text)
    ended = mayfly_here("sweep", "query", store)
    assert ended.status == 0 and "\\x1b[" in ended.out
    assert all(c.isprintable() or c == "\n" for c in ended.out)


def scan(path, flows):
    """A capture of so many flows of UDP, one packet each, 20,000 a second."""
    index = np.arange(flows, dtype=np.uint32)
    packets = np.zeros((flows, 58), dtype=np.uint8)

    def put(at, values, kind):
        kind = np.dtype(kind)
        values = np.broadcast_to(values, flows).astype(kind)
        packets[:, at : at + kind.itemsize] = values.view(np.uint8).reshape(flows, kind.itemsize)

    for at, values in ((0, index // 20_000), (4, index % 20_000 * 50), (8, 42), (12, 42)):
        put(at, values, "<u4")
    for at, values in ((28, 0x0800), (32, 28), (50, 1024 + index // 5000), (52, 53), (54, 8)):
        put(at, values, ">u2")
    packets[:, 30], packets[:, 38], packets[:, 39] = 0x45, 64, 17
    put(42, 0x0A000000 + index % 5000, ">u4")
    put(46, 0xCB007101, ">u4")
    head = b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(8) + b"\xff\xff\x00\x00\x01\x00\x00\x00"
    path.write_bytes(head + packets.tobytes())


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.pcap"
    scan(path, 400_000)
    return path


def test_scans_beyond_the_memory_are_summed_up(scanned, tmp_path):
    whole = mayfly("profile", scanned, "--out", tmp_path / "whole", "--json")
    assert whole.document["counts"]["stopped"] is None and whole.document["dataset"]["connections"] == 400_000
    ended = mayfly("--memory", "700mb", "profile", scanned, "--out", tmp_path / "part", "--json")
    assert ended.status == 0, ended.err
    part = ended.document
    unanswered = part["counts"]["unanswered"]
    assert part["counts"]["stopped"] is None and part["counts"]["packets"] == 400_000
    assert 50_000 < part["dataset"]["connections"] == 400_000 - unanswered["connections"]
    assert part["dataset"]["packets"] == 400_000 - unanswered["packets"] and unanswered["bytes"] > 0
    told = mayfly("--memory", "700mb", "profile", scanned, "--out", tmp_path / "part").out
    (said,) = [line for line in told.splitlines() if "connections that nobody answered (scans, floods" in line]
    assert f"{unanswered['connections']:,}" in said
    # The page is read beside the terminal, or without it.
    assert "connections that nobody answered" in (tmp_path / "part" / "report.html").read_text(encoding="utf-8")


def test_a_part_of_a_capture_is_a_capture(scanned, monkeypatch):
    """What was read is what a shorter file would have brought, the answer of whatif included."""
    from mayfly.workload.connections import read_captures

    monkeypatch.setattr("mayfly.limits.reached", lambda share: ("a limit", "--memory 1gb"))
    part = read_captures(scanned)
    count = part.counts["packets"]
    assert 0 < count == part.counts["stopped"]["packets"] < 400_000
    shorter = scanned.with_name("shorter.pcap")
    shorter.write_bytes(scanned.read_bytes()[: 24 + 58 * count])
    monkeypatch.undo()
    assert part.connections.equals(read_captures(shorter).connections)


def test_the_answer_from_a_part_says_so(monkeypatch):
    from mayfly.comparison.text import answer_lines
    from mayfly.comparison.whatif import whatif

    asked = []

    def at_once(share):
        return (asked.append(1) or ("9 s", "--time 18s")) if share == READING else None

    monkeypatch.setattr("mayfly.limits.reached", at_once)
    monkeypatch.setattr("mayfly.workload.replayed.Captured.__init__", once_looked())
    fields = {"duration": "2s", "replications": 1}
    summary = whatif("captures/office.pcap.gz", "10mbit", 300, disciplines="fifo,fq_codel", overrides=fields).summary
    assert asked and answer_lines(summary)[0].startswith("Partial: reading stopped at 9 s, after ")
    assert answer_lines(summary)[1] == summary["recommendation"]["sentence"]
    # Where nothing can be recommended, too. How far a reading comes before it is stopped depends on the machine.
    alone = whatif("captures/office.pcap.gz", "10mbit", 300, disciplines="fifo", overrides=fields).summary
    (line,) = answer_lines(alone)
    assert alone["recommendation"] is None and line.startswith("Partial: reading stopped at 9 s, after ")


@pytest.mark.parametrize("ended", [0, 1, 2])
def test_disciplines_whose_simulation_is_complete_are_answered_for(ended, monkeypatch):
    """Before: one line and no answer."""
    from mayfly.comparison.text import answer_lines
    from mayfly.comparison.whatif import whatif
    from mayfly.simulate import run as runs

    simulate, over = runs.run_one, threading.Event()

    def run_one(scenario, discipline, flows, replication, control, *more):
        if discipline.id not in ("fifo", "fq_codel")[:ended]:
            # It takes all memory, and goes on until it is stopped; its list is not that of the others.
            over.set()
            scenario = scenario.override(duration=1e6, sample_interval=0)
            flows, more = flows.with_columns(size_bytes=pl.lit(2**40, pl.Int64)), more[:-1]
        return simulate(scenario, discipline, flows, replication, control, *more)

    monkeypatch.setattr(runs, "run_one", run_one)
    monkeypatch.setattr(runs.os, "cpu_count", lambda: 1)
    monkeypatch.setattr("mayfly.limits.reached", lambda share: ("9 GB", "--memory 18gb") if over.is_set() else None)
    asked = {
        "disciplines": "fifo,fq_codel,las",
        "replay": "transfers",
        "overrides": {"duration": "2s", "replications": 4},
    }
    if ended == 0:
        with pytest.raises(MayflyError, match="stopped at 9 GB, before the simulation of a discipline ended: "):
            whatif("captures/office.pcap.gz", "10mbit", 300, **asked)
        return
    found = whatif("captures/office.pcap.gz", "10mbit", 300, **asked)
    own = ["fifo", "fq_codel"][:ended]
    assert [row["label"] for row in found.summary["disciplines"]] == own
    told = (
        f"Partial: the simulation stopped at 9 GB, after {' and '.join(own)} of 3 disciplines: `mayfly --memory 18gb "
        "COMMAND` runs all. Partial: the simulation stopped at 9 GB, after 0 of 4 resampled hours: "
        "`mayfly --memory 18gb COMMAND` resamples all."
    )
    assert answer_lines(found.summary)[0] == told
    assert found.summary["resampling"]["why_none"] and found.summary["transport"]["other"] is None
    # What is there is what a whole run has of it.
    monkeypatch.undo()
    whole = whatif("captures/office.pcap.gz", "10mbit", 300, **asked | {"disciplines": own})
    assert found.records.equals(whole.records)


def test_resampled_hours_that_are_complete_count(monkeypatch):
    from mayfly.comparison import session_bootstrap
    from mayfly.comparison.whatif import whatif

    drawn = []
    run = session_bootstrap.ResampledHours.run
    monkeypatch.setattr(session_bootstrap.ResampledHours, "run", lambda *given: drawn.append(1) or run(*given))
    monkeypatch.setattr("mayfly.limits.reached", lambda share: ("9 GB", "--memory 18gb") if len(drawn) == 3 else None)
    fields = {"duration": "2s", "replications": 5}
    summary = whatif("captures/office.pcap.gz", "10mbit", 300, disciplines="fifo,las", overrides=fields).summary
    assert summary["resampling"]["hours"] in (2, 3) and summary["resampling"]["why_none"] is None
    assert f"after {summary['resampling']['hours']} of 5 resampled hours" in summary["partial"]
    resampled = summary["disciplines"][0]["resampled"]
    # An hour may have no long transfer.
    assert max(len(values) for values in resampled.values()) == summary["resampling"]["hours"]


def once_looked():
    """The reader of a replay, which looks once whatever its haste."""
    from mayfly.limits import Look
    from mayfly.workload.replayed import Captured

    read = Captured.__init__

    def looking(self, paths, options):
        read(self, paths, options)
        look = Look([str(paths)])
        assert not look(1, 1, 1)
        self.counts["stopped"] = look.stopped

    return looking


@pytest.mark.parametrize(
    "command", [["compare", "wired", "--duration", "2000s"], ["estimate", "--rate", "1mbit", "--rtt", "1s", "-"]]
)
def test_a_command_takes_no_longer_than_it_may(command, tmp_path):
    out = ["--out", tmp_path / "out"] if command[0] == "compare" else []
    with endless_rows() as rows:
        call = [*COMMAND, "--time", "1s", *command, *out]
        done = subprocess.run(call, stdin=rows, capture_output=True, env=PLAIN, timeout=60)
    assert done.returncode == 2 and b"mayfly: stopped at 1 s: `mayfly --time 2s COMMAND` goes on" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["", "0", "0.5s", "soon", "-3s", "1e99s"])
def test_times_that_are_none(text):
    assert "--time" in refused_here("--time", text, "disciplines")


def test_the_progress_of_a_reading_is_told(scanned):
    from mayfly.limits import limits
    from mayfly.workload.connections import read_captures

    told = []
    limits.told = lambda text, share: told.append((text, share))
    try:
        read_captures(scanned)
    finally:
        limits.told = None
    shares = [share for text, share in told if text]
    assert shares == sorted(shares) and 0 < shares[0] <= shares[-1] <= 1 and told[-1] == ("", None)
    assert all(text.endswith("connections") for text, _ in told[:-1])


def test_a_limit_of_time_is_one_line_where_there_are_workers(tmp_path):
    """Before: three lines more, of semaphores that multiprocessing clears away itself."""
    sweep = tmp_path / "w.toml"
    sweep.write_text('scenario = "wired"\nseeds = 50\n', encoding="utf-8")
    call = [*COMMAND, "--time", "3s", "sweep", "run", sweep, "--set", "duration=3000s", "--out", tmp_path / "out", "-q"]
    done = subprocess.run([*map(str, call)], capture_output=True, text=True, env=PLAIN, timeout=120)
    assert done.returncode == 2, done.stderr
    # Whoever clears up ends after the command.
    assert [line[:20] for line in done.stderr.splitlines()] == ["mayfly: stopped at 3"]
