"""Packet captures: every direction of a connection that carried payload is a flow."""

from pathlib import Path

import polars as pl

from mayfly.errors import MayflyError
from mayfly.text.readable import printable
from mayfly.workload.formats.format import Format, Rules
from mayfly.workload.lists import flow_list

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
    from mayfly.workload.account import account_of, aside_of, cannot_answer
    from mayfly.workload.capture import flows_of_connections
    from mayfly.workload.connections import connections, why_no_flow
    from mayfly.workload.copies import copies_sentence
    from mayfly.workload.doubts import refuse_partial
    from mayfly.workload.replayed import refuse_clock_jump
    from mayfly.workload.sieve import sieve_sentences

    frame, counts = connections(path)
    refuse_partial(counts, printable(path), "a flow list")
    refuse_clock_jump(frame, str(path), scaled=True)
    flows = flows_of_connections(frame, rules.networks)
    if not flows.height:
        raise MayflyError(f"{printable(path)}: no flow in it: {why_no_flow(frame.height, counts)}")
    account = account_of(counts, [path], aside_of(frame, rules.started(flows)))
    rules.accounts.append(account)
    rules.notes.extend(cannot_answer([account]))
    rules.notes.extend(filter(None, [copies_sentence(counts)]))
    rules.notes.extend(sieve_sentences(counts))
    return flow_list(flows.drop("connection_id"), mss=rules.mss, source=str(path))


PCAP = Format(
    id="pcap",
    title="packet capture: pcap, pcapng, also in gzip, Zstandard or LZ4",
    holds="connections; a flow per direction that carried payload",
    suffixes=(),
    sniff=lambda head: head.startswith(MAGIC),
    read=_read,
    source="[](../captures.md)",
)
