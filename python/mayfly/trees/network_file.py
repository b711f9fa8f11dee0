"""The files of LibreQoS that describe a provider: ``network.json``, its nodes, and ``ShapedDevices.csv``, its circuits.

The subset (documentation and examples of LibreQoS, version 2.0):

- ``network.json``: an object of nodes by name, each with ``downloadBandwidthMbps`` and ``uploadBandwidthMbps`` (10^6
  bit/s, above 0), and those in it under ``children``. ``virtual: true``: it shapes nothing, and what is in it belongs
  to the node above. ``type``, ``id`` and ``name`` have no effect. Other keys are told and not used.
- ``ShapedDevices.csv``: a line per device, with the columns ``Circuit ID``, ``Circuit Name``, ``Parent Node``,
  ``IPv4``, ``IPv6`` (addresses or networks, commas between them), ``Download Min Mbps``, ``Upload Min Mbps``,
  ``Download Max Mbps``, ``Upload Max Mbps`` (in version 1.2 without ``Mbps``); other columns have no effect. Devices of
  one circuit share its queue. Without a parent it is at the top. Lines that begin with ``#`` are comments.

The rate of a node is its bandwidth, for sure and at most. That of a circuit is its minimum for sure and its maximum at
most.
"""

import csv
import io
import ipaddress
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mayfly.errors import MayflyError
from mayfly.scenario.tree import Tree
from mayfly.text.files import bounded_text
from mayfly.text.nearest import did_you_mean
from mayfly.text.readable import printable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

BANDWIDTHS = ("downloadBandwidthMbps", "uploadBandwidthMbps")
WITHOUT_EFFECT = {"type", "id", "name"}
KNOWN = {*BANDWIDTHS, "children", "virtual"}

COLUMNS = (
    "Circuit ID",
    "Circuit Name",
    "Parent Node",
    "IPv4",
    "IPv6",
    "Download Min Mbps",
    "Upload Min Mbps",
    "Download Max Mbps",
    "Upload Max Mbps",
)

_ALIASES = {column.removesuffix(" Mbps"): column for column in COLUMNS if column.endswith(" Mbps")}
"""Heads of LibreQoS 1.2, which it still takes."""

RATE_BOUNDS_MBPS = (0.001, 400_000.0)
"""Rates that a class may have, 10^6 bit/s."""

NOWHERE = ("", "none", "null")
"""Parents that are none."""

SMALLEST_PREFIX = {4: 8, 6: 16}


@dataclass(frozen=True)
class Provider:
    """What the two files say.

    Parameters
    ----------
    tree : Tree
        Nodes, and circuits without hosts.
    networks : list of (ip_network, str)
        Which circuit has which addresses.
    notes : list of str
        What was not used, in sentences.
    """

    tree: Tree
    networks: list[tuple[Network, str]]
    notes: list[str]
    _by_length: dict[int, list[tuple[int, dict[int, str]]]] = field(init=False, repr=False, compare=False)

    def circuit_of(self, host: str) -> str | None:
        """The circuit that has an address: that of the longest prefix.

        Raises
        ------
        ValueError
            No address.
        """
        address = ipaddress.ip_address(host)
        number, bits = int(address), address.max_prefixlen
        for length, own in self._by_length[address.version]:
            if (found := own.get(number >> (bits - length))) is not None:
                return found
        return None

    def __post_init__(self) -> None:
        by_length: dict[int, dict[int, dict[int, str]]] = {4: {}, 6: {}}
        for network, circuit in self.networks:
            own = by_length[network.version].setdefault(network.prefixlen, {})
            own[int(network.network_address) >> (network.max_prefixlen - network.prefixlen)] = circuit
        longest_first = {version: sorted(own.items(), reverse=True) for version, own in by_length.items()}
        object.__setattr__(self, "_by_length", longest_first)


def read_provider(nodes: str | os.PathLike[str], devices: str | os.PathLike[str]) -> Provider:
    """Read both files.

    Parameters
    ----------
    nodes : path
        ``network.json``.
    devices : path
        ``ShapedDevices.csv``.

    Returns
    -------
    Provider

    Raises
    ------
    MayflyError
        A file that cannot be read, a value that is not taken, a parent there is not, an address twice; one line.
    """
    notes: list[str] = []
    found, real = _nodes(nodes, notes)
    circuits, networks = _circuits(devices, real, notes)
    try:
        tree = Tree.model_validate({"node": found, "circuit": circuits})
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise MayflyError(f"{nodes}, {devices}: {printable(reason)}") from None
    return Provider(tree, networks, notes)


def _nodes(path: str | os.PathLike[str], notes: list[str]) -> tuple[list[dict[str, Any]], dict[str, str | None]]:
    """Nodes, parents first, and for each name in the file the node that shapes what is in it."""
    try:
        given = json.loads(bounded_text(Path(path)), object_pairs_hook=_once)
    except RecursionError:
        raise MayflyError(f"{path}: no network file: nested too deeply") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise MayflyError(f"{path}: no network file: {printable(reason)}") from None
    if not isinstance(given, dict):
        raise MayflyError(f"{path}: no network file: must be an object of nodes by name")
    nodes: list[dict[str, Any]] = []
    real: dict[str, str | None] = {}
    unused: Counter[str] = Counter()
    waiting: list[tuple[dict[str, Any], str | None]] = [(given, None)]
    while waiting:
        level, parent = waiting.pop(0)
        for name, node in level.items():
            where = f"{path}: node {printable(name)}"
            if not isinstance(node, dict):
                raise MayflyError(f"{where}: must be an object with {BANDWIDTHS[0]} and {BANDWIDTHS[1]}")
            if name in real:
                raise MayflyError(f"{where} is there twice")
            unused.update(key for key in node if key not in KNOWN | WITHOUT_EFFECT)
            if node.get("virtual") is True:
                real[name] = parent
            else:
                down, up = (_mbps(node.get(key), f"{where}: {key}") for key in BANDWIDTHS)
                nodes.append({"name": name, "parent": parent, "ceil": down, "reverse_ceil": up})
                real[name] = name
            children = node.get("children") or {}
            if not isinstance(children, dict):
                raise MayflyError(f"{where}: children: must be an object of nodes by name")
            waiting.append((children, real[name]))
    if unused:
        keys = ", ".join(printable(key) for key, _ in unused.most_common(5))
        notes.append(f"keys of {os.path.basename(path)} that are not used: {keys}{', ...' if len(unused) > 5 else ''}")
    return nodes, real


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once; Python keeps the last one without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"{twice} is there twice in one object")
    return found


def _mbps(value: Any, where: str) -> int:
    """A rate in bit/s."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    low, high = RATE_BOUNDS_MBPS
    if isinstance(value, bool) or not low <= number <= high:
        told = "absent" if value is None else printable(value)
        raise MayflyError(f"{where} = {told}: must be Mbit/s from {low:g} to {high:g}")
    return round(number * 1e6)


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Lines of the devices with their numbers."""
    try:
        text = bounded_text(Path(path))
        rows = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), strict=True, skipinitialspace=True)
        heads: list[str] | None = None
        for row in rows:
            if not any(cell.strip() for cell in row) or row[0].lstrip().startswith("#"):
                continue
            if heads is None:
                heads = [cell.strip() for cell in row]
                heads = [head if (named := _ALIASES.get(head, head)) in heads else named for head in heads]
                for column in COLUMNS:
                    if column not in heads:
                        near = did_you_mean(column, heads)
                        raise MayflyError(f"{path}: no column '{column}'{'; ' + near if near else ''}")
                continue
            cells = [cell.strip() for cell in row]
            # A spreadsheet writes commas behind the last cell.
            if len(cells) < len(heads) or any(cells[len(heads) :]):
                raise MayflyError(
                    f"{path}: line {rows.line_num}: {len(cells)} cells, the header has {len(heads)}: must be as many"
                )
            yield rows.line_num, dict(zip(heads, cells, strict=False))
    except (OSError, ValueError, csv.Error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise MayflyError(f"{path}: no list of devices: {printable(reason)}") from None


def _circuits(
    path: str | os.PathLike[str], real: dict[str, str | None], notes: list[str]
) -> tuple[list[dict[str, Any]], list[tuple[Network, str]]]:
    """Circuits with their rates, and who has which addresses."""
    circuits: dict[str, dict[str, Any]] = {}
    networks: dict[Network, str] = {}
    without = 0
    names: Counter[str] = Counter()
    for line, device in _lines(path):
        where = f"{path}: line {line}"
        key = device["Circuit ID"] or device["Circuit Name"]
        if not key:
            raise MayflyError(f"{where}: must have a Circuit ID")
        parent = device["Parent Node"]
        if parent.lower() not in NOWHERE and parent not in real:
            near = did_you_mean(parent, list(real))
            raise MayflyError(
                f"{where}: Parent Node = '{printable(parent)}': must be a node of the network file"
                f"{'; ' + near if near else ''}"
            )
        rates = {
            (way, bound): _mbps(device[f"{way} {bound} Mbps"] or None, f"{where}: {way} {bound} Mbps")
            for way in ("Download", "Upload")
            for bound in ("Min", "Max")
        }
        for way in ("Download", "Upload"):
            if rates[way, "Min"] > rates[way, "Max"]:
                raise MayflyError(
                    f"{where}: {way} Min Mbps = {device[f'{way} Min Mbps']}: must be at most {way} Max Mbps"
                )
        if key not in circuits:
            name = device["Circuit Name"] or key
            names[name] += 1
            # Two circuits of one name go by their ids.
            name = name if names[name] == 1 and name not in real else f"{name} ({key})"
            circuits[key] = {
                "name": name,
                "parent": None if parent.lower() in NOWHERE else real[parent],
                "rate": rates["Download", "Min"],
                "ceil": rates["Download", "Max"],
                "reverse_rate": rates["Upload", "Min"],
                "reverse_ceil": rates["Upload", "Max"],
            }
        own = [*_networks(device["IPv4"], 4, where), *_networks(device["IPv6"], 6, where)]
        without += not own
        for network in own:
            owner = networks.setdefault(network, circuits[key]["name"])
            if owner != circuits[key]["name"]:
                raise MayflyError(f"{where}: {network} is an address of circuit {printable(owner)} already")
    if not circuits:
        raise MayflyError(f"{path}: no list of devices: it has none")
    if without:
        notes.append(f"{without} devices have no address, and no traffic")
    return list(circuits.values()), list(networks.items())


def _networks(text: str, version: int, where: str) -> Iterator[Network]:
    """Networks of a cell; brackets of a list as some exports write them are left out."""
    for part in text.strip("[]").replace(";", ",").split(","):
        part = part.strip().strip("'\"")
        if not part:
            continue
        try:
            network = ipaddress.ip_network(part, strict=False)
        except ValueError:
            network = None
        if network is None or network.version != version or network.prefixlen < SMALLEST_PREFIX[version]:
            raise MayflyError(
                f"{where}: IPv{version} = '{printable(part)}': must be an address or a network of IPv{version} with a "
                f"prefix of at least {SMALLEST_PREFIX[version]} bits"
            )
        yield network
