"""The cores that the programs of kernel/test know, and options for one of which no test has rows of its own."""

import re
from pathlib import Path

from mayfly.discipline_registry import disciplines

DRIVERS = Path(__file__).resolve().parents[2] / "kernel" / "test"
LEFT_OUT = {"lfq": ("medium", "quantum")}
"""Options of the registry that a core does not have: a cell is left to the scheduler of airtime of an access point."""
LONGEST = {("lfq", "interval"): 4.0}
"""Upper bounds of a core that are below those of the registry."""
_REGISTERED = re.compile(r"^(?:\w+_)?DISCIPLINE\((?!name\))(\w+)\)", re.MULTILINE)


def ids() -> list[str]:
    """Disciplines of crates/qdisc whose core a driver of kernel/test registers."""
    return sorted(id for file in DRIVERS.glob("*.c") for id in _REGISTERED.findall(file.read_text()))


def values(id: str) -> list[str]:
    """Every option of a discipline alone, as ``NAME=VALUE``.

    Of words all are there; of a number its lower bound, a third of the default and three times it.
    """
    row = next(row for row in disciplines() if row["id"] == id)
    found = []
    for param in row["params"]:
        if param["name"] in LEFT_OUT.get(id, ()):
            continue
        most = LONGEST.get((id, param["name"]), param.get("max"))
        if "choices" in param:
            found += [f"{param['name']}={word}" for word in param["choices"]]
        elif isinstance(param["default"], float):
            near = {param["default"] / 3, 3 * param["default"], param["min"]}
            found += [f"{param['name']}={value:g}" for value in sorted(near) if param["min"] <= value <= most]
    return found


def rows(id: str) -> list[tuple[str, tuple[str, ...]]]:
    """A discipline with its defaults, and with every option alone."""
    return [(id, ()), *((id, (value,)) for value in values(id))]
