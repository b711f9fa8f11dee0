"""Formats that look like flow lists and are not read: each is named, with what to do instead."""

import re

from mayfly.workload.formats.format import first_words

_NFCAPD = "binary file of nfcapd: must be written as CSV first, by nfdump -r FILE -o csv"

_MAGIC = (
    (b"\x02\x21\x4c\x18", "LZ4 of the legacy format: must be decompressed first, by lz4 -d"),
    (b"\xfd7zXZ", "xz: must be decompressed first, by xz -d"),
    (b"BZh", "bzip2: must be decompressed first, by bzip2 -d"),
    (b"PK\x03\x04", "zip archive: must be unpacked first"),
    (b"\x0c\xa5", _NFCAPD),
    (b"\xa5\x0c", _NFCAPD),
    (b"snoop\0\0\0", "snoop capture: must be converted first, by editcap -F pcap"),
    (b"RTSS", "capture of Network Monitor: must be converted first, by editcap -F pcap"),
    (b"GMBU", "capture of Network Monitor: must be converted first, by editcap -F pcap"),
)

_ARGUS_COOKIES = (b"\xe5\x71\x2d\xcb", b"\xe5\x61\x7a\xcb")
"""One of them is in the management record with which a file of Argus begins."""

_ARGUS = "{} of Argus, which is not read: give the capture itself, or a flow list with start_s and size_bytes"

_ZEEK_ROW = re.compile(r"\d+\.\d+\tC\w+\t")
"""Time and uid, with which rows of Zeek's logs begin."""

_NFDUMP_TEXT = re.compile(r"Date first seen\s")


def not_read(head: bytes) -> str | None:
    r"""What a file is that no reader takes, and what to do with it.

    Parameters
    ----------
    head : bytes
        The first of a file, uncompressed.

    Returns
    -------
    str or None
        None for a file that is none of those known here.

    Examples
    --------
    >>> not_read(b"BZh")
    'bzip2: must be decompressed first, by bzip2 -d'
    >>> not_read(b"start_s,size_bytes\n")
    """
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return what
    if head[:1] and head[0] & 0xF0 == 0x80 and any(cookie in head[:64] for cookie in _ARGUS_COOKIES):
        return _ARGUS.format("binary file")
    words = first_words(head)
    if not words:
        return None
    first = words[0]
    cells = [cell.strip() for cell in first.split(",")]
    if cells[0] == "StartTime" and ("SrcAddr" in cells or "DstAddr" in cells):
        return _ARGUS.format("CSV")
    if _ZEEK_ROW.match(first):
        return "log of Zeek without its header: must begin with the line #fields, which zeek-cut keeps with -c"
    if _NFDUMP_TEXT.match(first):
        return "text of nfdump: must be written as CSV, by nfdump -o csv"
    if first.startswith("{") and b'"metadata"' in head and b'"DATA_FILENAME"' in head:
        return "result of flent, which has no flows: give the capture of its test"
    return None
