"""Captures whose connections need not fit into memory: their columns, which are pages of files where they are many.

Principle: a connection that is over leaves for a file when memory is short, so that a capture may have any number of
them. Nothing here needs polars.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.limits import Look
from mayfly.text.waiting import WaitingFolder
from mayfly.workload.columns import Columns, columns_of_capture
from mayfly.workload.reading import ReadOptions, most_connections, most_open
from mayfly.workload.sides import networks_of
from mayfly.workload.sieve import noted


@dataclass(frozen=True, eq=False)
class Captured:
    """Connections of captures that were read as one.

    Parameters
    ----------
    columns : Columns
        Of :func:`mayfly.workload.connections.connections`, in the order of first packets, and the class of each.
    counts : dict
        As there. ``parted`` connections left while they were open, since memory was short: what they sent later is of
        other connections.
    site : dict
        Whose the hosts are: ``site`` of ``profile.json``.
    read : CaptureProfile
        What has read them.
    folder : TemporaryDirectory
        Of what does not fit into memory, as long as it is asked for.
    """

    columns: Columns
    counts: dict[str, Any]
    site: dict[str, Any]
    read: _native.CaptureProfile
    folder: tempfile.TemporaryDirectory[str]


def read_captured(
    names: Sequence[str], internal: Sequence[str] | None = None, *, max_volumes: int = 0, unanswered: bool = True
) -> Captured:
    """Read captures as one, and tell the classes of connections.

    Parameters
    ----------
    names : sequence of str
        Of captures.
    internal : str or sequence of str, optional
        CIDRs of the site.
    max_volumes : int
        As of :class:`mayfly.workload.reading.ReadOptions`.
    unanswered : bool
        Whether connections that nobody answered are rows when memory is short; else they are summed up, which floods
        and scans ask for.

    Returns
    -------
    Captured

    Raises
    ------
    MayflyError
        As :func:`mayfly.workload.connections.read_captures`; ``internal`` is no CIDR, or holds no host; what does not
        fit into memory cannot be put into a file.
    """
    networks = None if internal is None else networks_of(internal)
    look = Look(list(names), gives_up=True)
    options = ReadOptions(max_flows=most_open(), max_held=most_connections(), max_volumes=max_volumes).for_files(names)
    folder = WaitingFolder()
    try:
        left = os.path.join(folder.name, "left.parquet")
        read = _native.profile_capture(list(names), options, look, networks, left, unanswered)
    except ValueError as error:
        raise MayflyError(" ".join(str(error).split())) from None
    except OSError as error:
        raise MayflyError(f"{folder.name}: connections that do not fit into memory cannot be kept: {error}") from None
    look.end()
    answer = json.loads(read.answer())
    counts = noted(answer["counts"])
    counts["stopped"] = look.stopped if counts["stopped"] else None
    columns = columns_of_capture(read, answer["dataset"]["connections"], folder)
    return Captured(columns, counts, answer["site"], read, folder)
