"""The registry of attacks: users who bend their traffic to the scheduler. Each attack is one row of :data:`ATTACKS`.

Principle: an attack is a source of a scenario, and one field of this source is its strength. ``mayfly gaming``,
``mayfly arena``, the page of ``mayfly explore``, the tests in the kernel and the ready scenarios ``gaming-*`` take the
source from the row. The row says which of them run the attack, and with which strengths.

``python -m mayfly.scenario.attacks`` writes the sources into the ready scenarios ``gaming-ID``.
Source: ``docs/how-to/gaming.md``; `address-flood` was found by ``benchmarks/attack_search.py``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Value = str | int | bool


@dataclass(frozen=True)
class Strength:
    """The field of a source that an attacker turns up.

    Parameters
    ----------
    field : str
        Its name in the scenario.
    unit : str
        Of its bounds.
    least, most : int
        Bounds, both included.
    value : callable
        The field as a scenario has it, from a number of :class:`Cases`.
    asked : str
        The field of a request of the page that sets it; empty where the page has none.
    template : str
        TOML of its value in the templates of the page.
    """

    field: str
    unit: str
    least: int
    most: int
    value: Callable[[int], Value]
    asked: str = ""
    template: str = ""


def _share(percent: int) -> str:
    """A share of the link of the scenarios ``gaming-*``, 10 Mbit/s."""
    return f"{percent / 10}mbit"


RATE = Strength("rate", "bit/s", 1_000, 100_000_000_000, _share, "rate_bps", '"{rate}"')
CONNECTIONS = Strength("flows", "connections", 1, 256, int, "connections", "{connections}")
LOAD = Strength("load", "bit/s", 1_000, 100_000_000_000, _share)


@dataclass(frozen=True)
class Part:
    """A part of ``mayfly gaming``: one table with a column for each case, of one attack or of several that are alike.

    Parameters
    ----------
    title : str
        Heading.
    tables : str
        Subject of its folded tables.
    curve, axis : str
        Title of its curves, and their abscissa.
    """

    title: str
    tables: str
    curve: str
    axis: str


@dataclass(frozen=True)
class Cases:
    """The cases of an attack in ``mayfly gaming``.

    Parameters
    ----------
    strengths : tuple of int
        Percent of the link, or connections; one case for each.
    part : Part or str
        Their part, which the attack gives its name; or the id of the attack whose part they share.
    case, label : str
        Id and head of a case; ``{}`` stands for its strength.
    kernel : tuple of int
        Strengths that ``tests/kernel/test_rivals.py`` runs in the kernel too.
    key : str
        Name in the overview of the largest fair share over the strengths; empty for none, as are the next two.
    column : str
        Head of its column in the overview.
    rule, where : str
        Task of a discipline, in the imperative, and an addition to its bound.
    """

    strengths: tuple[int, ...]
    part: Part | str
    case: str
    label: str = "{} %"
    kernel: tuple[int, ...] = ()
    key: str = ""
    column: str = ""
    rule: str = ""
    where: str = ""


@dataclass(frozen=True)
class Board:
    """The experiment of an attack in ``mayfly arena``.

    Parameters
    ----------
    says : str
        The experiment, for a reader.
    words : str
        The same in few words, for the titles of its rows.
    changed : mapping
        Fields of the source that have another value there.
    quick_s : float
        Duration with ``--quick``, s.
    guest_s : float
        Duration in ``benchmarks/one_guest.py``, s; 0 where it does not run there.
    guest_words : str
        Its words there; those of the arena when empty.
    """

    says: str
    words: str
    changed: Mapping[str, Value] = field(default_factory=dict)
    quick_s: float = 60.0
    guest_s: float = 0.0
    guest_words: str = ""


@dataclass(frozen=True)
class Attack:
    """One attack.

    Parameters
    ----------
    id : str
    title : str
        Its name in words.
    summary : str
        One sentence: the traffic of the attacker.
    aims_at : str
        The disciplines that it deceives, or the users that it harms.
    scenario : str
        Ready scenario with the users that it meets; a source of the same kind there gives way to it.
    source : str
        Kind of source; empty for the fields of ``[workload]`` itself.
    fields : mapping
        Of the source, in the order of a scenario file.
    strength : Strength
    cases : Cases, optional
        In ``mayfly gaming``; not there when None, as in the next two.
    board : Board, optional
        In ``mayfly arena``.
    page : mapping, optional
        On the page of ``mayfly explore``: fields of the source that have another value there.
    """

    id: str
    title: str
    summary: str
    aims_at: str
    scenario: str
    source: str
    fields: Mapping[str, Value]
    strength: Strength
    cases: Cases | None = None
    board: Board | None = None
    page: Mapping[str, Value] | None = None

    @property
    def group(self) -> str:
        """Group of its flows."""
        return str(self.fields["group"])

    @property
    def joins(self) -> bool:
        """Whether it is a user who meets the groups ``long`` and ``short``; a flood is the short ones themselves."""
        return self.group == ATTACKER

    @property
    def renews(self) -> bool:
        """Whether the sender goes on under other ports or addresses."""
        return "renew" in self.fields

    def workload(self, changed: Mapping[str, Value]) -> dict[str, Any]:
        """The fields of ``[workload]`` that make it.

        Parameters
        ----------
        changed : mapping
            Fields of the source that have another value.

        Examples
        --------
        >>> attack("spaced").workload({"rate": "1mbit"})
        {'cbr': [{'rate': '1mbit', 'users': 1, 'group': 'attacker'}]}
        """
        own = {**self.fields, **changed}
        return {self.source: [own]} if self.source else own

    @property
    def case_ids(self) -> list[str]:
        """Ids of its cases in ``mayfly gaming``."""
        return [] if self.cases is None else list(map(self.cases.case.format, self.cases.strengths))

    @property
    def kernel_ids(self) -> list[str]:
        """Ids of those that run in the kernel too."""
        return [] if self.cases is None else list(map(self.cases.case.format, self.cases.kernel))

    def lines(self, changed: Mapping[str, Value], strength: str = "") -> list[str]:
        """The fields of the source as lines of TOML.

        Parameters
        ----------
        changed : mapping
            Fields that have another value.
        strength : str
            TOML in the place of the strength, where it is given.

        Examples
        --------
        >>> attack("spaced").lines({"users": 2}, "'{rate}'")
        ["rate = '{rate}'", 'users = 2', 'group = "attacker"']
        """
        own = {name: _toml(value) for name, value in {**self.fields, **changed}.items()}
        own |= {self.strength.field: strength} if strength else {}
        return [f"{name} = {text}" for name, text in own.items()]

    def section(self, changed: Mapping[str, Value], strength: str = "") -> str:
        """The same as a section of a scenario file."""
        return "\n".join([f"[[workload.{self.source}]]", *self.lines(changed, strength), ""])


def _toml(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


ATTACKER = "attacker"
"""Group of an attacker that is one user."""

_SPACED = Part(
    "A sender who spaces its packets so that it always looks new",
    "the spaced sender, at each rate",
    "The spaced sender over its rate",
    "rate of the sender, share of the link",
)
_SPLIT = Part(
    "One transfer split over several connections",
    "the split transfer, by connections",
    "The split transfer over its connections",
    "connections of the transfer",
)
_OVERLOAD = Part(
    "Short transfers that offer more than the link carries",
    "overload, at each load",
    "What overload leaves the long transfers",
    "offered by the short transfers, share of the link",
)

ATTACKS: tuple[Attack, ...] = (
    Attack(
        "spaced",
        "Spaced sender",
        "UDP at a constant rate, one packet at a time: when one arrives the last has often left, so that the flow "
        "looks new every time.",
        "disciplines that forget a flow when its last packet has left",
        "gaming-spaced",
        "cbr",
        {"rate": "5mbit", "users": 1, "group": ATTACKER},
        RATE,
        Cases(
            (20, 50, 70, 90),
            _SPACED,
            "spaced-{}",
            kernel=(50,),
            key="spaced",
            column="spaced\nsender",
            rule="Hold a spaced sender",
            where=" at any rate",
        ),
        Board("evenly spaced UDP at half the link against long and short transfers", "spaced sender"),
        page={},
    ),
    Attack(
        "new-ports",
        "New ports",
        "UDP at a constant rate that goes on from another port every ten packets, so that it is always a new flow.",
        "disciplines that know a sender by its ports",
        "gaming-spaced",
        "cbr",
        {"rate": "5mbit", "renew": 10, "users": 1, "group": ATTACKER},
        RATE,
        Cases(
            (50, 90),
            "spaced",
            "spaced-{}-renewed",
            "{} %, new port every 10 packets",
            kernel=(90,),
            key="renewed",
            column="spaced,\nnew ports",
            rule="Hold it when it changes ports",
        ),
        Board(
            "the same with another port every ten packets",
            "spaced sender, new ports",
            guest_s=30.0,
            guest_words="half the link, new ports",
        ),
    ),
    Attack(
        "new-addresses",
        "New addresses",
        "UDP at a constant rate that goes on from another address every ten packets, so that it is always a new user.",
        "disciplines that know a sender by its address",
        "gaming-new-addresses",
        "cbr",
        {"rate": "5mbit", "renew": 10, "renew_hosts": True, "users": 1, "group": ATTACKER},
        RATE,
        board=Board(
            "the same with other addresses every ten packets",
            "spaced sender, new addresses",
            guest_s=30.0,
            guest_words="half the link, new addresses",
        ),
        page={},
    ),
    Attack(
        "kept-addresses",
        "Kept addresses",
        "UDP at a constant rate that goes on from another address every 80 packets, so that each outlives a probation "
        "of new users.",
        "disciplines with a probation for new addresses",
        "gaming-new-addresses",
        "cbr",
        {"rate": "5mbit", "renew": 80, "renew_hosts": True, "users": 1, "group": ATTACKER},
        RATE,
        board=Board(
            "the same with other addresses every 80 packets, 0.2 s: each is kept for longer than the probation of lfq",
            "spaced sender, addresses kept for 0.2 s",
        ),
    ),
    Attack(
        "address-flood",
        "Flood of addresses",
        "UDP in three flows of small packets, each from another address every two packets, 1,300 addresses a second.",
        "disciplines that give each new address a first turn",
        "gaming-new-addresses",
        "cbr",
        {
            "rate": "3mbit",
            "packet": 428,
            "flows": 3,
            "users": 1,
            "spread": "100ms",
            "renew": 2,
            "renew_hosts": True,
            "group": ATTACKER,
        },
        RATE,
        board=Board(
            "UDP of 9 Mbit/s from other addresses every two packets, 1,300 a second: the worst that a search found for "
            "lfq",
            "flood of new addresses",
        ),
    ),
    Attack(
        "split",
        "Split transfer",
        "5 MB again and again, split evenly over several connections between the same two hosts.",
        "disciplines that share the link by connections",
        "gaming-split",
        "batch",
        {"size": "5MB", "flows": 8, "start": "10s", "every": "60s", "users": 1, "group": ATTACKER},
        CONNECTIONS,
        Cases(
            (1, 2, 4, 8, 16, 32, 64),
            _SPLIT,
            "split-{}",
            "{}",
            kernel=(8, 64),
            key="split",
            column="split\ntransfer",
            rule="Hold a split transfer",
        ),
        Board(
            "5 MB a minute over 16 connections against long and short transfers",
            "transfer split in 16",
            {"flows": 16},
            quick_s=130.0,
            guest_s=45.0,
            guest_words="5 MB over 16 connections",
        ),
        # A run of the page lasts 20 s.
        page={"start": "2s", "every": "10s"},
    ),
    Attack(
        "overload",
        "Overload",
        "Sixteen users fetch 4 to 40 packets each time, more in all than the link carries, and do not relent.",
        "long transfers, where short ones go first",
        "gaming-overload",
        "",
        {"load": "15mbit", "group": "flood"},
        LOAD,
        Cases((80, 110, 150), _OVERLOAD, "overload-{}", kernel=(110, 80)),
        Board(
            "short transfers that offer 1.1 times the link, beside three long ones",
            "short ones in overload",
            {"load": "11mbit"},
            guest_s=40.0,
            guest_words="overload 1.1",
        ),
    ),
)
"""In the order of tables and boards."""


PARTS = {row.id: row.cases.part for row in ATTACKS if row.cases is not None and isinstance(row.cases.part, Part)}
"""Parts of ``mayfly gaming``, by the id of the attack that each is named after."""


def attack(id: str) -> Attack:
    """The row of an attack, which there must be.

    Examples
    --------
    >>> attack("split").strength.most
    256
    """
    return next(row for row in ATTACKS if row.id == id)


def written(row: Attack, scenario: str) -> str:
    """A scenario file with the source of an attack in the place of its last section, which is a source of that kind."""
    return scenario.partition(f"[[workload.{row.source}]]")[0] + row.section({})


def main() -> None:
    """``python -m mayfly.scenario.attacks``."""
    for row in ATTACKS:
        path = Path(__file__).parent.parent / "scenarios" / f"gaming-{row.id}.toml"
        if row.source and path.exists():
            path.write_text(written(row, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
