"""The TCP of the hosts of the test kernel, for what is compared with it."""

from mayfly.engines.guest import KERNEL, series

PRESET = "linux-6.1" if series() == KERNEL else "linux-7.3"
"""`tcp.preset` of the release that the guest runs: 6.1, or with `MAYFLY_KERNEL=newest` the newest."""
