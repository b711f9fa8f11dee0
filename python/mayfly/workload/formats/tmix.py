"""Connection vectors of Tmix: the original format (SEQ, CONC) and the alternate one of ns-2 (S, C).

A vector lists what the initiator (``>``, ``I``) and the acceptor (``<``, ``A``) of a TCP connection send and how long
each waits before: after what it received, or after what it sent. Times are microseconds. Source: Weigle, Adurthi,
Hernandez-Campos, Jeffay and Smith 2006, "Tmix", ACM CCR 36(3); the ns manual, ch. "Tmix", for both formats.

In a flow list the acceptor is the sender of a flow ``down`` that the initiator opens. A sequential vector is a script.
The two sides of a concurrent one do not wait for each other, as no script can: it becomes two flows at its start.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.text.files import reading
from mayfly.text.readable import printable
from mayfly.workload import scripts
from mayfly.workload.account import account_of_rows
from mayfly.workload.formats.format import Format, Rules, first_words, lines
from mayfly.workload.lists import flow_list
from mayfly.workload.scripts import Train

HEADS = {"SEQ": 4, "S": 4, "CONC": 5, "C": 5}
"""Numbers behind the first word of a vector."""

WINDOW_BYTES = 65535
"""Window of both sides in what is written: the largest without scaling; a flow list has none."""

WAYS = {">": "up", "c>": "up", "I": "up", "<": "down", "c<": "down", "A": "down"}


@dataclass
class Vector:
    """One connection vector: start, round-trip time, and the trains of each side or of both in turn."""

    row: int
    kind: str
    start_us: int
    rtt_us: int = 0
    trains: list[Train] = field(default_factory=list)
    waits_us: dict[str, int] = field(default_factory=dict)

    @property
    def concurrent(self) -> bool:
        """Whether its sides do not wait for each other."""
        return self.kind in ("CONC", "C")


def vectors(path: Path) -> Iterator[Vector]:
    """Vectors of a file, one at a time.

    Raises
    ------
    MayflyError
        A line is none of a vector; with its number.
    """
    source, vector = printable(path), None
    with reading(source), lines(path) as text:
        for row, line in enumerate(text, 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if words[0] in HEADS:
                if vector is not None:
                    yield vector
                numbers = _numbers(words, HEADS[words[0]], row, source)
                vector = Vector(row, words[0], numbers[0])
            elif vector is None:
                raise MayflyError(f"{source}: line {row}: {printable(line.strip())}: must come after SEQ, CONC, S or C")
            else:
                _add(vector, words, row, source)
    if vector is not None:
        yield vector


def _numbers(words: list[str], n: int, row: int, source: str) -> list[int]:
    found = words[1:]
    if len(found) != n or not all(word.isascii() and word.isdecimal() and len(word) <= 15 for word in found):
        line = printable(" ".join(words))
        raise MayflyError(f"{source}: line {row}: {line}: must be {words[0]} and {n} whole numbers of 1 to 15 digits")
    return [int(word) for word in found]


def _add(vector: Vector, words: list[str], row: int, source: str) -> None:
    """Add what a line says to the vector."""
    word, original = words[0], vector.kind in ("SEQ", "CONC")
    if word in ("w", "m", "l"):
        return
    if word == "r":
        vector.rtt_us = _numbers(words, 1, row, source)[0]
        return
    known = {"SEQ": (">", "<", "t"), "CONC": ("c>", "c<", "t>", "t<")}.get(vector.kind, ("I", "A"))
    if word not in known:
        raise MayflyError(f"{source}: line {row}: {printable(word)}: must be w, r, m, l or {', '.join(known)}")
    if not original:
        sent_us, received_us, size = _numbers(words, 3, row, source)
        _train(vector, WAYS[word], size, max(sent_us, received_us), row, source)
    elif word.startswith("t"):
        vector.waits_us[word[1:]] = _numbers(words, 1, row, source)[0]
    else:
        side = word[1:] if vector.concurrent else ""
        _train(vector, WAYS[word], _numbers(words, 1, row, source)[0], vector.waits_us.pop(side, 0), row, source)


def _train(vector: Vector, way: str, size: int, wait_us: int, row: int, source: str) -> None:
    """Add a train; one without bytes is the FIN."""
    if size > scripts.MOST_BYTES:
        raise MayflyError(f"{source}: line {row}: {size}: must be at most 2^40 bytes")
    if wait_us > scripts.LONGEST_S * 1e6:
        raise MayflyError(f"{source}: line {row}: a wait of {wait_us} us: must be at most a day")
    if size:
        vector.trains.append(Train(way == "up", size, wait_us * 1000))


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    types: dict[str, Any] = {"start_s": pl.Float64, "src": pl.Int64, "dst": pl.Int64, "direction": pl.String}
    types |= {"opened_by": pl.String}
    types |= {"rtt_s": pl.Float64, "size_bytes": pl.Int64, "script": scripts.SCRIPT}
    rows, account = list[tuple[Any, ...]](), _native.Account()
    for vector in vectors(path):
        size = sum(train.size_bytes for train in vector.trains)
        account.see(1, size)
        # One that is concurrent is two flows.
        found = list(_flows(vector))
        rows += found
        if found and (rules.until_s is None or vector.start_us / 1e6 < rules.until_s):
            account.take(1, size)
        else:
            account.leave_out("aside", 1, size)
    if not rows:
        raise MayflyError(f"{printable(path)}: no connection vector that carries anything: must hold at least one")
    rules.accounts.append(account_of_rows(account, path))
    return flow_list(pl.DataFrame(rows, schema=types, orient="row"), mss=rules.mss, source=printable(path))


def _flows(vector: Vector) -> Iterator[tuple[Any, ...]]:
    """Flows of a vector: one, of the direction of its acceptor if that sends at all; two where it is concurrent."""
    ways = [way for way in ("down", "up") if any(train.up == (way == "up") for train in vector.trains)]
    for way in ways if vector.concurrent else ways[:1]:
        trains = [train for train in vector.trains if not vector.concurrent or train.up == (way == "up")]
        plain = len(trains) == 1 and not trains[0].wait_ns
        # One cloud of hosts at each end, as in ns-2.
        ends = (1, 2, "down", "receiver") if way == "down" else (2, 1, "up", "sender")
        size_bytes = sum(train.size_bytes for train in trains)
        script = None if plain else [vars(train) for train in trains]
        yield vector.start_us / 1e6, *ends, vector.rtt_us / 1e6 or None, size_bytes, script


def _exchanges(flows: pl.DataFrame) -> Iterator[tuple[int, float, float | None, list[tuple[str, int, int]]]]:
    """Of each flow its row, start, round-trip time, and side, bytes and wait in microseconds of its trains."""
    scripted = "script" in flows.columns
    names = ["start_s", "rtt_s", "direction", "opened_by", "size_bytes", *(["script"] if scripted else [])]
    for row, found in enumerate(flows.select(names).iter_rows(), 1):
        start_s, rtt_s, direction, opened_by, size_bytes, *script = found
        own = "I" if opened_by == "sender" else "A"
        other = "A" if own == "I" else "I"
        up = direction == "up"
        trains = scripts.trains(script[0]) if script and script[0] else [Train(up, size_bytes)]
        told = [(own if t.up == up else other, t.size_bytes, round(t.wait_ns / 1000)) for t in trains]
        yield row, start_s + told[0][2] * 1e-6, rtt_s, told


def _lost(flows: pl.DataFrame, kept: pl.DataFrame) -> list[str]:
    told = []
    for wrong, words in (
        (flows["protocol"] == "udp", "UDP flows were left out"),
        (flows["after"].is_not_null(), "flows that start after others were left out"),
    ):
        if wrong.any():
            told.append(f"{wrong.sum()} {words}")
    if "script" in kept.columns:
        train, listed = pl.element().struct, pl.col("script").list
        parted = ~train.field("streams") & (train.field("parts").list.len() > 0)
        paced, parts, waiting = kept.select(
            listed.eval((train.field("pace_ns") > 0).any()).list.first().sum().alias("paced"),
            listed.eval(parted.any()).list.first().sum().alias("parted"),
            (listed.first().struct.field("wait_ns") > 0).sum().alias("waiting"),
        ).row(0)
        for held, words in ((paced, "scripts lost their pace"), (parts, "scripts lost their parts")):
            if held:
                told.append(f"{held} {words}")
        if held := waiting:
            told.append(f"{held} scripts that begin with a wait start so much later")
    if flipped := (kept["direction"].eq("down") == kept["opened_by"].eq("sender")).sum():
        told.append(
            f"{flipped} flows are opened from the far side, which vectors do not say: they are read as opened here"
        )
    if nothing := kept["rtt_s"].null_count():
        told.append(f"{nothing} flows have no round-trip time: r 0")
    return told


def _written(flows: pl.DataFrame, path: Path, alternate: bool) -> list[str]:
    kept = flows.filter((pl.col("protocol") == "tcp") & pl.col("after").is_null())
    if kept.height == 0:
        raise MayflyError("no flow is left: connection vectors hold TCP flows that wait for no others")
    with path.open("w", encoding="ascii", newline="\n") as file:
        for row, start_s, rtt_s, trains in _exchanges(kept):
            head = f"{'S' if alternate else 'SEQ'} {round(start_s * 1e6)} {_epochs(trains)} {row} {row}\n"
            file.write(f"{head}w {WINDOW_BYTES} {WINDOW_BYTES}\nr {round((rtt_s or 0) * 1e6)}\nl 0.000000 0.000000\n")
            file.write("".join(_lines(trains, alternate)))
    return _lost(flows, kept)


def _epochs(trains: list[tuple[str, int, int]]) -> int:
    """Exchanges: how often the initiator begins to send, at least 1."""
    sides = [side for side, *_ in trains]
    return max(1, sum(side == "I" and before != "I" for before, side in zip(["", *sides], sides, strict=False)))


def _lines(trains: list[tuple[str, int, int]], alternate: bool) -> Iterator[str]:
    """Lines of the trains and of the FIN, which the side that sent last sends a microsecond later."""
    before = None
    for side, size, wait_us in trains:
        # Without a wait ns-2 would not wait for the other side either.
        wait_us = max(1, wait_us) if before else 0
        if alternate:
            waits = f"{wait_us} 0" if side == before else f"0 {wait_us}"
            yield f"{side} {waits} {size}\n"
        else:
            yield f"{f't {wait_us}' + chr(10) if before else ''}{'>' if side == 'I' else '<'} {size}\n"
        before = side
    yield f"{before} 1 0 0\n" if alternate else "t 1\n"


def _begins(*kinds: str) -> Callable[[bytes], bool]:
    def sniff(head: bytes) -> bool:
        found = [line for line in first_words(head) if not line.startswith("#")]
        words = found[0].split() if found else []
        return len(words) > 1 and words[0] in kinds and words[1].isdecimal()

    return sniff


HOLDS = "TCP connections as trains and waits; a concurrent vector is read as two flows; windows and losses are not read"

ORIGINAL = Format(
    id="tmix",
    title="connection vectors of Tmix, original format",
    holds=HOLDS,
    suffixes=(".cvec",),
    sniff=_begins("SEQ", "CONC"),
    read=_read,
    write=lambda flows, path, _: _written(flows, path, alternate=False),
    source="Weigle et al. 2006",
)

ALTERNATE = Format(
    id="tmix-ns2",
    title="connection vectors of Tmix, alternate format of ns-2",
    holds=HOLDS,
    suffixes=(".ns2.cvec",),
    sniff=_begins("S", "C"),
    read=_read,
    write=lambda flows, path, _: _written(flows, path, alternate=True),
    source="the ns manual, ch. Tmix",
)
