"""Marks of the kernel's disciplines, which ``tc -j`` prints under a name for each."""

from collections.abc import Iterator, Mapping
from typing import Any

_OWN = ("marked", "ecn_marked")
_OF_RED = ("prob_mark", "prob_mark_head", "forced_mark", "forced_mark_head")


def packets_marked(counts: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    """Packets that left a discipline with congestion experienced.

    Parameters
    ----------
    counts : mapping
        What the discipline counts, by the names of tc.
    options : mapping
        Its options: ``sfq`` and ``gred`` count among them.

    Returns
    -------
    int
        0 where it marks nothing, or counts no marks.

    Notes
    -----
    The marks of CoDel's control law (``ecn_mark``) and of ``ce_threshold`` (``ce_mark``) overlap, for the threshold
    counts packets that carry the mark already: the larger of the two is returned, not their sum. ``ecn-mark`` of
    ``dualpi2`` is the sum of those of its base probability and of its step (``step-mark``), which overlap likewise
    (Linux 7.3.4: 753 and 219 where 577 packets left with the mark): the larger part is returned, which is too few
    where packets were marked by one alone.

    ``red``, ``sfq`` and ``choke`` count a mark when a packet arrives, also of one that a full queue, or a
    match of ``choke``, drops then.

    Examples
    --------
    >>> packets_marked({"ecn_mark": 117, "ce_mark": 895}, {})
    895
    >>> packets_marked({"ecn-mark": 753, "step-mark": 219}, {})
    534
    """
    found = max(_count(counts, "ecn_mark"), _count(counts, "ce_mark")) + sum(_count(counts, name) for name in _OWN)
    by_step = _count(counts, "step-mark")
    found += max(_count(counts, "ecn-mark") - by_step, by_step)
    found += sum(_count(tin, "ecn_mark") for tin in _listed(counts, "tins"))
    of_red = (counts, options, *_listed(options, "vqs"))
    return found + sum(_count(one, name) for one in of_red for name in _OF_RED)


def _listed(values: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    found = values.get(name)
    return (one for one in (found if isinstance(found, list) else ()) if isinstance(one, dict))


def _count(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name, 0)
    return value if isinstance(value, int) else 0
