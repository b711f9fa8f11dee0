"""What the terminal says of a comparison in sentences: the answer before the tables, what is left after them."""

from collections.abc import Mapping
from typing import Any

from mayfly.comparison.choice import leading_sentences
from mayfly.comparison.expected import expected_sentence

_SITE = "docs/recommendation.md"

_VARIES = (
    "Where eth0 is faster than the link behind it, the queue is there; no fixed rate of a shaper is right for a link "
    "that varies: `mayfly link-trace bench` compares them, see docs/how-to/varying-links.md."
)


def partial_lines(summary: Mapping[str, Any]) -> list[str]:
    """What stands before every answer from a capture that was not read to its end.

    Parameters
    ----------
    summary : mapping
        As ``summary.json``.

    Returns
    -------
    list of str
        Empty where it was.
    """
    partial = summary.get("partial")
    return [f"{partial}."] if partial else []


def answer_lines(summary: Mapping[str, Any]) -> list[str]:
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
    lines = [*partial_lines(summary), found["sentence"]]
    if commands := found.get("commands"):
        links = summary.get("links") or {}
        varies = bool((links.get(links.get("busier")) or {}).get("trace"))
        lines.append(_VARIES if varies else _elsewhere(commands))
    if found.get("doubt"):
        lines.append(found["doubt"])
    return [*lines, ""]


def _elsewhere(commands: Mapping[str, Any]) -> str:
    if commands["line"] == commands["load"] or "bandwidth" in commands["line"]:
        where = "It shapes eth0 a little below the link's rate, so that the queue is here and not in the modem."
    else:
        where = f"Where eth0 is faster than the link behind it, shape below it: `{commands['load']}`."
    return f"{where} What arrives is queued on ifb0: see {_SITE}."


def further_sentences(summary: Mapping[str, Any], file: str) -> list[str]:
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
    other = ((summary.get("transport") or {}).get("other") or {}).get("sentence")
    return [
        *first,
        *more,
        *([f"{other.removesuffix('.')}."] if other else []),
        *expected_sentence(summary.get("expected_errors")),
    ]
