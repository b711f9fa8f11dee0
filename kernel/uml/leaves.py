"""Flow lists through one leaf after the other, on one dumbbell in one guest: what boots and sets up once serves them all."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import dumbbell
import flow_list


def run(settings: dict) -> list[dict]:
    """Runs, as ``flow_list.run`` has them, in that order.

    Parameters
    ----------
    settings : dict
        ``runs``: settings of ``flow_list.run``, alike but for ``leaf``, ``reverse_leaf`` and the flows.

    Returns
    -------
    list of dict
        What ``flow_list.run`` returns, for each.
    """
    runs = settings["runs"]
    hosts = flow_list.prepared(runs[0])
    told = []
    for one in runs:
        if told:
            dumbbell.change_leaves(one)
        told.append(flow_list.carried(one, hosts))
    return told
