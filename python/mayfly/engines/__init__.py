"""What runs a scenario in place of the simulator: the Linux kernel, TCP and disciplines, in virtual time."""

from mayfly.engines.choice import engine

__all__ = ["engine"]
