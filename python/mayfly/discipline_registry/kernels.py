"""Which kernels are built with which queue discipline: a table of distributions, and the configuration of one kernel.

The rows of `KERNELS` are read from the configurations that Debian packs (``linux-config-6.1`` and the like, file
``config.amd64_none_amd64``; those of the cloud and real-time kernels are the same here).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

ALWAYS = frozenset({"bfifo", "mq", "noqueue", "pfifo", "pfifo_fast"})
"""Queue disciplines that have no option: every kernel with traffic control has them."""

IN_ANOTHER = {"cake_mq": ("cake", "7.0")}
"""Queue disciplines in the module of another, and since which Linux."""

_OPTION = re.compile(r"^(?:# )?CONFIG_NET_SCH_(\w+)(?:=(\w)| is not set)$", re.MULTILINE)


@dataclass(frozen=True)
class Kernel:
    """Kernel of a distribution.

    Parameters
    ----------
    name : str
        Distribution.
    version, source : str
        Package of the kernel, and of its configuration.
    built_in : tuple of str
        Queue disciplines that are no modules.
    modules : tuple of str
        Queue disciplines that are modules, of those that the registry knows.
    off : tuple of str
        Queue disciplines of which the configuration says that they are not set.
    """

    name: str
    version: str
    source: str
    built_in: tuple[str, ...] = ("fq_codel",)
    modules: tuple[str, ...] = ("cake", "choke", "codel", "drr", "fq", "fq_pie", "pie", "red", "sfq")
    off: tuple[str, ...] = field(default=())

    def says(self, qdisc: str) -> str:
        """`built in`, `module`, `not set`, or `not there` where the version has none.

        Examples
        --------
        >>> KERNELS[0].says("pfifo"), KERNELS[0].says("cake"), KERNELS[0].says("dualpi2"), KERNELS[-1].says("dualpi2")
        ('built in', 'module', 'not there', 'not set')
        """
        if qdisc in ALWAYS or qdisc in self.built_in:
            return "built in"
        return "module" if qdisc in self.modules else "not set" if qdisc in self.off else "not there"


KERNELS = (
    Kernel("Debian 12", "6.1.176-1", "linux-config-6.1 6.1.176-1"),
    Kernel("Debian 12 backports", "6.12.95-1~bpo12+1", "linux-config-6.12 6.12.95-1~bpo12+1"),
    Kernel("Debian 13", "6.12.117-1", "linux-config-6.12 6.12.117-1"),
    Kernel("Debian 13 backports", "7.3.4-1~bpo13+1", "linux-config-7.3 7.3.4-1~bpo13+1", off=("dualpi2",)),
    Kernel("Debian unstable", "7.2.13-1", "linux-config-7.2 7.2.13-1", off=("dualpi2",)),
)
"""Kernels of amd64 as their mirror had them on 2026-11-29."""


def has_none(qdisc: str) -> bool:
    """Whether no kernel of `KERNELS` is built with a queue discipline.

    Parameters
    ----------
    qdisc : str
        As tc names it.

    Returns
    -------
    bool

    Examples
    --------
    >>> has_none("dualpi2"), has_none("cake")
    (True, False)
    """
    return all(kernel.says(qdisc) in ("not set", "not there") for kernel in KERNELS)


def table(qdiscs: Iterable[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Queue disciplines by kernel.

    Parameters
    ----------
    qdiscs : iterable of str
        As tc names them.

    Returns
    -------
    head : tuple of str
    rows : list of tuple of str
        One of each queue discipline.

    Examples
    --------
    >>> head, rows = table(["cake"])
    >>> head[:2], rows[0][:2]
    (('qdisc', 'Debian 12 (6.1.176-1)'), ('`cake`', 'module'))
    """
    head = ("qdisc", *(f"{kernel.name} ({kernel.version})" for kernel in KERNELS))
    return head, [(f"`{qdisc}`", *(kernel.says(qdisc) for kernel in KERNELS)) for qdisc in qdiscs]


def configured(text: str) -> dict[str, str]:
    r"""Queue disciplines of a kernel's configuration.

    Parameters
    ----------
    text : str
        Of ``/boot/config-VERSION`` or ``/proc/config.gz``.

    Returns
    -------
    dict of str to str
        By the name of tc: ``y`` built in, ``m`` a module, empty not set.

    Examples
    --------
    >>> configured("CONFIG_NET_SCH_FQ_CODEL=y\nCONFIG_NET_SCH_CAKE=m\n# CONFIG_NET_SCH_DUALPI2 is not set\n")
    {'fq_codel': 'y', 'cake': 'm', 'dualpi2': ''}
    """
    return {name.lower(): value for name, value in _OPTION.findall(text)}


def why_not(qdisc: str, found: Mapping[str, str], release: str) -> str:
    """Why a kernel has no such queue discipline.

    Parameters
    ----------
    qdisc : str
        As tc names it.
    found : mapping
        Of :func:`configured`.
    release : str
        As ``uname -r`` says it.

    Returns
    -------
    str
        Empty where the kernel is built with it.

    Examples
    --------
    >>> why_not("dualpi2", {"dualpi2": ""}, "7.3.4"), why_not("dualpi2", {"cake": "m"}, "6.1.0-50")
    ('CONFIG_NET_SCH_DUALPI2 is not set', 'it knows no CONFIG_NET_SCH_DUALPI2')
    >>> why_not("cake_mq", {"cake": "m"}, "6.12.95"), why_not("cake_mq", {"cake": "m"}, "7.3.4"), why_not("mq", {}, "")
    ('cake_mq comes with Linux 7.0', '', '')
    """
    of, since = IN_ANOTHER.get(qdisc, (qdisc, ""))
    option = f"CONFIG_NET_SCH_{of.upper()}"
    if of in ALWAYS or found.get(of):
        return f"{qdisc} comes with Linux {since}" if since and _series(release) < _series(since) else ""
    return f"{option} is not set" if of in found else f"it knows no {option}"


def _series(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])
