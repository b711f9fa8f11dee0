"""QUIC beside picoquic's bounds: its tests over simulated links, as runs of ours.

``show`` runs the rows of ``tests/reference/picoquic_links.toml`` and prints how long each took, ``write PAGE`` puts the
table into a page. A row is inside when the transfer is complete within the time that the test of picoquic asserts and
not before its bytes can be through.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from page_parts import put

import mayfly
from mayfly.scenario.presets import PRESETS

NAME = "benchmarks/picoquic_links.py"
LINKS = Path(__file__).parents[1] / "tests" / "reference" / "picoquic_links.toml"

SEEDS = (1, 2, 3)
"""Of the rows with losses by chance; the slowest run counts."""

REQUEST_BYTES = 257
"""Payload of a request in picoquic's tests."""

IP_UDP_BYTES = 28
"""IPv4 and UDP headers, which picoquic's links do not count."""

ACK_BYTES = 36
"""An acknowledgement without them."""

ACK_EVERY = 4
"""Packets with one acknowledgement where both ends agreed on fewer: the least of ``picoquic_compute_ack_gap`` there."""

L4S_FROM_MS = 0.8
"""Waiting time from which picoquic's queue of L4S marks."""

UNBOUNDED_BYTES = 1_000_000_000
"""Buffer of a link without a limit."""

TCP = {"tcp.preset": "linux-6.1", "tcp.recovery": "sack", "tcp.fin": False}
"""What the same rule has over TCP."""

UNBOUNDED_WINDOW = 1 << 20
"""Credit of a connection without a limit, full packets."""

DOUBLING = (
    "no window that doubles per round trip is as fast: beyond 100 ms picoquic begins with a larger one and lets it "
    "grow by as much more per round trip (`picoquic_cc_update_cwin_for_long_rtt`, `picoquic_cc_increased_window`)"
)
"""Why rows are outside whose bound is below the time of doubling."""

PROBE_RTT = (
    "ProbeRTT of BBR: every five seconds half the window for two round trips, 1.2 s of 6.3 s in samples of 0.3 s; "
    "neither a larger initial window nor a larger buffer helps, and over TCP it is as slow: the rule's, open"
)
"""Why BBRv3 is outside where round trips are long."""

REASONS: dict[str, str] = {
    "bbr_slow_long_test": PROBE_RTT,
    "bbr_one_second_test": PROBE_RTT,
    "satellite_small_test": PROBE_RTT,
    "satellite_small_up_test": PROBE_RTT,
    "app_limit_cc_test, bbr": (
        "the peer's credit of 28 datagrams, renewed when a quarter is used, is the bound, and ProbeRTT comes on top: "
        "with 30 it takes 20.3 s"
    ),
    "heavy_loss_total_test": (
        "RFC 9002 doubles the probe timeout without end, picoquic up to 2 s (`PICOQUIC_LARGE_RETRANSMIT_TIMER`): "
        "with `max_rto = 2s` it takes 24.0 s"
    ),
    "l4s_reno_test": (
        "a pair of datagrams that leaves for an acknowledgement of two waits 1.2 ms here, and the link marks from "
        "0.8 ms on: with `ack_every = 1` it takes 4.4 s"
    ),
    "cc_ns_asym_test": (
        "the start over 600 ms again: with the initial window of picoquic, 61 datagrams, it takes 6.1 s"
    ),
    "cc_ns_blackhole_test": (
        "the first probe after the hole leaves at 4.2 s; congestion was persistent (RFC 9002, 7.6), which picoquic "
        "does not know, and from two datagrams on the rate is back at 4.8 s"
    ),
}
"""Why others are outside."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Outcome:
    """One row.

    Parameters
    ----------
    test, congestion : str
        Function of picoquic, and rule.
    took_s, bound_s : float
        Time to the last byte, s; infinite when it was not there after three times the bound.
    least_s : float
        A round trip for the handshake and the bytes at the speed of the link, s.
    doubling_s : float
        The least of a window that begins with ten datagrams and doubles each round trip, s.
    over_tcp_s : float
        The same over TCP with the same rule, s: what is the rule's and not QUIC's.
    lost : int
        Packets that the link dropped or lost.
    """

    test: str
    congestion: str
    took_s: float
    bound_s: float
    least_s: float
    doubling_s: float
    over_tcp_s: float
    lost: int

    @property
    def is_inside(self) -> bool:
        """Whether it is complete in time, and not sooner than it can be."""
        return self.least_s <= self.took_s <= self.bound_s


def rows() -> list[dict[str, Any]]:
    """The rows of the file, with its defaults."""
    document = tomllib.loads(LINKS.read_text(encoding="utf-8"))
    return [{**document["defaults"], **row} for row in document["link"]]


def transfers(row: dict[str, Any]) -> pl.DataFrame:
    """The flow list of a row: the connection that is timed first."""
    if "upload" in row:
        return pl.DataFrame({"start_s": [0.0], "size_bytes": [row["upload"]], "opened_by": ["sender"]})
    if "objects" in row:
        count, size = row["objects"], row["object_bytes"]
        asked, came = ([str(each)] * count for each in (REQUEST_BYTES, size))
        texts = [f"up {REQUEST_BYTES * count} streams {','.join(asked)} | down {size * count} streams {','.join(came)}"]
    else:
        texts = [" | ".join(f"up {REQUEST_BYTES} | down {size}" for size in row["download"])]
    if "beside" in row:
        texts.append(f"up {REQUEST_BYTES} | down {row['beside']}")
    return pl.DataFrame({"start_s": [0.0] * len(texts), "script": texts})


def scenario_of(row: dict[str, Any], changes: dict[str, Any]) -> mayfly.Scenario:
    """The run of a row; ``changes`` of the transport win over what the row needs."""
    tcp: dict[str, Any] = {"congestion": row["congestion"], "receiver_window": UNBOUNDED_WINDOW}
    preset = PRESETS["quic"]
    wire = preset["mss"] + preset["header"]
    uploads = "upload" in row
    there, back = (row["up"], row["down"]) if uploads else (row["down"], row["up"])
    one_way_s = (row["latency_ms"] + row.get("jitter_ms", 0)) / 1e3
    scale = wire / (wire - IP_UDP_BYTES)
    back *= (ACK_BYTES + IP_UDP_BYTES) / ACK_BYTES / scale
    waits_s = row["queue_ms"] / 1e3

    def buffer(rate: float) -> str:
        return f"{round(rate * scale * waits_s / 8) + wire if waits_s else UNBOUNDED_BYTES}B"

    network: dict[str, Any] = {
        "rate": round(there * scale),
        "reverse_rate": round(back * scale),
        "delay": one_way_s,
        "access_rate": "400gbit",
        "access_delay": 0.0,
        "exit_delay": 0.0,
        "buffer": buffer(there),
        "reverse_buffer": buffer(back),
        "loss": row.get("loss", 0.0),
    }
    if "blackhole_s" in row:
        begin, end = row["blackhole_s"]
        network["impairment"] = [{"direction": way, "do": "drop", "from": begin, "to": end} for way in ("data", "ack")]
    if "l4s_ms" in row:
        tcp["ecn"] = "l4s"
    if "credit" in row:
        tcp["receiver_window"] = -(-row["credit"] // preset["mss"])
    if row.get("ack_frequency"):
        tcp["ack_every"] = ACK_EVERY
    overrides = {f"network.{name}": value for name, value in network.items()}
    overrides |= {"tcp.preset": "quic", **{f"tcp.{name}": value for name, value in tcp.items()}, **changes}
    return mayfly.load_scenario(
        "wired", {**overrides, "duration": 3.0 * row["bound_s"], "stop_when_idle": True, "sample_interval": 0.0}
    )


def timed(row: dict[str, Any], changes: dict[str, Any]) -> tuple[float, int]:
    """Runs a row: time to the last byte, s, and packets lost; of the slowest run."""
    scenario = scenario_of(row, changes)
    range_ms = row.get("l4s_ms", 0) - L4S_FROM_MS
    queue = f"dualpi2(l_threshold={L4S_FROM_MS / 1e3:g},l_range={range_ms / 1e3:g})" if "l4s_ms" in row else "fifo"
    flows = transfers(row)
    took_s, lost = 0.0, 0
    for seed in SEEDS if row.get("loss") else SEEDS[:1]:
        records = mayfly.run(scenario.override(seed=seed), queue, flows).records
        finish_s = records["finish_s"][0]
        took_s = max(took_s, float("inf") if finish_s is None else finish_s)
        lost = max(lost, int(records["drops"][0] + records["lost"][0]))
    return took_s, lost


def doubling(payload_bytes: int, rate_bps: float, rtt_s: float, uploads: bool) -> float:
    """The least time of a window that begins with ten datagrams and doubles each round trip, s: of the bytes alone."""
    window = 10.0 * PRESETS["quic"]["mss"]
    # Data leaves the client after the handshake, the server once it is asked.
    at_s, left = rtt_s if uploads else 1.5 * rtt_s, float(payload_bytes)
    while left > (sent := min(window, rate_bps * rtt_s / 8)):
        at_s, left, window = at_s + rtt_s, left - sent, 2 * window
        if window * 8 > rate_bps * rtt_s:
            break
    return at_s + left * 8 / rate_bps + rtt_s / 2


def outcome(row: dict[str, Any], changes: dict[str, Any] | None = None) -> Outcome:
    """Runs a row, and its transfer over TCP."""
    took_s, lost = timed(row, changes or {})
    whole = [row["objects"] * row["object_bytes"]] if "objects" in row else row.get("download")
    single = {name: value for name, value in row.items() if name != "objects"} | {"download": whole}
    over_tcp_s, _ = timed(single, TCP)
    payload = row.get("upload") or sum(row.get("download") or [row.get("objects", 0) * row.get("object_bytes", 0)])
    rate = row["up"] if "upload" in row else row["down"]
    least_s = payload * 8 / rate + 3 * row["latency_ms"] / 1e3
    doubling_s = doubling(payload, rate, 2 * row["latency_ms"] / 1e3, "upload" in row)
    return Outcome(row["test"], row["congestion"], took_s, row["bound_s"], least_s, doubling_s, over_tcp_s, lost)


def table(outcomes: list[Outcome]) -> str:
    """The page's table, and why rows are outside."""
    inside = sum(found.is_inside for found in outcomes)
    lines = [
        f"{inside} of {len(outcomes)} are inside.",
        "",
        "| test | rule | least, s | doubling, s | ours, s | bound, s | | lost | TCP, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for found in outcomes:
        verdict = "inside" if found.is_inside else "**outside**"
        times = (f"{found.least_s:.3g}", f"{found.doubling_s:.3g}", _seconds(found.took_s), f"{found.bound_s:g}")
        cells = (f"`{found.test}`", f"`{found.congestion}`", *times, verdict, found.lost, _seconds(found.over_tcp_s))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    outside = [found for found in outcomes if not found.is_inside]
    early = [f"`{found.test}`" for found in outside if found.bound_s < found.doubling_s]
    if outside:
        lines.append("")
    if early:
        lines.append(f"- {', '.join(early)}: {DOUBLING}")
    others = [found.test for found in outside if found.bound_s >= found.doubling_s]
    lines += [f"- `{test}`: {REASONS.get(test, 'open')}" for test in others]
    return "\n".join(lines)


def _seconds(time_s: float) -> str:
    return "-" if time_s == float("inf") else f"{time_s:.4g}"


def _all(only: str, changes: list[str]) -> list[Outcome]:
    given = dict(change.split("=", 1) for change in changes)
    return [outcome(row, given) for row in rows() if re.search(only, row["test"])]


@app.command()
def show(
    only: Annotated[str, typer.Option(help="Rows whose test this regular expression finds")] = "",
    changes: Annotated[list[str], typer.Option("--set", help="Setting of the transport: tcp.FIELD=VALUE")] = [],  # noqa: B006
) -> None:
    """Print how long each row took."""
    print(table(_all(only, changes)))


@app.command()
def write(page: Annotated[Path, typer.Argument(help="Page whose table this is")]) -> None:
    """Put the table into a page."""
    put(page, NAME, table(_all("", [])))


if __name__ == "__main__":
    app()
