"""Roles of hosts from a file, and which connections a host answered."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.workload.sides import ROLES as ROLES
from mayfly.workload.sieve import image


def answered() -> pl.Expr:
    """Whether the responder took the connection: not refused, not left without an answer."""
    return (pl.col("responder_packets") > 0) & ~pl.col("state").is_in(_native.Hosts.UNANSWERED)


def read_hosts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a file of hosts with their roles.

    Parameters
    ----------
    path : path
        CSV with the header ``host,role``; an address and ``server`` or ``client`` in each row. More columns are left
        alone; so are rows whose role is empty.

    Returns
    -------
    dict of str
        Role of each address.

    Raises
    ------
    MayflyError
        The file cannot be read, lacks a column, has an unknown role, no address where one should be, or one twice.
    """
    from mayfly.text.files import first_line

    path = Path(path)
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise MayflyError(f"{path}: cannot be read: {first_line(error)}") from None
    for name in ("host", "role"):
        if name not in frame.columns:
            raise MayflyError(f"{path}: column {name} is missing: the header must be host,role")
    roles: dict[str, str] = {}
    for place, (host, role) in enumerate(frame.select("host", "role").iter_rows(), start=2):
        if role is None:
            continue
        try:
            name = str(ipaddress.ip_address((host or "").strip()))
        except ValueError:
            raise MayflyError(f"{path}, line {place}: host = {host}: must be an IP address") from None
        if role.strip() not in ROLES:
            raise MayflyError(f"{path}, line {place}: role = {role}: must be server or client")
        if name in roles:
            raise MayflyError(f"{path}, line {place}: host = {host}: is there twice")
        roles[image(name)] = role.strip()
    return roles
