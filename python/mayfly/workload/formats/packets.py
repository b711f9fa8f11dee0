"""Packet captures: every direction of a connection that carried payload is a flow."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.readable import printable, share_text
from mayfly.workload.columns import Columns
from mayfly.workload.formats.format import Format, Rules
from mayfly.workload.lists import flow_list

SAID_FROM = 0.01
"""Share of the bytes from which on it is said that the list does not have them."""

MAGIC = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x34\xcd\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
    # Zstandard and LZ4: of the formats here only captures may be in them.
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
)
"""First bytes of pcap (microseconds, nanoseconds, modified, in both byte orders), pcapng, Zstandard and LZ4."""


def _read(path: Path, rules: Rules) -> pl.DataFrame:
    return pl.concat(list(_parts(path, rules)))


def _parts(path: Path, rules: Rules) -> Iterator[pl.DataFrame]:
    from mayfly.workload.account import account_of, aside_of_columns, cannot_answer
    from mayfly.workload.capture import flows_in_parts
    from mayfly.workload.captured import read_captured
    from mayfly.workload.connections import why_no_flow
    from mayfly.workload.copies import copies_sentence
    from mayfly.workload.doubts import refuse_partial
    from mayfly.workload.replayed import refuse_clock_jump
    from mayfly.workload.sieve import sieve_sentences

    found = read_captured([str(path)])
    counts, columns = found.counts, found.columns
    refuse_partial(counts, printable(path), "a flow list")
    refuse_clock_jump(columns["start_s"], str(path), scaled=True)
    used, rows = np.zeros(columns.height, dtype=bool), 0
    for flows in flows_in_parts(columns, rules.networks):
        rows += flows.height
        used[rules.started(flows)["connection_id"].to_numpy()] = True
        yield flow_list(flows.drop("connection_id"), mss=rules.mss, source=str(path))
    if not rows:
        raise MayflyError(f"{printable(path)}: no flow in it: {why_no_flow(columns.height, counts)}")
    account = account_of(counts, [path], aside_of_columns(columns, used))
    rules.accounts.append(account)
    rules.notes.extend(cannot_answer([account]))
    rules.notes.extend(_without_others(columns))
    rules.notes.extend(filter(None, [copies_sentence(counts)]))
    rules.notes.extend(sieve_sentences(counts))


def _without_others(table: Columns) -> list[str]:
    """What is no flow of the list, from 1 % of the bytes on."""
    others = table.words("protocol").are("other")
    carried = table["opener_wire_bytes"] + table["responder_wire_bytes"]
    whole, left = int(carried.sum()), int(carried[others].sum())
    if not whole or left < SAID_FROM * whole:
        return []
    packets = int((table["opener_packets"][others] + table["responder_packets"][others]).sum())
    return [
        f"{packets:,} packets of other IP protocols than TCP and UDP, {share_text(left / whole)} of the bytes, are not "
        "in the list, which has no such flows: whatif and tree replay them as load"
    ]


PCAP = Format(
    id="pcap",
    title="packet capture: pcap, pcapng, also in gzip, Zstandard or LZ4",
    holds="connections; a flow per direction that carried payload",
    suffixes=(),
    sniff=lambda head: head.startswith(MAGIC),
    read=_read,
    parts=_parts,
    source="[](../captures.md)",
)
