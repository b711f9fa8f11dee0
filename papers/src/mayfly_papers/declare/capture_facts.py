"""Numbers of captures at hand beside those of a paper about another one.

A number of a capture is a fact of it, without an interval: it stands for every replication alike. Captures are found
from the checkout, the larger ones beside it.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mayfly.errors import MayflyError
from mayfly.profile.answer import Profile, profile
from mayfly_papers.declare.rows import Quantity

BESIDE = "../shared/data/pcap"

CAPTURES: Mapping[str, tuple[str, tuple[str, ...] | None]] = {
    "office": ("captures/office.pcap.gz", ("10.10.0.0/24",)),
    # Not 10.10.10.0/24: that is the attacker's server, which plays the Internet.
    "lab": (f"{BESIDE}/enterprise_ad_lab.pcap.gz", ("172.18.0.0/16", "192.168.0.0/16", "10.0.0.0/16", "fe80::/10")),
    "home": (f"{BESIDE}/access_home_alexa.pcap.gz", None),
    "mix": (f"{BESIDE}/access_app_mix.pcap.gz", None),
}
"""File, and networks of the site where they are not inferred."""

ABOUT = {
    "office": "six clients made for this project, 75 s, taken at the link to the servers",
    "lab": "a Windows domain under simulated attacks, 48 recordings joined",
    "home": "the access link of one home, 176 s",
    "mix": "487 recordings of applications started at random: its arrival times mean nothing",
}


class AbsentCaptureError(MayflyError):
    """A capture is not beside the checkout: what rests on it is not measured."""


def is_present(name: str) -> bool:
    """Whether the file of a capture is there."""
    return Path(CAPTURES[name][0]).exists()


@cache
def profiled(name: str) -> Profile:
    """Profile of a capture, with trains, without p of the fits; read once.

    Raises
    ------
    AbsentCaptureError
        It is not there.
    """
    file, internal = CAPTURES[name]
    if not is_present(name):
        raise AbsentCaptureError(f"{file}: not beside the checkout")
    return profile([file], internal=internal, bin_s=10.0, bootstrap=0, trains=True)


@cache
def told(name: str) -> dict[str, Any]:
    """Its document."""
    return profiled(name).document()


def fact(name: str, of: Callable[[dict[str, Any]], float]) -> Quantity:
    """A number of a capture.

    Parameters
    ----------
    name : str
        One of :data:`CAPTURES`.
    of : callable
        The document to the number.

    Returns
    -------
    callable
        Runs, which it does not look at, to equal values.
    """
    return constant(lambda: of(told(name)))


def constant(of: Callable[[], float]) -> Quantity:
    """A number that is the same in every replication, found when first asked for."""
    return lambda runs: np.full(2, float(of()))


def class_share(document: dict[str, Any], name: str, measure: str = "bytes") -> float:
    """Share of a class in the traffic of its side (Chen 2012, Table 8.2)."""
    return next(row[f"{measure}_share_of_side"] for row in document["composition"] if row["class"] == name) or 0.0


def side_share(document: dict[str, Any], side: str, measure: str = "bytes") -> float:
    """Share of a side in all traffic across or inside the site."""
    sums = {
        name: sum(row[measure] for row in document["composition"] if row["side"] == name)
        for name in ("external", "internal")
    }
    return sums[side] / sum(sums.values())


def down_over_up(document: dict[str, Any], side: str) -> float:
    """Bytes down over bytes up (Chen 2012, Fig. 8.1)."""
    found = document["directions"]["bytes"]
    return found[f"{side} down"]["bytes"] / found[f"{side} up"]["bytes"]


def aic_ahead(document: dict[str, Any], measure: str, law: str, among: tuple[str, ...]) -> float:
    """AIC of the best other law less that of ``law``: above 0 where it fits best."""
    aic = {fit["law"]: fit["aic"] for fit in document["fits"][measure]}
    return min(aic[name] for name in among if name != law) - aic[law]
