"""What Urvoy-Keller 2007 does not tell of its simulations in QualNet, and of the time that its Eq. 10 starts from."""

from collections.abc import Mapping, Sequence

from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown
from mayfly_papers.urvoykeller2007 import passage, transfers

UNKNOWNS = (
    Unknown("preamble", "preamble of 802.11b", ("long", "short"), "not told; 192 or 96 us"),
    Unknown("acks", "rate of the MAC's acknowledgements", (2, 11), "Eq. 2 has the rate of the data; else 2", "Mb/s"),
    Unknown(
        "window", "initial window of TCP", (1, 2, 3), '"1 to 3 MSS, in general" are the windows of small flows', "MSS"
    ),
    Unknown(
        "time",
        "time at the access point",
        tuple(passage.READINGS),
        "6.1: one-way delays, less the latency of the wired part for the groups; `passage.py` has each in words",
    ),
    Unknown("forgotten", "idle time after which LAS takes a flow for new", (30, 2000), "not told; 2000: never", "s"),
)


def experiments(setting: Setting) -> Sequence[Experiment]:
    """Runs of Table 1 and of the mix."""
    return transfers.experiments(setting)


def measures(setting: Setting) -> Mapping[str, str]:
    """Every run has the capacity by each reading of the time."""
    return {"capacity_mbps": f"capacity_{setting['time']}_mbps"}


def together(experiment: str) -> str:
    """Laws of one mean at one load: the report says that the capacity does not depend on the law. The mix is one."""
    if experiment.startswith("mix-"):
        return "mix"
    _, mean, load = experiment.split("-")
    return f"{mean}-{load}"


def _without_time(setting: Setting) -> Setting:
    """Its reading changes no run."""
    return {**setting, "time": transfers.SETTING["time"]}


CALIBRATION = Calibration(
    UNKNOWNS,
    lambda setting: experiments(_without_time(setting)),
    (transfers.table_1(), transfers.mix_capacity()),
    transfers.FIRST,
    measures,
    together,
)
