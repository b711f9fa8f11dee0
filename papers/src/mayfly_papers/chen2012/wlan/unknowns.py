"""What Chen 2012 does not tell of its cell, and what of its transport its own tables speak against."""

from collections.abc import Sequence
from dataclasses import replace

from mayfly_papers.chen2012.wlan.appendix import EXPERIMENTS, GUESS, OF_TABLE, absolute, cell_fields
from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown

UNKNOWNS = (
    Unknown(
        "rate",
        "rate of data frames",
        ("54mbit", "48mbit", "36mbit"),
        "54 Mb/s is printed as nominal; whether QualNet adapted it is not",
    ),
    Unknown(
        "ack-rate",
        "rate of ACK frames of the MAC",
        ("24mbit", "12mbit", "6mbit"),
        "not told; the highest mandatory rate by the standard, the lowest in some simulators",
    ),
    Unknown(
        "acks",
        "TCP acknowledges",
        ("delayed", "each"),
        "delayed ones are printed; Tables A.1 to A.6 fit one for each packet better (audit of November 2026)",
    ),
)


def experiments(setting: Setting) -> Sequence[Experiment]:
    """Runs of Tables A.1 to A.6 at the printed load of both directions."""
    own = {one.id: one for one in EXPERIMENTS}
    found = [own[mix.experiment(load)] for mix, load in OF_TABLE.values()]
    return [replace(one, overrides={**one.overrides, **cell_fields(setting)}) for one in found]


CALIBRATION = Calibration(UNKNOWNS, experiments, tuple(absolute(table, "total") for table in OF_TABLE), GUESS)
