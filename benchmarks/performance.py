"""CPU time of Mayfly and of the programs one would use in its place, on the same input, as ratios.

    python benchmarks/performance.py [--peers ENVIRONMENT] [--runs 5] [--only PART] [--write docs/performance.md]

Peers that are not installed are left out: Debian's `ns2 libns3-dev g++ tcptrace argus-server argus-client tshark
suricata`, and of PyPI `ns3` and `nfstream` in an environment of their own, named by `--peers` (`pip install --no-deps
ns3`).

CPU time is user and system time of the whole finished process, memory its largest resident set. The programs of a table
run in turns, A B C A B C, and the least of each counts: the runs are alike, so what slows one down is the rest of the
machine. What each produced is compared before anything is printed. Cells of ratios are bold where the peer is faster.
`--write` puts each part into the page as soon as it is measured, between the comments that name it. A part that fails
says so in its place, the rest goes on, and the status is 1. Parts in `NAMED` run only when `--only` names them.
"""

import datetime
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import captures
import large_runs
import peers
import polars as pl
import queues
import typer
import wlan
from page_parts import put
from processes import HERE, Spent, lines, ns3_program, ns3_version, spent

import mayfly
from mayfly.simulate.run import workload

ROOT = HERE.parent
EXAMPLES = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples"
MAYFLY = ROOT / ".venv/bin/mayfly"
OFFICE = ROOT / "captures/office.pcap.gz"
WIRED_S, SHORT_S, NS3_S = 1000, 20, 400
CELL_S, CELL_WARM_UP_S = 10, 3
NS3_WIRED = "point-to-point", "internet", "traffic-control", "network", "core"
NS2_SCHEDULERS = "Splay", "Calendar"
PACKETS = {"repeated.pcap": 1_000_000, "longer.pcap": 4_000_000}
MANY = 10_000_000
"""Connections of the captures that must not fit into memory."""
SLOW_RUNS = 2
"""At most, of a table with ns-3, which takes minutes of CPU time."""
Figures = dict[str, float]


@dataclass(frozen=True)
class Program:
    """One row: what is run, and what it says it did, by name; `part` is CPU time it measures of a part of itself, s."""

    name: str
    command: list[object]
    produced: Callable[[str], Figures]
    ours: bool = False
    part: tuple[str, Callable[[str], float]] | None = None


@dataclass(frozen=True)
class Table:
    """Programs on one input; by how much each figure may differ from the first program's, as a share of it."""

    title: str
    programs: list[Program]
    within: dict[str, float]
    runs: int
    unlike: dict[str, str] = field(default_factory=dict)
    """Figures of a program that count something else, and why: not compared."""


@dataclass(frozen=True)
class Place:
    """Where the run's files are, and the environment of the peers from PyPI."""

    folder: Path
    environment: Path | None

    def wheel(self) -> Path | None:
        """The folder of PyPI's ns-3."""
        found = [] if self.environment is None else list(self.environment.glob("lib/python3*/site-packages/ns3"))
        return found[0] if found else None

    def ns3(self, name: str, modules: tuple[str, ...]) -> dict[str, Path]:
        """A program of this folder by version of ns-3, those that compile."""
        wheel = self.wheel()
        built = {f"ns-{ns3_version()}": ns3_program(name, modules, self.folder)}
        if wheel is not None:
            label = f"ns-{ns3_version(wheel)}"
            built[f"{label} (PyPI)" if label in built else label] = ns3_program(name, modules, self.folder, wheel)
        return {version: program for version, program in built.items() if program is not None}


def simulate(scenario: str, discipline: str, flows: str, *options: str) -> list[object]:
    """Command of a run on a flow list."""
    return [
        MAYFLY,
        "simulate",
        scenario,
        "--discipline",
        discipline,
        "--flows",
        flows,
        *options,
        "--out",
        "out",
        "--json",
    ]


def simulator_s(printed: str) -> float:
    """CPU time of the simulator's thread, without Python, libraries and files, s."""
    return json.loads(printed)["cpu_s"]


ALONE = "simulator alone", simulator_s


def first(flows: Path, seconds: float) -> Path:
    """The transfers of a list that begin in its first seconds, in a file beside it."""
    path = flows.with_name(f"first-{seconds}.csv")
    pl.read_csv(flows).filter(pl.col("start_s") < seconds).write_csv(path)
    return path


def against_ns2(place: Place, runs: int) -> Iterator[Table]:
    """The wired list and its first seconds, each flow with the TCP of ns-2."""
    ns2 = shutil.which("ns")
    flows = peers.listing(None, place.folder)
    for path, seconds in ((flows, WIRED_S), (first(flows, SHORT_S), SHORT_S)):

        def records(_: str) -> Figures:
            found = pl.read_csv(place.folder / "records.csv")
            return {"finished": found.height, "sent again": found["retransmits"].sum()}

        def ours(printed: str) -> Figures:
            found = pl.read_parquet(place.folder / "out/flows.parquet").filter(pl.col("finish_s").is_not_null())
            return {"finished": json.loads(printed)["flows_completed"], "sent again": found["retransmits"].sum()}

        command = simulate("wired-ns2", "fifo", path.name, "--duration", f"{seconds}s")
        programs = [Program("`mayfly simulate`", command, ours, True, ALONE)]
        for scheduler in NS2_SCHEDULERS if ns2 else ():
            script = [ns2, HERE / "ns2_wired.tcl", path.name, seconds, scheduler, "records.csv"]
            programs.append(Program(f"ns-2, {scheduler}", script, records))
        title = f"{pl.read_csv(path).height:,} transfers over 10 Mb/s, {seconds} s, FIFO, TCP of ns-2"
        yield Table(title, programs, {"finished": 0.001, "sent again": 0.05}, runs)


def permanent(place: Place, runs: int) -> Iterator[Table]:
    """57 permanent flows: packets and hardly anything else, where ns-2 is at its best."""
    ns2, starts = shutil.which("ns"), peers.starts(place.folder).name
    names = "TCP packets", "sent again", "CBR packets lost"

    def ours(_: str) -> Figures:
        found = pl.read_csv(place.folder / "records.csv")
        tcp, udp = found.filter(protocol="tcp"), found.filter(protocol="udp")
        return dict(zip(names, (tcp["packets_sent"].sum(), tcp["retransmits"].sum(), udp["drops"].sum()), strict=True))

    def theirs(printed: str) -> Figures:
        return dict(zip(names, map(float, printed.split(",")), strict=True))

    simulator = [EXAMPLES / "flow_list", "permanent", starts, "fifo", "records.csv"]
    programs = [Program("simulator alone, `flow_list`", simulator, ours, True)]
    for scheduler in NS2_SCHEDULERS if ns2 else ():
        command = [ns2, HERE / "ns2_permanent.tcl", starts, 320, scheduler]
        programs.append(Program(f"ns-2, {scheduler}", command, theirs))
    title = "35 endless TCP flows and 22 CBR flows, 28 Mb/s, 320 s, drop-tail"
    yield Table(title, programs, {"TCP packets": 0.02, "sent again": 0.05, "CBR packets lost": 0.05}, runs)


def against_ns3(place: Place, runs: int) -> Iterator[Table]:
    """The first part of the wired list with the TCP of ns-3, under two disciplines."""
    flows = first(peers.listing(None, place.folder), NS3_S)
    built = place.ns3("ns3_wired", NS3_WIRED)

    def theirs(printed: str) -> Figures:
        row = json.loads(printed)
        return {"finished": row["finished"], "drops": row["drops"], "s to the last data, mean": row["mean_s"]}

    def ours(printed: str) -> Figures:
        row = json.loads(printed)
        records = pl.read_parquet(place.folder / "out/flows.parquet").filter(pl.col("finish_s").is_not_null())
        mean = (records["last_data_s"] - records["start_s"]).mean()
        return {"finished": row["flows_completed"], "drops": row["drops"], "s to the last data, mean": mean}

    for discipline, options in (("fifo", ()), ("fq_codel", ("mtu=1499", "quantum=1500", "rules=rfc"))):
        spelled = f"{discipline}({', '.join(options)})" if options else discipline
        buffer = () if discipline == "fifo" else ("--set", "network.buffer=301")
        preset = "--set", "tcp.preset=ns-3.37"
        command = simulate("wired", spelled, flows.name, "--duration", f"{NS3_S}s", *preset, *buffer)
        programs = [Program("`mayfly simulate`", command, ours, True, ALONE)]
        for version, program in built.items():
            programs.append(Program(version, [program, flows.name, NS3_S, discipline], theirs))
        title = f"{pl.read_csv(flows).height:,} transfers over 10 Mb/s, {NS3_S} s, {discipline}, TCP of ns-3"
        # Losses differ, so the run ends with other transfers under way.
        within = {"finished": 0.01, "s to the last data, mean": 0.1}
        yield Table(title, programs, within, min(runs, SLOW_RUNS))


def linux(place: Place, runs: int) -> Iterator[Table]:
    """The wired list with the settings of Linux, by the transport of the RFCs and by Linux' own."""
    flows = peers.listing(None, place.folder)
    speeds: dict[str, float] = {}

    def program(name: str, *options: str) -> Program:
        def produced(printed: str) -> Figures:
            row = json.loads(printed)
            speeds[name] = max(speeds.get(name, 0.0), row["packet_hops"] / row["cpu_s"] * 1e-6)
            return {"finished": row["flows_completed"], "hops": row["packet_hops"], "M hops per CPU s": speeds[name]}

        fields = "--set", "tcp.preset=linux-6.1", *options
        command = simulate("wired", "fifo", flows.name, "--duration", f"{WIRED_S}s", *fields)
        return Program(name, command, produced, not options, (f"{name}, simulator alone", simulator_s))

    programs = [
        program("`recovery = linux`"),
        program("`recovery = sack`", "--set", "tcp.recovery=sack", "--set", "tcp.tick=1ns"),
    ]
    title = f"{pl.read_csv(flows).height:,} transfers over 10 Mb/s, {WIRED_S} s, FIFO, settings of Linux"
    # Hops are not held to one another: each way to recover sends other packets again. Cost is compared per hop.
    yield Table(title, programs, {"finished": 0.01}, runs)


def cell(place: Place, runs: int) -> Iterator[Table]:
    """Five uploads against five downloads in a wireless cell."""
    fields = {"duration": f"{CELL_S}s", "warm_up": f"{CELL_WARM_UP_S}s", "network.buffer": 300}
    scenario = mayfly.load_scenario("wlan-ns3", fields)
    wlan.for_ns3(scenario, workload(scenario), place.folder / "cell.csv")

    def ours(_: str) -> Figures:
        seconds = CELL_S - CELL_WARM_UP_S
        bits = (pl.col("delivered_bytes") - pl.col("warm_up_bytes")).sum() * 8e-6 / seconds
        records = pl.read_parquet(place.folder / "out/flows.parquet")
        return {f"Mb/s {way}": records.filter(direction=way).select(bits).item() for way in ("up", "down")}

    def theirs(printed: str) -> Figures:
        row = json.loads(printed)
        return {"Mb/s up": row["up_mbps"], "Mb/s down": row["down_mbps"]}

    settings = [part for name, value in fields.items() for part in ("--set", f"{name}={value}")]
    command = [MAYFLY, "simulate", "wlan-ns3", "--discipline", "fifo", *settings, "--out", "out", "--json"]
    programs = [Program("`mayfly simulate`", command, ours, True, ALONE)]
    for version, program in place.ns3("ns3_wlan", wlan.NS3_MODULES).items():
        programs.append(Program(version, [program, "cell.csv", 300, CELL_S, CELL_WARM_UP_S], theirs))
    title = f"802.11a, five uploads against five downloads, 300 packets, {CELL_S} s"
    yield Table(title, programs, {"Mb/s up": 0.1, "Mb/s down": 0.1}, min(runs, SLOW_RUNS))


def readers(place: Place, runs: int) -> Iterator[Table]:
    """Captures of a million packets, and of four, into their connections."""
    for name, least in PACKETS.items():
        yield reader(place, name, least, runs)


def longer(place: Place) -> Path:
    """The capture of four million packets, made where it is not there."""
    path = place.folder / "longer.pcap"
    if not path.exists():
        captures.repeated([OFFICE], PACKETS[path.name], path)
    return path


def reader(place: Place, name: str, least: int, runs: int) -> Table:
    """A capture of at least so many packets into its connections."""
    path = place.folder / name
    packets = captures.repeated([OFFICE], least, path)

    def alone(printed: str) -> Figures:
        return {"TCP connections": json.loads(printed)["tcp"]}

    def profile(printed: str) -> Figures:
        return {"TCP connections": json.loads(printed)["dataset"]["tcp"]}

    def tcptrace(printed: str) -> Figures:
        return {"TCP connections": len(re.findall(r"^TCP connection \d+:", printed, re.MULTILINE))}

    def tshark(printed: str) -> Figures:
        return {"TCP connections": printed.count("<->")}

    def nfstream(printed: str) -> Figures:
        return {"TCP connections": json.loads(printed)["6"]}

    everything = [MAYFLY, "profile", path.name, "--out", "profile", "--json"]
    listed = [MAYFLY, "profile", path.name, "--connections", "--out", "listed", "--json"]
    programs = [
        Program("reader alone, `connections`", [EXAMPLES / "connections", path.name], alone, True),
        Program("`mayfly profile --connections`", listed, profile, True),
        Program("`mayfly profile`", everything, profile, True),
        Program("argus", ["argus", "-X", "-w", "argus.out", "-r", path.name], lambda _: argus_records(place.folder)),
        Program("tcptrace", ["tcptrace", "-l", "-r", "-n", path.name], tcptrace),
        Program("tshark", ["tshark", "-q", "-z", "conv,tcp", "-r", path.name], tshark),
        Program("suricata", [*SURICATA, "-r", path.name], lambda _: suricata_flows(place.folder)),
    ]
    missing = [name for name in ("argus", "tcptrace", "tshark", "suricata") if shutil.which(name) is None]
    missing += [] if shutil.which("ra") else ["argus"]  # which reads what argus writes
    programs = [row for row in programs if row.name not in missing]
    if place.environment is not None and list(place.environment.glob("lib/python3*/site-packages/nfstream")):
        command = [place.environment / "bin/python", HERE / "nfstream_flows.py", path.name]
        programs.append(Program("nfstream", command, nfstream))
    title = f"A capture of {packets:,} packets into connections"
    unlike = {"argus": "a connection that pauses has several records"}
    return Table(title, programs, {"TCP connections": 0}, runs, unlike)


LISTED = ["--connections"]
STREAMS = (
    (
        "whole",
        "ten packets each, 10,000 at once",
        [("2gb", MANY // 10, LISTED), ("2gb", MANY, LISTED), ("500mb", MANY // 10, LISTED), ("2gb", MANY // 10, [])],
    ),
    ("scan", "SYNs to 60,000 hosts, every second one refused", [("2gb", MANY, LISTED)]),
    ("flood", "SYNs that nobody answers", [("2gb", MANY, LISTED), ("2gb", MANY, [])]),
)
"""Streams of `captures.py`, what they are, and for each run of one its budget, its connections and its options."""


def scale(place: Place) -> list[str]:
    """Captures of ten million connections, from a pipe: time and most memory under a budget."""
    rows = [f"## Captures of up to {MANY:,} connections within a budget of memory, from a pipe", ""]
    rows += [
        "| | connections | command | CPU s | most memory | rows, and what is in none |",
        "|---|---:|---|---:|---:|---|",
    ]
    for what, title, budgets in STREAMS:
        for budget, count, listed in budgets:
            source = [sys.executable, HERE / "captures.py", "--stream", what, "--connections", count]
            command = [MAYFLY, "--memory", budget, "profile", "-", *listed, "--out", "many", "--json"]
            with subprocess.Popen([str(part) for part in source], stdout=subprocess.PIPE) as made:
                done = spent(command, place.folder, made.stdout)
            told = json.loads(done.printed)
            left = told["counts"]["unanswered"]["connections"]
            name = " ".join(["mayfly", "--memory", budget, "profile", *listed])
            rows.append(
                f"| {title} | {count:,} | `{name}` | {done.cpu_s:.1f} | {done.memory_bytes * 1e-9:.2f} GB | "
                f"{told['dataset']['connections']:,} rows, {left:,} summed up |"
            )
    return [*rows, ""]


def argus_records(folder: Path) -> Figures:
    """Records of TCP in what argus wrote."""
    command = ["ra", "-nn", "-r", "argus.out", "-s", "proto", "-", "tcp"]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    (folder / "argus.out").unlink()  # a further run would append to it
    return {"TCP records": sum(line.strip() == "6" for line in printed.splitlines())}


SURICATA = ["suricata", "-c", HERE / "suricata.yaml", "-S", "/dev/null", "-k", "none", "--runmode", "single", "-l", "."]


def suricata_flows(folder: Path) -> Figures:
    """Records of TCP in what Suricata wrote."""
    with (folder / "eve.json").open() as records:
        found = sum(json.loads(line).get("proto") == "TCP" for line in records)
    (folder / "eve.json").unlink()  # a further run would append to it
    return {"TCP connections": found}


TABLES = {
    "ns2": against_ns2,
    "permanent": permanent,
    "ns3": against_ns3,
    "linux": linux,
    "cell": cell,
    "captures": readers,
}


@dataclass
class Measured:
    """CPU seconds of every run by row, what each program produced, and the most memory it took, bytes."""

    seconds: dict[str, list[float]]
    figures: dict[str, Figures]
    memory: dict[str, int]


def measure(table: Table, folder: Path) -> Measured:
    """All runs of a table, in turns."""
    found = Measured({}, {}, {})
    for _ in range(table.runs):
        for program in table.programs:
            done: Spent = spent(program.command, folder)
            found.seconds.setdefault(program.name, []).append(done.cpu_s)
            found.memory[program.name] = max(found.memory.get(program.name, 0), done.memory_bytes)
            found.figures[program.name] = program.produced(done.printed)
            if program.part is not None:
                name, part_s = program.part
                found.seconds.setdefault(name, []).append(part_s(done.printed))
    return found


def check(table: Table, found: Measured) -> None:
    """What the programs produced must agree, or the comparison is none."""
    first = found.figures[table.programs[0].name]
    for program in table.programs[1:]:
        figures = {} if program.name in table.unlike else found.figures[program.name]
        for name, share in table.within.items():
            if name in figures and abs(figures[name] - first[name]) > share * abs(first[name]):
                raise RuntimeError(
                    f"{table.title}: {program.name}: {name}: {figures[name]} is not {first[name]} within {share:.1%}"
                )


def shown(value: float) -> str:
    """A figure with as many digits as it deserves."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}"


def megabytes(memory_bytes: int) -> str:
    """Of a process: the program that starts it takes the first ten."""
    return f"{memory_bytes / 1e6:.0f} MB" if memory_bytes > 12_000_000 else "<= 12 MB"


def ratio(theirs: float, ours: float) -> str:
    """How many times our CPU time a peer took; bold below one."""
    times = theirs / ours
    text = f"{times:.2f}" if times < 2 else f"{times:.1f}" if times < 20 else f"{times:.0f}"
    return f"**{text}**" if times < 1 else text


def rows(table: Table, found: Measured) -> Iterator[str]:
    """The table, and below it the commands."""
    least = {name: min(seconds) for name, seconds in found.seconds.items()}
    ours = [name for program in table.programs if program.ours for name in (program.name, *(program.part or ())[:1])]
    yield f"## {table.title}"
    yield ""
    yield "| | CPU s, least | most | memory | " + " | ".join(f"of {name}" for name in ours) + " | produced |"
    yield "|---|---:|---:|---:|" + "---:|" * len(ours) + "---|"
    for name, seconds in found.seconds.items():
        figures = ", ".join(f"{shown(value)} {label}" for label, value in found.figures.get(name, {}).items())
        over = ["" if name in ours else ratio(least[name], least[mine]) for mine in ours]
        memory = megabytes(found.memory[name]) if name in found.memory else ""
        yield f"| {name} | {least[name]:.3f} | {max(seconds):.3f} | {memory} | {' | '.join(over)} | {figures} |"
    yield ""
    for why in dict.fromkeys(table.unlike.values()):
        names = ", ".join(name for name in table.unlike if table.unlike[name] == why and name in found.figures)
        if names:
            yield from (f"{names}: {why}.", "")
    yield f"{table.runs} runs of each:"
    yield ""
    yield "```sh"
    yield from (spelled(program.command) for program in table.programs)
    yield "```"
    yield ""


def spelled(command: list[object]) -> str:
    """A command as one would type it: programs of the project by their place in it, others by their name."""
    words = []
    for number, part in enumerate(command):
        word = Path(str(part))
        if word == MAYFLY:
            words.append("mayfly")
        elif word.is_absolute() and word.is_relative_to(ROOT):
            words.append(str(word.relative_to(ROOT)))
        else:
            words.append(word.name if number == 0 and word.is_absolute() else str(part))
    return shlex.join(words)


def decisions(place: Place, runs: int) -> list[str]:
    """What it costs to take a packet and give one, at a steady backlog: `efd`, `fq_codel`, and ns-3's FqCoDel."""
    commands: dict[str, list[object]] = {
        "": [EXAMPLES / "queues", queues.FLOWS, queues.SHORT, "fifo", "fq_codel", "efd", "las"]
    }
    for version, program in place.ns3("ns3_queues", queues.NS3_MODULES).items():
        commands[version] = [program, queues.FLOWS, queues.SHORT, "FqCoDel"]
    found: dict[str, list[dict]] = {}
    for _ in range(runs):
        for version, command in commands.items():
            for row in lines(command):
                name = f"{version}, {row['id']}QueueDisc" if version else f"`{row['id']}`"
                found.setdefault(name, []).append(row)
    ns = {name: queues.combined(each)["ns"] for name, each in found.items()}
    table = ["## A packet in and a packet out, 300 waiting, 10,000 flows", ""]
    table += ["| | CPU ns | of our `fq_codel` | of our `efd` |", "|---|---:|---:|---:|"]
    ours, efd = ns["`fq_codel`"], ns["`efd`"]
    table += [f"| {name} | {took:.0f} | {took / ours:.2f} | {took / efd:.2f} |" for name, took in ns.items()]
    table += [
        "",
        "The traffic and the rest of the disciplines are in [](validation.md#cost-and-memory-per-discipline).",
        "",
    ]
    return [*table, "```sh", *(spelled(command) for command in commands.values()), "```", ""]


def versions(place: Place) -> Iterator[str]:
    """Every peer that is there, with its version."""
    for package in ("ns2", "libns3-dev", "tcptrace", "argus-server", "tshark", "suricata"):
        query = ["dpkg-query", "-W", "-f", "${Version}", package]
        done = subprocess.run(query, capture_output=True, text=True) if shutil.which("dpkg-query") else None
        if done is not None and done.returncode == 0 and done.stdout:
            yield f"Debian's {package} {done.stdout}"
    for package in ("ns3", "nfstream") if place.environment else ():
        for folder in place.environment.glob(f"lib/python3*/site-packages/{package}-*.dist-info"):
            yield f"PyPI's {folder.name.removesuffix('.dist-info').replace('-', ' ')}"


def machine(place: Place) -> str:
    """Date, processor and versions."""
    models = re.findall(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE) or ["unknown"]
    here = f"{os.cpu_count()} cores of {models[0]}, Linux {platform.release().partition('-')[0]}"
    ours = f"Mayfly {importlib.metadata.version('mayfly')}, Python {platform.python_version()}"
    return f"{datetime.date.today()}; {here}; {ours}; {', '.join(versions(place))}."


def tables_of(name: str, place: Place, runs: int) -> list[str]:
    """The tables of a part, measured, and held to agree."""
    text = []
    for table in TABLES[name](place, runs):
        found = measure(table, place.folder)
        check(table, found)
        text += rows(table, found)
    return text


PARTS: dict[str, Callable[[Place, int], list[str]]] = {
    **{name: partial(tables_of, name) for name in TABLES},
    "workers": lambda place, _: large_runs.workers(place.folder, longer(place)),
    "scale": lambda place, _: scale(place),
    "rates": lambda *_: large_runs.rates(),
    "alive": lambda *_: large_runs.alive(),
    "streams": lambda place, _: large_runs.streams(place.folder),
    "queues": decisions,
    "hundred-million": lambda place, _: large_runs.hundred_million(place.folder),
}
"""What stands between two comments of the page, by name: sections of Markdown."""
NAMED = ("hundred-million",)
"""They run only when they are named: a quarter of an hour of CPU time."""


def part(name: str, place: Place, runs: int) -> tuple[list[str], bool]:
    """A part, and whether it could be measured; where not, it says why."""
    try:
        return PARTS[name](place, runs), True
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return [f"## {name}", "", f"Not measured on {datetime.date.today()}: {error}", ""], False


def main(
    environment: Annotated[
        Path | None, typer.Option("--peers", help="Python environment with ns3 and nfstream")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of each program")] = 5,
    only: Annotated[str | None, typer.Option(help=f"One of {', '.join(PARTS)}")] = None,
    page: Annotated[Path | None, typer.Option("--write", help="Page whose parts are replaced")] = None,
) -> None:
    """Time Mayfly and its peers on the same input."""
    if only is not None and only not in PARTS:
        raise typer.BadParameter(f"must be one of {', '.join(PARTS)}", param_hint="--only")
    for program in ("flow_list", "queues", "connections"):
        if not (EXAMPLES / program).exists():
            sys.exit(f"{program} is missing: make performance builds it")
    failed = False
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), environment.absolute() if environment else None)
        told = {} if only else {"machine": [machine(place)]}
        for each in [only] if only else [name for name in PARTS if name not in NAMED]:
            begin = time.monotonic()
            text, whole = part(each, place, runs)
            failed |= not whole
            print(f"{each}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
            told[each] = text if only is None else [*text, f"Measured on its own: {machine(place)}"]
            for name, lines in told.items() if page is not None else ():
                put(page, f"benchmarks/performance.py: {name}", "\n".join(lines).strip())
            told = {} if page is not None else told
    for lines in told.values():
        print("\n".join(lines))
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
