"""What to use: one discipline chosen by the rule of docs/recommendation.md, or why none is worth it.

The rule is over what users feel (:mod:`mayfly.comparison.criteria`), never over one mean. A difference counts when it
is noticed and when the same resampled hours say that it is no chance. Of those who can be switched on, the one is
chosen that is least worse than the best of each criterion; where the choice makes no difference, what Linux has
already and what is simplest goes first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mayfly.comparison.choice import baseline
from mayfly.comparison.criteria import CRITERIA, Difference, Row, difference, unfinished_share
from mayfly.discipline_registry import Discipline, disciplines, runs_on
from mayfly.discipline_registry.commands import switch_on

RULE = "recommendation"
"""Page of the documentation that states the rule."""

FULL = 0.8
"""Share of its rate that a link must send in some second to be full at times."""

CALM_MS = 10.0
"""Ping under load above the idle one, ms, below which a queue is not felt."""

LOST = 0.01
"""Share of transfers that never finish, or of UDP packets where there are none, from which more comes than fits."""

_SIMPLE = ("fifo", "fq_codel", "codel", "pie", "cake")
"""Disciplines of Linux by what they ask of who runs them; fq_codel is the default of most distributions."""

_PLACES = ("kernel", "module", "bpf")

_WHERE = {
    "kernel": "it is in your kernel",
    "module": "it comes with Mayfly's kernel module",
    "bpf": "it comes as a BPF qdisc",
}


def recommendation(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """What to use on this link.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``: rows with ``users``, ``links`` and, where hours were resampled, ``resampled``.

    Returns
    -------
    dict or None
        ``kind`` (``use``, ``no_difference``, ``never_full`` or ``overloaded``), ``discipline``, ``equal``, ``runs_on``,
        ``gives``, ``costs``, ``command``, ``commands``, ``doubt``, ``sentence`` and ``rule``. None with fewer than two
        disciplines, without what users feel, or for a network that is not one link.
    """
    rows = [row for row in summary["disciplines"] if _where(row)]
    reference = baseline(rows)
    network = (summary.get("scenario") or {}).get("network") or {}
    if reference is None or len(rows) < 2 or network.get("topology", "dumbbell") != "dumbbell" or network.get("wlan"):
        return None
    if not any(criterion.value(row) is not None for row in rows for criterion in CRITERIA[1:]):
        return None
    best, equal = chosen(rows)
    found = _differences(best, reference)
    # The reference may be as good as the best, though neither is the other.
    same = best is reference or any(row is reference for row in equal)
    never = _never_full(reference)
    if same and never is not None:
        return _told("never_full", None, [], f"{never} No discipline will help.{_overflows(reference)}", summary)
    lost = _overload(rows, summary)
    if lost is not None:
        return _overloaded(lost, best, found, same, summary)
    if same:
        return _no_difference(best, reference, [row for row in rows if row is not best], equal, summary)
    return _use(best, equal, found, summary)


def _where(row: Row) -> list[str]:
    """Places where a discipline can be switched on; empty for simulation only and for bounds."""
    places = row.get("runs_on") or runs_on(row["id"])
    return [place for place in places if place in _PLACES]


def _differences(row: Row, other: Row) -> list[Difference]:
    return [found for criterion in CRITERIA if (found := difference(criterion, row, other)) is not None]


def _regret(row: Row, rows: Sequence[Row]) -> float:
    """Doublings by which a discipline is worse than the best of each criterion, as far as they count."""
    total = 0.0
    for criterion in CRITERIA:
        found = [one for other in rows if other is not row and (one := difference(criterion, row, other)) is not None]
        total += max((one.worse_by for one in found), default=0.0) if found else 0.0
    return total


def chosen(rows: Sequence[Row]) -> tuple[Row, list[Row]]:
    """The discipline of least regret, and those that do not differ from it in anything that counts.

    Parameters
    ----------
    rows : sequence of mapping
        Of disciplines that can be switched on, with ``users``.

    Returns
    -------
    mapping, list of mapping
    """
    regret = {row["label"]: max(0.0, _regret(row, rows)) for row in rows}
    first = min(rows, key=lambda row: (regret[row["label"]], _simplicity(row)))
    alike = [row for row in rows if row is not first and not any(one.counts for one in _differences(row, first))]
    best = min([first, *alike], key=_simplicity)
    return best, [row for row in (first, *alike) if row is not best]


def _simplicity(row: Row) -> tuple[int, int, int]:
    """In Linux before a module, a module before BPF alone; then the simplest; options cost a decision more."""
    place = min(_PLACES.index(where) for where in _where(row))
    simple = _SIMPLE.index(row["id"]) if row["id"] in _SIMPLE else len(_SIMPLE)
    return place, simple, len(row.get("options") or {})


def _never_full(row: Row) -> str | None:
    """Why no queue forms, where none does."""
    links = row.get("links") or {}
    peaks = [link.get("peak_utilisation") for link in links.values() if link]
    ping = (row.get("users") or {}).get("ping") or {}
    if not peaks or any(peak is None or peak >= FULL for peak in peaks):
        return None
    if None not in (ping.get("p95_ms"), ping.get("idle_ms")) and ping["p95_ms"] - ping["idle_ms"] > CALM_MS:
        return None
    used = max(link["utilisation"] or 0.0 for link in links.values() if link)
    return f"This link is never full ({_share(used)} used, {_share(max(peaks))} in its busiest second)."


def _overflows(row: Row) -> str:
    """A sentence where short bursts overflow the buffer of a link that is never full, with a space before it."""
    links = row.get("links") or {}
    drops = {way: link["drops"] for way, link in links.items() if link and link.get("drops")}
    if not drops:
        return ""
    counted = " and ".join(f"{count:,} {way}" for way, count in sorted(drops.items(), key=lambda item: -item[1]))
    return (
        f" Bursts shorter than a second overflow its buffer all the same (packets dropped under {row['label']}: "
        f"{counted}): a larger one would hold them."
    )


def _overload(rows: Sequence[Row], summary: Mapping[str, Any]) -> tuple[float, str] | None:
    """Offered load of the busier direction and what is lost under every discipline, where more comes than fits."""
    links = summary.get("links") or {}
    loads = [link["load"] for link in (links.get("down"), links.get("up")) if link and link.get("load") is not None]
    if not loads or max(loads) <= 1:
        return None
    lost = [share for row in rows if (share := unfinished_share(row)) is not None]
    if lost and min(lost) >= LOST:
        return max(loads), f"{_share(min(lost))} of transfers or more never finish"
    # Without transfers it is the packets of UDP that nobody sends again.
    lost = [row["udp"]["loss"] for row in rows if row.get("udp") and row["udp"].get("loss") is not None]
    if lost and min(lost) >= LOST and not any((row.get("users") or {}).get("transfers") for row in rows):
        return max(loads), f"{_share(min(lost))} of UDP packets or more are lost"
    return None


def _overloaded(
    overload: tuple[float, str],
    best: Row,
    found: Sequence[Difference],
    same: bool,
    summary: Mapping[str, Any],
) -> dict[str, Any]:
    load, lost = overload
    sentence = (
        f"This link is overloaded: {load:.1f} times its rate comes, and {lost} whatever the discipline. Buy rate or "
        "shed load first."
    )
    if same:
        return _told("overloaded", None, [], sentence, summary)
    gives, costs = _sides(found)
    sentence += f" Until then {best['label']} does least harm: {_clauses(gives, costs, found, first=False)}."
    return _told("overloaded", best, [], sentence, summary, gives, costs)


def _no_difference(
    best: Row, reference: Row, others: Sequence[Row], equal: Sequence[Row], summary: Mapping[str, Any]
) -> dict[str, Any]:
    alike = [row["label"] for row in (best, *equal) if row is not reference]
    worse = [row["label"] for row in others if row is not reference and row["label"] not in alike]
    if alike:
        sentence = f"No measurable difference between {reference['label']} and {_listed(alike)}: keep what is there."
    else:
        sentence = f"Keep {reference['label']}: nothing tried does better."
    if worse and alike:
        sentence += f" {_listed(worse)[:1].upper() + _listed(worse)[1:]} {'does' if len(worse) == 1 else 'do'} worse."
    return _told("no_difference", None, [reference["label"], *alike], sentence, summary)


def _use(best: Row, equal: Sequence[Row], found: Sequence[Difference], summary: Mapping[str, Any]) -> dict[str, Any]:
    gives, costs = _sides(found)
    names = [row["label"] for row in equal]
    where = next(_WHERE[place] for place in _PLACES if place in _where(best))
    since = next((row["runs_on"]["since"] for row in disciplines() if row["id"] == best["id"]), "")
    if since and best["id"] == "dualpi2":
        where = f"it is in Linux since {since}"
    sentence = f"Use {best['label']}: {where}. {_clauses(gives, costs, found)}."
    if names:
        listed = _listed(names)
        sentence += f" {listed[:1].upper()}{listed[1:]} {'does' if len(names) == 1 else 'do'} as well."
    return _told("use", best, names, sentence, summary, gives, costs)


def _sides(found: Sequence[Difference]) -> tuple[list[str], list[str]]:
    gives = [one.text() for one in found if one.worse_by < 0]
    costs = [one.text() for one in found if one.worse_by > 0]
    return gives, costs


def _clauses(gives: Sequence[str], costs: Sequence[str], found: Sequence[Difference], first: bool = True) -> str:
    text = ", ".join(gives) if gives else "nothing that is felt"
    text = text[:1].upper() + text[1:] if first else text
    if costs:
        return f"{text}; the price: {', '.join(costs)}"
    # What would be felt, but may be chance, is no price; to call it nothing would hide it.
    doubtful = [one.text() for one in found if one.is_noticed_as_worse]
    if doubtful:
        return f"{text}; no price that is more than chance ({', '.join(doubtful)})"
    return f"{text}; it costs nothing that is felt"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _share(share: float) -> str:
    """Per cent, as many digits as say something."""
    return f"{100 * share:.2g} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"


def _told(
    kind: str,
    row: Row | None,
    equal: list[str],
    sentence: str,
    summary: Mapping[str, Any],
    gives: Sequence[str] = (),
    costs: Sequence[str] = (),
) -> dict[str, Any]:
    lines = None if row is None else _commands(row, summary)
    resamples = (summary.get("resampling") or {}).get("hours") or 0
    sure = resamples or (summary.get("replications") or 1) > 1 or kind == "never_full"
    doubt = "" if sure else "One run: its intervals are of its flows alone, so differences count from a fifth on."
    return {
        "kind": kind,
        "discipline": None if row is None else row["label"],
        "equal": equal,
        "runs_on": [] if row is None else list(row.get("runs_on") or runs_on(row["id"])),
        "gives": list(gives),
        "costs": list(costs),
        "command": None if lines is None else lines["line"],
        "commands": lines,
        "doubt": doubt,
        "sentence": sentence if lines is None else f"{sentence} `{lines['line']}`",
        "rule": RULE,
    }


def _commands(row: Row, summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """How to switch it on in front of this link; the options are those of the run."""
    network = summary["scenario"]["network"]
    limit, unit = network["buffer"]
    options = {name: str(value) for name, value in (row.get("options") or {}).items()}
    found = switch_on(Discipline(row["id"], options), int(limit), unit, int(network["rate"]))
    if found is None:
        return None
    return {"line": found.line, "load": found.load, "shaped": list(found.shaped), "arriving": list(found.arriving)}
