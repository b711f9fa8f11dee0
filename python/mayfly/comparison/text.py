"""What the terminal says of a comparison in sentences: the answer before the tables, what is left after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mayfly.comparison.ordering import leading_sentences
from mayfly.comparison.prediction_error import expected_sentence
from mayfly.comparison.unanswered import udp_sentences, udp_share_lines
from mayfly.text.readable import count_text

if TYPE_CHECKING:
    from mayfly.summary_types import LinkShaper, Recommendation, Summary

_SHAPES = (
    "It shapes both directions of eth0 to 95 % of the link's rates, so that what lasts waits there and not in the "
    "modem; a burst that arrives has waited at the provider first."
)

_AT_THE_LINK = "The figures are of the discipline at the link itself: what the command gives was not simulated."

_AS_SHAPED = (
    "It shapes to the rates of [network.shaper]: the figures have the discipline there, {place}. Your router is behind "
    "the link for what arrives, and before it for what it sends."
)

_WHOLE_LINES = (
    "For a router without Mayfly: the same line with --dry-run prints the commands of tc for both directions, and "
    "recommendation.commands of summary.json has them."
)

_VARIES = (
    "Where eth0 is faster than the link behind it, the queue is there; no fixed rate of a shaper is right for a link "
    "that varies: `mayfly link-trace bench` compares them, see docs/how-to/varying-links.md."
)


def partial_lines(summary: Summary) -> list[str]:
    """What stands before every answer from a part of a capture: not read whole, with packets left out, or with UDP.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list of str
        Empty where the answer is about all of it.
    """
    partial = summary.get("partial")
    said = [f"{sentence}." for sentence in (partial, *summary.get("missing", ())) if sentence]
    return [*said, *udp_share_lines(summary)]


def further_notes(summary: Summary) -> list[str]:
    """Notes of a summary that :func:`partial_lines` does not say.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list of str
    """
    # Where the answer is withheld, it is about no rest.
    said = [*partial_lines(summary), *udp_sentences(summary)]
    partial = summary.get("partial") or ""
    return [note for note in summary.get("notes", ()) if f"{note}." not in said and note not in partial]


def answer_lines(summary: Summary) -> list[str]:
    """The answer, and how to switch it on.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list of str
        Empty where nothing is recommended of a whole capture. The first line is the answer with its command, after
        one that says so where the capture was not read to its end; others say what to do where the interface is not the
        link itself, and for the other direction.
    """
    found = summary.get("recommendation")
    if not found:
        return partial_lines(summary)
    lines = [*partial_lines(summary), found["sentence"], *switching_sentences(summary)]
    if found.get("doubt"):
        lines.append(found["doubt"])
    return [*lines, ""]


def switching_sentences(summary: Summary) -> list[str]:
    """Sentences about the command of the answer, and about other ways to switch the discipline on.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list of str
        Empty where nothing is switched on, as of a synthetic workload, which is no link.
    """
    found = summary.get("recommendation")
    if not found or found.get("kind") == "fastest" or not found.get("command"):
        return [found["at_the_link"]] if found and found.get("at_the_link") else []
    links = summary.get("links")
    ways = (links["down"], links["up"]) if links else ()
    if any(own.get("trace") for own in ways):
        return [_VARIES]
    commands = found.get("commands")
    if commands is None:
        return []
    line = commands["line"]
    own = f"{found['at_the_link']} No shaper is needed then: `{line}`" if found.get("at_the_link") else None
    shapers = [(way, own["shaper"]) for way, own in zip(("down", "up"), ways, strict=False) if own.get("shaper")]
    lines = [_as_shaped(shapers)] if shapers else [_SHAPES, own or _AT_THE_LINK]
    lines += _box(found)
    if commands["load"] is None:
        lines += [
            f"For what eth0 sends: `{_script(commands['up'])}`",
            f"For what arrives: `{_script(commands['down'])}`",
        ]
    else:
        lines.append(_WHOLE_LINES)
    if own:
        return lines
    return [*lines, f"If eth0 is itself the bottleneck of what it sends, no shaper is needed: `{line}`"]


def _as_shaped(shapers: Sequence[tuple[str, LinkShaper]]) -> str:
    """Where the scenario has its shapers."""
    places = [f"{'behind' if shaper['behind'] else 'before'} the link {way}" for way, shaper in shapers]
    return _AS_SHAPED.format(place=" and ".join(places))


def _box(found: Recommendation) -> list[str]:
    """What the box has to carry for what the command gives."""
    loaded = next((one for one in found.get("as_loaded") or () if one["discipline"] == found["discipline"]), None)
    if loaded is None:
        return []
    packets = " and ".join(f"{count_text(round(rate))} {way}" for way, rate in loaded["packets_per_s"].items())
    if not packets:
        return []
    return [
        f"At these rates your router forwards at most {packets} packets/s. Load the link and see that it does: `mayfly "
        "qdisc watch eth0` shows the share of the rate that it sends, and `top` whether a processor is full (si)."
    ]


def _script(lines: Sequence[str]) -> str:
    """Lines of a shell as one."""
    return "; ".join(lines)


def further_sentences(summary: Summary, file: str) -> list[str]:
    """Sentences about each discipline, where there is no recommendation that says what they say.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.
    file : str
        Where all of them are.

    Returns
    -------
    list of str
    """
    first, rest = ([], []) if summary.get("recommendation") else leading_sentences(summary)
    more = [f"note: the best of each family; {len(rest)} more sentences are in {file}"] if rest else []
    hosts = (transport := summary.get("transport")) and transport.get("other")
    other = hosts and hosts["sentence"]
    return [
        *first,
        *more,
        *([f"{other.removesuffix('.')}."] if other else []),
        *expected_sentence(summary.get("expected_errors")),
    ]
