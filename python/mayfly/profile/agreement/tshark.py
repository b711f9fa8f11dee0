"""tshark: ``-q -z conv,tcp``, and fields of every packet (``-T fields -E header=y``)."""

import re
from pathlib import Path

import polars as pl

from mayfly.errors import MayflyError
from mayfly.profile.agreement.table import Seen, Tool, in_order
from mayfly.text.files import first_line, reading
from mayfly.text.readable import printable
from mayfly.workload.formats.format import first_words, lines

FIELDS = (
    *("frame.time_epoch", "ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "tcp.srcport", "tcp.dstport", "tcp.stream"),
    *("tcp.len", "tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.analysis.keep_alive"),
    *("tcp.analysis.zero_window", "tcp.analysis.ack_rtt"),
)
"""Fields that are used; those before ``tcp.len`` must be there, but either of IPv4 and IPv6 may be absent."""


def _conversations(path: Path) -> Seen:
    source, rows = printable(path), []
    with reading(source), lines(path) as text:
        for number, line in enumerate(text, 1):
            if "<->" not in line:
                continue
            # Bytes are `1311 bytes` or `25 kB`, rounded and with link headers: not compared.
            counts = re.findall(r"(\d+) [\d.]+ (?:bytes|[kMGT]?B)", line)
            ends = re.match(r"^(\S+):(\d+)\s+<->\s+(\S+):(\d+)\s", line)
            times = re.search(r"([\d.]+)\s+([\d.]+)\s*$", line)
            if len(counts) != 3 or ends is None or times is None:
                raise MayflyError(
                    f"{source}: line {number}: {printable(line.strip())}: must be as tshark -z conv,tcp has it"
                )
            back, forth, _ = map(int, counts)
            a, a_port, b, b_port = ends.groups()
            rows.append(("tcp", a, int(a_port), b, int(b_port), float(times[1]), float(times[2]), forth, back))
    if not rows:
        raise MayflyError(f"{source}: no conversations: must hold at least one")
    names = ("protocol", "a", "a_port", "b", "b_port", "start_s", "duration_s", "ab_packets", "ba_packets")
    return Seen("tshark", path.name, in_order(pl.DataFrame(rows, schema=names, orient="row")), {"duration_s": 1e-4})


def _fields(path: Path) -> Seen:
    source = printable(path)
    try:
        table = pl.read_csv(path, separator="\t", infer_schema=False, quote_char=None, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise MayflyError(f"{source}: cannot be read: {first_line(error)}") from None
    for name in ("frame.time_epoch", "tcp.srcport", "tcp.dstport", "tcp.stream", "tcp.len"):
        if name not in table.columns:
            raise MayflyError(f"{source}: field {name} is missing: must have {' '.join(FIELDS[:9])}")
    table = table.with_columns(
        pl.lit(None, dtype=pl.String).alias(name) for name in FIELDS if name not in table.columns
    )
    # Of packets inside tunnels each field has several values: the outermost, which is what counts here.
    table = table.select(pl.col(name).str.split(",").list.first().alias(name) for name in FIELDS)
    table = table.with_columns(pl.col(name).replace("", None) for name in FIELDS).filter(
        pl.col("tcp.stream").is_not_null()
    )
    counts = {"tcp.srcport": pl.Int64, "tcp.dstport": pl.Int64, "tcp.stream": pl.Int64, "tcp.len": pl.Int64}
    for name, dtype in (counts | {"frame.time_epoch": pl.Float64, "tcp.analysis.ack_rtt": pl.Float64}).items():
        values = table[name].cast(dtype, strict=False)
        wrong = values.is_null() & table[name].is_not_null()
        if wrong.any():
            row = wrong.arg_true()[0]
            raise MayflyError(f"{source}: row {row + 1}: {name} = {printable(table[name][row])}: must be a number")
        table = table.with_columns(values)
    if table.height == 0:
        raise MayflyError(f"{source}: no TCP packets: must hold at least one")
    # Times since 1970 are doubles: exact to 0.2 us.
    return Seen("tshark", path.name, in_order(_summed(table)), {"duration_s": 1e-6})


def _summed(table: pl.DataFrame) -> pl.DataFrame:
    """One row per stream, the sender of its first packet first."""
    packets = table.select(
        pl.coalesce("ip.src", "ipv6.src").alias("src"),
        pl.coalesce("ip.dst", "ipv6.dst").alias("dst"),
        pl.col("tcp.srcport").alias("src_port"),
        pl.col("tcp.dstport").alias("dst_port"),
        pl.col("tcp.stream").alias("stream"),
        pl.col("frame.time_epoch").alias("time_s"),
        pl.col("tcp.len").alias("bytes"),
        pl.col("tcp.analysis.ack_rtt").alias("rtt_s"),
        *(
            pl.col(f"tcp.analysis.{name}").is_not_null().alias(name)
            for name in ("retransmission", "out_of_order", "keep_alive", "zero_window")
        ),
    )
    first = ("src", "src_port", "dst", "dst_port")
    packets = packets.with_columns(pl.col(name).first().over("stream").alias(f"first_{name}") for name in first)
    sent = (pl.col("src") == pl.col("first_src")) & (pl.col("src_port") == pl.col("first_src_port"))
    sums = []
    for way, own in (("ab", sent), ("ba", ~sent)):
        # The time of an acknowledgement is that of the data it acknowledges, of the other side.
        timed = pl.col("rtt_s").filter(~own)
        sums += [
            own.sum().alias(f"{way}_packets"),
            pl.col("bytes").filter(own).sum().alias(f"{way}_payload_bytes"),
            (own & (pl.col("bytes") > 0)).sum().alias(f"{way}_data_packets"),
            (own & pl.col("retransmission")).sum().alias(f"{way}_retransmits"),
            (own & pl.col("out_of_order")).sum().alias(f"{way}_out_of_order"),
            (own & (pl.col("retransmission") | pl.col("out_of_order"))).sum().alias(f"{way}_repeats"),
            (own & pl.col("keep_alive")).sum().alias(f"{way}_keep_alives"),
            (own & pl.col("zero_window")).sum().alias(f"{way}_zero_windows"),
            timed.count().alias(f"{way}_rtt_samples"),
            timed.min().alias(f"{way}_rtt_min_s"),
            timed.mean().alias(f"{way}_rtt_mean_s"),
            timed.max().alias(f"{way}_rtt_max_s"),
        ]
    start_s = packets["time_s"].min()
    return (
        packets.group_by("stream", maintain_order=True)
        .agg(
            pl.lit("tcp").alias("protocol"),
            *(pl.col(f"first_{name}").first().alias(short) for name, short in zip(first, _SHORT, strict=True)),
            (pl.col("time_s").min() - start_s).alias("start_s"),
            (pl.col("time_s").max() - pl.col("time_s").min()).alias("duration_s"),
            *sums,
        )
        .drop("stream")
    )


_SHORT = ("a", "a_port", "b", "b_port")

CONVERSATIONS = Tool(
    id="tshark-conv",
    title="tshark -q -z conv,tcp",
    sniff=lambda head: "TCP Conversations" in first_words(head)[:8],
    read=_conversations,
)

PACKETS = Tool(
    id="tshark",
    title="tshark -T fields -E header=y -e " + " -e ".join(FIELDS),
    sniff=lambda head: "tcp.stream" in (first_words(head) or [""])[0].split("\t"),
    read=_fields,
)
