"""Every tool whose output is read: a row here and a file beside it."""

import os
from pathlib import Path

from mayfly.errors import MayflyError
from mayfly.profile.agreement import logs, mayfly, tcptrace, tshark
from mayfly.profile.agreement.table import Seen
from mayfly.text.readable import printable
from mayfly.workload.formats.format import head_of

TOOLS = {
    row.id: row for row in (mayfly.MAYFLY, tcptrace.CSV, tcptrace.TEXT, tshark.CONVERSATIONS, tshark.PACKETS, logs.ZEEK)
}
"""By id, in the order in which content is asked."""


def read(path: str | os.PathLike[str]) -> Seen:
    """What a file says of the connections of a capture.

    Parameters
    ----------
    path : path
        A capture, or output of a tool; told by content.

    Returns
    -------
    Seen

    Raises
    ------
    MayflyError
        It cannot be read, is of no known tool, or a row is refused; one line.
    """
    head = head_of(path)
    tool = next((tool for tool in TOOLS.values() if tool.sniff(head)), None)
    if tool is None:
        known = "; ".join(row.title.partition(" -e ")[0] for row in TOOLS.values())
        raise MayflyError(f"{printable(path)}: of no known tool: must be {known}")
    return tool.read(Path(path))
