"""Mayfly tells what each queueing discipline would do to the users of a congested link.

Functions
---------
compare(scenario, disciplines, flows)
    Runs the same workload under each discipline.
disciplines()
    Every registered discipline.
flood(disciplines)
    Runs the cases under each discipline.
flows_of_capture(path)
    Read a capture as a flow list.
gaming(disciplines, parts)
    Runs the attacks under each discipline.
load_scenario(source, overrides)
    Reads a scenario file, or one of the ready scenarios by name.
read_flows(path)
    Read a flow list file.
run(scenario, discipline, flows)
    Runs one discipline once.
whatif(capture, rate, buffer)
    Replays the transfers of a capture over a bottleneck link.

Results have a table and a plot in a notebook, and ``summary``, ``records`` and ``write(folder)`` everywhere.
``help(mayfly.compare)`` tells more of one of them.

>>> import mayfly
>>> [row["id"] for row in mayfly.disciplines()][:1]
['fifo']
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from mayfly.comparison.comparison import Comparison, compare, run
    from mayfly.comparison.whatif import whatif
    from mayfly.discipline_registry import disciplines
    from mayfly.errors import MayflyError
    from mayfly.packs.flood import flood
    from mayfly.packs.gaming import gaming
    from mayfly.scenario.scenario import Scenario, load_scenario
    from mayfly.workload.capture import flows_of_capture
    from mayfly.workload.lists import read_flows

    __version__: str

_HOMES = {
    "Comparison": "mayfly.comparison.comparison",
    "MayflyError": "mayfly.errors",
    "Scenario": "mayfly.scenario.scenario",
    "compare": "mayfly.comparison.comparison",
    "disciplines": "mayfly.discipline_registry",
    "flood": "mayfly.packs.flood",
    "flows_of_capture": "mayfly.workload.capture",
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


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("mayfly")
    if name not in _HOMES:
        raise AttributeError(f"module 'mayfly' has no attribute {name!r}")
    return getattr(_import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, which load at their first use, and nothing of how they are loaded."""
    return sorted([*__all__, *(name for name in (*globals(), "__version__") if name.startswith("__"))])
