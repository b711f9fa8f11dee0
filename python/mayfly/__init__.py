"""Mayfly tells what each queueing discipline would do to the users of a congested link.

Functions
---------
compare(scenario, disciplines, flows)
    Runs the same workload under each discipline.
diff(before, after)
    Compares two runs or two captures: what changed beyond chance.
disciplines()
    Every registered discipline.
estimate(samples, rate, rtt)
    Estimates how much of the traffic at a queue does not respond to drops.
flood(disciplines)
    Runs the cases under each discipline.
flows_of_capture(path)
    Read a capture as a flow list.
gaming(disciplines, parts)
    Runs the attacks under each discipline.
load_scenario(source, overrides)
    Reads a scenario file, or one of the ready scenarios by name.
profile(captures)
    Profiles captures: classes, load, laws, hosts.
read_flows(path)
    Read a flow list file.
run(scenario, discipline, flows)
    Runs one discipline once.
sweep(file, folder)
    Runs a scenario over fields, disciplines and seeds.
whatif(capture, rate, buffer)
    Replays the transfers of a capture over a bottleneck link.

Results have a table and a plot in a notebook, and ``summary``, ``records`` and ``write(folder)`` everywhere.
``help(mayfly.compare)`` says more of one of them. ``diff``, ``estimate``, ``profile`` and ``sweep`` are packages, too,
whose parts are imported by name, such as ``mayfly.profile.link``.

>>> import mayfly
>>> [row["id"] for row in mayfly.disciplines()][:1]
['fifo']
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from mayfly.comparison.comparison import Comparison, compare, run
    from mayfly.comparison.whatif import whatif
    from mayfly.diff.answer import diff
    from mayfly.discipline_registry import disciplines
    from mayfly.errors import MayflyError
    from mayfly.estimate.estimate import estimate
    from mayfly.packs.flood import flood
    from mayfly.packs.gaming import gaming
    from mayfly.profile.answer import profile
    from mayfly.scenario.scenario import Scenario, load_scenario
    from mayfly.sweep.command import sweep_file as sweep
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

_CALLED = ("diff", "estimate", "profile", "sweep")
"""Packages that are called as the function of their name."""

__all__ = [
    "Comparison",
    "MayflyError",
    "Scenario",
    "compare",
    "diff",
    "disciplines",
    "estimate",
    "flood",
    "flows_of_capture",
    "gaming",
    "load_scenario",
    "profile",
    "read_flows",
    "run",
    "sweep",
    "whatif",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("mayfly")
    if name in _CALLED:
        return _import_module(f"mayfly.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'mayfly' has no attribute {name!r}")
    return getattr(_import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, which load at their first use, and nothing of how they are loaded."""
    return sorted([*__all__, *(name for name in (*globals(), "__version__") if name.startswith("__"))])
