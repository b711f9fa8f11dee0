"""A trace in one line."""

from collections.abc import Mapping
from typing import Any

from mayfly.text.readable import rate_text, time_text


def trace_facts(document: Mapping[str, Any]) -> str:
    """A trace in one line: length, mean rate, outages.

    Parameters
    ----------
    document : dict
        As :attr:`LinkTrace.document`.
    """
    rates = f"mean {rate_text(document['mean_bps'])}, 5 % of the seconds below {rate_text(document['p5_bps'])}"
    silent = "no outage"
    if document["outages"]:
        count = f"{document['outages']} outage" + ("s" if document["outages"] > 1 else "")
        together, longest = time_text(document["outages_s"]), time_text(document["longest_outage_s"])
        silent = f"{count} of {together} together, the longest {longest}"
    return f"{document['file']}, {time_text(document['period_s'])}: {rates}; {silent}"
