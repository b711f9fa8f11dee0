"""The rank functions of the policies that have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.laws.service import ServiceLaw
from mayfly.models.ranks import gittins
from mayfly.models.ranks.age_rank import AgeRank, steps
from mayfly.models.ranks.ranks import Constant, Rank, Remaining, Size

RANKS: dict[str, Callable[..., Rank]] = {
    "fifo": lambda law: Constant(),
    "las": lambda law: AgeRank(lambda age: age),
    "srpt": lambda law: Remaining(),
    "psjf": lambda law: Size(),
    "sjf": lambda law: Size(preemptive=False),
    "gittins": gittins.rank,
    "levels-fcfs": lambda law, threshold: steps(threshold),
}
"""By id of the policy: of a law and the parameters of the policy to its rank function."""


def bends(policy: str, law: ServiceLaw, given: Mapping[str, Any]) -> Floats:
    """Sizes, shape (n,), at which the response time under a policy bends because its rank function does.

    Examples
    --------
    >>> from mayfly.laws.service_spec import service_law
    >>> bends("levels-fcfs", service_law("exponential:mean=1"), {"threshold": [1.0, 3.0]}).tolist()
    [0.0, 1.0, 3.0]
    """
    rank = RANKS[policy](law, **given) if policy in RANKS else None
    return rank.bends() if isinstance(rank, AgeRank) else np.empty(0)
