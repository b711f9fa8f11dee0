"""Mayfly tells what each queueing discipline would do to the users of a congested link.

>>> import mayfly
>>> [row["id"] for row in mayfly.disciplines()][:1]
['fifo']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mayfly.comparison.comparison import Comparison, compare, run
    from mayfly.comparison.whatif import whatif
    from mayfly.discipline_registry import disciplines
    from mayfly.errors import MayflyError
    from mayfly.packs.flood import flood
    from mayfly.packs.gaming import gaming
    from mayfly.scenario.scenario import Scenario, load_scenario
    from mayfly.workload.capture import flows_of_capture
    from mayfly.workload.lists import read_flows

_HOMES = {
    "Comparison": "mayfly.comparison.comparison",
    "MayflyError": "mayfly.errors",
    "Scenario": "mayfly.scenario.scenario",
    "compare": "mayfly.comparison.comparison",
    "disciplines": "mayfly.discipline_registry",
    "flows_of_capture": "mayfly.workload.capture",
    "flood": "mayfly.packs.flood",
    "gaming": "mayfly.packs.gaming",
    "load_scenario": "mayfly.scenario.scenario",
    "read_flows": "mayfly.workload.lists",
    "run": "mayfly.comparison.comparison",
    "whatif": "mayfly.comparison.whatif",
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
