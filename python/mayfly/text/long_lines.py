"""Files of lines that have none: refused before they are read whole."""

from typing import BinaryIO

from mayfly.errors import MayflyError

HEADER_BYTES = 1 << 16
"""Longest header line of a table."""

LINE_BYTES = 1 << 28
"""Longest line below it that is looked for: a flow with tens of millions of packets is shorter."""

_STEP_BYTES = 1 << 20


def refuse_long_lines(stream: BinaryIO, source: str) -> None:
    r"""Refuse a table whose header, or whose first row, is longer than any is.

    Parameters
    ----------
    stream : binary file
        At its beginning; read as far as needed.
    source : str
        What the message calls it.

    Raises
    ------
    MayflyError
        The first line is longer than :data:`HEADER_BYTES`, or the second than :data:`LINE_BYTES`.

    Examples
    --------
    >>> import io
    >>> refuse_long_lines(io.BytesIO(b"start_s,size_bytes\n0,100\n"), "flows.csv")
    >>> refuse_long_lines(io.BytesIO(b"1" * 100_000), "flows.csv")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: flows.csv: its first line is longer than 65,536 bytes: must be a header of columns
    """
    head = stream.read(HEADER_BYTES + 1)
    ends = head.find(b"\n")
    if ends < 0 and len(head) > HEADER_BYTES:
        raise MayflyError(
            f"{source}: its first line is longer than {HEADER_BYTES:,} bytes: must be a header of columns"
        )
    if ends < 0 or b"\n" in head[ends + 1 :]:
        return
    length = len(head) - ends - 1
    while part := stream.read(_STEP_BYTES):
        if b"\n" in part:
            return
        length += len(part)
        if length > LINE_BYTES:
            raise MayflyError(
                f"{source}: its second line is longer than {LINE_BYTES:,} bytes: must be a row of a table"
            )
