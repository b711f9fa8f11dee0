"""Flow lists through one leaf after the other, on one network in one guest: what boots and sets up once serves all."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import flow_list

TIME_WAIT_S = 61.0


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
            # Flows with a port of their own have it again: the kernel keeps one for a minute.
            time.sleep(TIME_WAIT_S if any(row["own"] for row in one["flows"]) else 0)
            network.change_leaves(one)
        told.append(flow_list.carried(one, network))
    return told
