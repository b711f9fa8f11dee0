"""What runs a scenario in place of the simulator: the Linux kernel, TCP and disciplines, in virtual time."""

from typing import TYPE_CHECKING

from mayfly.errors import MayflyError

if TYPE_CHECKING:
    from mayfly.comparison.comparison import Engine


__all__ = ["engine"]


ENGINES = ("simulator", "linux", "both")


def engine(name: str) -> "Engine | None":
    """What :func:`mayfly.compare` takes as ``engine``.

    Parameters
    ----------
    name : str
        ``simulator``; ``linux``, TCP and disciplines of a kernel in virtual time (docs/kernel/engine.md); or ``both``,
        side by side.

    Returns
    -------
    Engine or None
        None for the simulator.

    Raises
    ------
    MayflyError
        There is no such engine.
    """
    if name not in ENGINES:
        raise MayflyError(f"engine = {name}: must be one of {', '.join(ENGINES)}")
    if name == "simulator":
        return None
    from mayfly.engines.side_by_side import Kernel

    return Kernel(name == "both")
