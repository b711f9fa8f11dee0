"""Errors of the models of Chen 2012, 5.3 against the packet simulation, as tables of the page."""

from mayfly_papers.chen2012.subflows.claims import READINGS, VARIANTS
from mayfly_papers.declare.declaration import Runs, mean_interval
from mayfly_papers.declare.markdown import interval, number, table
from mayfly_papers.declare.rows import quantity, ratio

MODELLED = {
    "sub-flows of 1 to 20 packets, measured law": ("measured_subflow_s", "subflow_s"),
    "flows, flights, with control packets": ("flights_control_s", "upto_th_response_time_s_raw"),
    "flows, flights, without": ("flights_bare_s", "upto_th_response_time_s_raw"),
    "flows, cuts, with control packets": ("cuts_control_s", "upto_th_response_time_s_raw"),
    "flows, cuts, without": ("cuts_bare_s", "upto_th_response_time_s_raw"),
}
"""Measures of model and of simulation."""

LEGEND = """\
## Errors

Model over simulation, levels over sizes up to the threshold (geometric means, each size once), with the 95 % interval
over the replications. Flows have 6 packets or more. What a sub-flow takes in the simulation is from its first packet in
to its last packet sent."""


def error_tables(runs: Runs) -> str:
    """A table for each reading.

    Parameters
    ----------
    runs : Runs
        Of the experiments of Chen 2012, 5.3.

    Returns
    -------
    str
        Markdown with a final newline.
    """
    parts = [LEGEND]
    for experiment, words in READINGS.values():
        head = ["", *(f"{high}+{low}".upper() for high, low in VARIANTS)]
        body = [
            [name, *(_cell(runs, experiment, variant, *pair) for variant in VARIANTS.values())]
            for name, pair in MODELLED.items()
        ]
        parts += [f"**{words[:1].upper()}{words[1:]}.**", table(head, body)]
    return "\n\n".join(parts) + "\n"


def _cell(runs: Runs, experiment: str, variant: str, model: str, simulated: str) -> str:
    off = ratio(quantity(experiment, variant, model), quantity(experiment, variant, simulated))(runs)
    return f"{number(float(off.mean()))} {interval(mean_interval(off))}"


SECTIONS = (error_tables,)
