"""Flow lists through one leaf after the other, on one network in one guest: what boots and sets up once serves all."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import flow_list


def run(settings: dict) -> list[dict]:
    """Runs, as ``flow_list.run`` has them, in that order.

    Parameters
    ----------
    settings : dict
        ``runs``: settings of ``flow_list.run``, alike but for the disciplines and the flows.

    Returns
    -------
    list of dict
        What ``flow_list.run`` returns, for each.
    """
    runs = settings["runs"]
    network = flow_list.prepared(runs[0])
    told = []
    for one in runs:
        if told:
            network.change_leaves(one)
        told.append(flow_list.carried(one, network))
    return told
