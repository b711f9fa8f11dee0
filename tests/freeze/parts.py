"""The parts of a freeze: what is run for each, and the items that it leaves."""

import csv
import gzip
import importlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import digests
from digests import Item
from running import Mayfly, Outcome

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

PRINTED = ("summary.json", "profile.json")

KERNEL_LIMITS = ("100p", "30000b")
"""Buffers of the kernel's cores that the recorded traffic fills: in packets and in bytes."""

Items: TypeAlias = dict[str, Item]
Job: TypeAlias = tuple[str, Callable[[Mayfly], Items]]


@dataclass(frozen=True)
class Place:
    """Where a freeze is made."""

    folder: Path
    checkout: Path
    """The tree whose kernel cores are compiled."""
    captures: Path = ROOT / "captures"
    recorded: Path = ROOT.parent / "shared" / "data" / "pcap"
    """Reference captures beside the checkout."""

    def room(self, name: str) -> Path:
        """An empty folder with the captures of the repository, and those beside the checkout beside it."""
        folder = self.folder / digests.safe_name(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "captures").symlink_to(self.captures)
        beside = self.folder / "shared"
        if not beside.is_symlink():
            beside.symlink_to(self.recorded.parents[1])
        return folder

    def names(self) -> tuple[tuple[str, str], ...]:
        """Absolute places, the longest first, and what stands for them in a digest."""
        named = {
            str(self.folder): "FOLDER",
            str(self.recorded.resolve()): "RECORDED",
            str(self.checkout): "CHECKOUT",
            str(ROOT): "CHECKOUT",
        }
        return tuple(sorted(named.items(), key=lambda pair: -len(pair[0])))


def ran(outcome: Outcome, folder: Path, place: Place, name: str) -> Items:
    """What a command printed and the files it left; of summaries and profiles it printed the same."""
    items: Items = {name: {"status": outcome.status} | digests.document(outcome.document(), place.names())}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.suffix != ".html" and path.name not in PRINTED:
            items |= digests.file(path, f"{name}: {path.relative_to(folder)}", place.names())
    return items


# Scenarios


def scenario_jobs(place: Place) -> list[Job]:
    """Runs of `scenarios.toml`: tables by discipline and the summary."""
    jobs: list[Job] = []
    for row in tomllib.loads((HERE / "scenarios.toml").read_text(encoding="utf-8"))["run"]:
        for each in row.get("each", [""]):
            name, command = (row[key].replace("{each}", each) for key in ("name", "command"))
            jobs.append((name, partial(_scenario, place, name, command)))
    return jobs


def _scenario(place: Place, name: str, command: str, mayfly: Mayfly) -> Items:
    folder = place.room(f"scenario {name}")
    outcome = mayfly.run([*shlex.split(command), "--out", "out", "--json", "--quiet"], folder)
    items = ran(outcome, folder, place, name)
    shutil.rmtree(folder)
    return items


# A capture replayed by the kernel

_WITHOUT_GUEST = ("test kernel", "no kernel sources")
"""In the complaint of a command that found no kernel to run."""


def engine_jobs(place: Place) -> list[Job]:
    """``--engine linux``; nothing, and the reason is printed, where there is no guest.

    Times of the form ``users`` differ by some ns between two runs of one kernel, those of transfers do not.
    """
    return [(replay, partial(_engine, place, replay)) for replay in ("transfers",)]


def _engine(place: Place, replay: str, mayfly: Mayfly) -> Items:
    folder = place.room(f"engine {replay}")
    # No discipline that hashes: the kernel draws its key.
    given = f"captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24 --replay {replay}"
    command = f"whatif {given} --disciplines fifo,codel -n 1 --engine linux --out out --json --quiet"
    outcome = mayfly.run(shlex.split(command), folder)
    if outcome.status == 2 and any(words in outcome.out + outcome.error for words in _WITHOUT_GUEST):
        print(f"engine: {replay}: skipped: {(outcome.error or outcome.out).strip()}", file=sys.stderr)
        items: Items = {}
    else:
        items = ran(outcome, folder, place, f"whatif, {replay}")
    shutil.rmtree(folder)
    return items


# Documents of the commands in the pages


def page_jobs(place: Place) -> list[Job]:
    """Pages of `pages.toml`, each a job: a command may need what the ones before it wrote."""
    pages = tomllib.loads((HERE / "pages.toml").read_text(encoding="utf-8"))["page"]
    return [(page["name"], partial(_page, place, page)) for page in pages]


def _page(place: Place, page: dict[str, Any], mayfly: Mayfly) -> Items:
    folder, items = place.room(f"page {page['name']}"), {}
    for name, text in page.get("files", {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in page.get("make", []):
        (folder / name).write_text(MADE[name](place), encoding="utf-8")
    seen = _stamps(folder)
    for command in page["run"]:
        outcome = mayfly.run(shlex.split(command), folder)
        name = f"{page['name']}: {command}"
        items[name] = {"status": outcome.status} | digests.document(outcome.document(), place.names(), name=name)
        for path, stamp in _stamps(folder).items():
            kept = path.suffix != ".html" and path.name not in PRINTED and "shards" not in path.parts
            if kept and seen.get(path) != stamp:
                items |= digests.file(path, f"{name}: {path.relative_to(folder)}", place.names())
        seen = _stamps(folder)
    shutil.rmtree(folder)
    return items


def _stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def polls(place: Place) -> str:
    """What a router would have told of the queue of captures/red-queue.csv.gz (docs/how-to/live-estimator.md)."""
    sent = dropped = waited = 0
    lines = []
    with gzip.open(place.captures / "red-queue.csv.gz", "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(line for line in stream if not line.startswith("#")):
            waits, drops = round(float(row["queue_mean_packets"]) * 1000), int(float(row["drops"]))
            sent += (int(float(row["arrivals"])) - drops) * 1000 - (waits - waited)
            dropped, waited = dropped + drops, waits
            poll = {"kind": "red", "dev": "eth0", "root": True, "bytes": sent, "drops": dropped, "backlog": waits}
            lines.append(f"{1_700_000_000 + float(row['time_s']):.3f}\n{json.dumps([poll])}\n")
    return "".join(lines)


def sizes(_: Place) -> str:
    """A thousand sizes in bytes over four decades."""
    return "\n".join(str(round(10 ** (2 + 4 * (k * 0.6180339887 % 1)))) for k in range(1000))


MADE = {"polls.txt": polls, "sizes.txt": sizes}


# Verdicts


def verdict_jobs(place: Place) -> list[Job]:
    """All claims of the papers in the quick run."""
    return [("all", partial(_verdicts, place))]


def _verdicts(place: Place, mayfly: Mayfly) -> Items:
    folder = place.room("reproduce")
    arguments = "reproduce all --quick --no-figures --out out --json --quiet"
    outcome = mayfly.run(shlex.split(arguments), folder)
    shutil.rmtree(folder)
    return verdicts(outcome, place)


def verdicts(outcome: Outcome, place: Place) -> Items:
    """An item for each claim and each experiment, and one for the rest of the document."""
    document = outcome.document()
    rows = {
        name: digests.document(row, place.names(), name=name)
        for kind in ("claim", "experiment")
        for row in document.pop(f"{kind}s", [])
        for name in [f"{kind} {row['page']}/{row['id']}"]
    }
    return {"document": {"status": outcome.status} | digests.document(document, place.names())} | rows


# The cores of the kernel modules


def kernel_jobs(place: Place) -> list[Job]:
    """The cores compiled, and their decisions about the traffic of `tests/kernel_core/traces.py`."""
    return [("cores", partial(_cores, place))]


def _cores(place: Place, _: Mayfly) -> Items:
    sys.path.insert(0, str(ROOT / "tests" / "kernel_core"))
    try:
        traces = importlib.import_module("traces")
        rows = importlib.import_module("test_same_decisions").ROWS
    finally:
        sys.path.pop(0)
    built = place.room("cores")
    make = ["make", "-s", "-C", str(place.checkout / "kernel"), "test", f"OUT={built}"]
    subprocess.run(make, check=True, stdout=sys.stderr)
    traffic = {
        "recorded": "\n".join(traces.recorded(2e6)) + "\n",
        "congested": "\n".join(traces.congested(20_000)) + "\n",
        "drawn": "\n".join(traces.drawn(0, 3000, 40)) + "\n",
    }
    items: Items = {f"trace {name}": {"digest": digests.digest(text.encode())} for name, text in traffic.items()}
    for discipline, options in rows:
        for limit in KERNEL_LIMITS:
            for name, text in traffic.items():
                command = [str(built / "decisions"), discipline, limit, *options]
                done = subprocess.run(command, input=text, capture_output=True, text=True)
                items[f"{discipline} {limit} {' '.join(options)}: {name}"] = {
                    "status": done.returncode,
                    "lines": done.stdout.count("\n"),
                    "decisions": digests.digest(done.stdout.encode()),
                }
    shutil.rmtree(built)
    return items


# Profiles of captures

BINS = {"tcptrace_http.dmp.gz": "1h"}
"""Width of the bins of captures of years, where the default is refused."""


def profile_jobs(place: Place) -> list[Job]:
    """Every capture of the repository and beside it, those of archives too."""
    files = [path for folder in (place.captures, place.recorded) for path in _captures_in(folder)]
    jobs: list[Job] = [(path.name, partial(_profile, place, path)) for path in files]
    archives = sorted(place.recorded.glob("*.tar.gz"))
    jobs += [(path.name, partial(_archive, place, path)) for path in archives]
    logs = sorted(place.recorded.glob("flows/*.log.gz"))
    return jobs + [(path.name, partial(_flows, place, path)) for path in logs]


def _captures_in(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if re.search(r"\.(pcap|pcapng|dmp)(\.gz)?$", path.name):
            yield path


def _profile(place: Place, path: Path, mayfly: Mayfly) -> Items:
    folder = place.room(f"profile {path.name}")
    (folder / path.name).symlink_to(path)
    items: Items = {}
    width = ["--bin", BINS[path.name]] if path.name in BINS else []
    for way, options in (("profile", ["--trains", *width]), ("connections", ["--connections"])):
        outcome = mayfly.run(["profile", path.name, *options, "--out", way, "--json", "--quiet"], folder)
        items |= ran(outcome, folder / way, place, f"{path.name}: {way}")
    shutil.rmtree(folder)
    return items


def _archive(place: Place, path: Path, mayfly: Mayfly) -> Items:
    """Hundreds of small captures, mostly broken on purpose: without fits and report, in one process."""
    folder, items = place.room(f"archive {path.name}"), {}
    with tarfile.open(path) as archive:
        archive.extractall(folder / "in", filter="data")
    for capture in _captures_in(folder / "in"):
        asked = ["profile", str(capture.relative_to(folder)), "--connections", "--out", "out", "--json", "--quiet"]
        outcome = mayfly.run_many(asked, folder)
        name = f"{path.name}: {capture.name}"
        items[name] = {"status": outcome.status} | digests.document(outcome.document(), place.names(), depth=2)
        table = folder / "out" / "connections.parquet"
        if table.exists():
            items[f"{name}: connections.parquet"] = digests.table(digests.read_table(table))
        shutil.rmtree(folder / "out", ignore_errors=True)
    shutil.rmtree(folder)
    return items


def _flows(place: Place, path: Path, mayfly: Mayfly) -> Items:
    folder = place.room(f"flows {path.name}")
    (folder / path.name).symlink_to(path)
    outcome = mayfly.run(["workload", "convert", path.name, "flows.parquet", "--json"], folder)
    items = ran(outcome, folder, place, path.name)
    shutil.rmtree(folder)
    return items


PARTS: dict[str, Callable[[Place], list[Job]]] = {
    "scenarios": scenario_jobs,
    "engine": engine_jobs,
    "json": page_jobs,
    "verdicts": verdict_jobs,
    "kernel-core": kernel_jobs,
    "profile": profile_jobs,
}


def freeze(jobs: Sequence[Job], workers: Sequence[Mayfly], told: Callable[[str], None]) -> Items:
    """All items of the jobs in their order, as many jobs at a time as there are workers."""
    free = list(workers)

    def one(job: Job) -> Items:
        name, work = job
        mayfly = free.pop()
        try:
            items = work(mayfly)
        finally:
            free.append(mayfly)
        told(name)
        return items

    with ExitStack() as stack:
        for worker in workers:
            stack.callback(worker.close)
        pool = stack.enter_context(ThreadPoolExecutor(len(workers)))
        found: Items = {}
        for items in pool.map(one, jobs):
            found |= items
        return found
