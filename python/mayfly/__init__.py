"""Mayfly tells what each queueing discipline would do to the users of a congested link.

>>> import mayfly
>>> [row["id"] for row in mayfly.disciplines()][:1]
['fifo']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mayfly.errors import MayflyError
    from mayfly.packs.flood import flood
    from mayfly.packs.gaming import gaming
    from mayfly.simulate.comparison import Comparison, compare, run
    from mayfly.simulate.disciplines import disciplines
    from mayfly.simulate.scenario import Scenario, load_scenario
    from mayfly.simulate.whatif import whatif
    from mayfly.workload.capture import flows_of_capture
    from mayfly.workload.lists import read_flows

_HOMES = {
    "Comparison": "mayfly.simulate.comparison",
    "MayflyError": "mayfly.errors",
    "Scenario": "mayfly.simulate.scenario",
    "compare": "mayfly.simulate.comparison",
    "disciplines": "mayfly.simulate.disciplines",
    "flows_of_capture": "mayfly.workload.capture",
    "flood": "mayfly.packs.flood",
    "gaming": "mayfly.packs.gaming",
    "load_scenario": "mayfly.simulate.scenario",
    "read_flows": "mayfly.workload.lists",
    "run": "mayfly.simulate.comparison",
    "whatif": "mayfly.simulate.whatif",
}

__all__ = [
    "Comparison",
    "MayflyError",
    "Scenario",
    "compare",
    "disciplines",
    "flood",
    "flows_of_capture",
    "gaming",
    "load_scenario",
    "read_flows",
    "run",
    "whatif",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mayfly' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
