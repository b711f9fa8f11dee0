"""Our queue disciplines in the kernel: what every test of them runs over.

They are found by their cases in ``kernel/tdc``, which name the options that are taken and refused. A row of `KNOWN` is
for one of which more is known: how JSON shows an option, why one is refused, which checks apply.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mayfly.discipline_registry import disciplines

TDC = Path(__file__).resolve().parents[2] / "kernel" / "tdc"


@dataclass(frozen=True)
class Row:
    """A queue discipline in the kernel.

    Parameters
    ----------
    id : str
        Of tc; its module is ``sch_<id>``.
    options : tuple of tuple
        Options, the key of ``tc -j`` and the value that it shows for them; without a key what the text matches.
    refused : tuple of tuple
        Options that are refused, and a word of the reason; empty where that is not known.
    flows : str
        Key of the number of flows in ``tc -s -j``, of those that wait; empty where there is none.
    all_headers : str
        Options with which it reads most of a packet.
    all_memory : str
        Options with which its limit alone bounds what waits.
    splits : bool
        It has the options ``split`` and ``nosplit``.
    size_based : bool
        Short flows go first.
    drops_early : bool
        It drops packets before the buffer is full, or marks them.
    for_short : str
        Options with which a flow of 40 kB is short.
    """

    id: str
    options: tuple[tuple[str, str, object], ...]
    refused: tuple[tuple[str, str], ...] = ()
    flows: str = ""
    all_headers: str = ""
    all_memory: str = ""
    splits: bool = True
    size_based: bool = True
    drops_early: bool = False
    for_short: str = ""

    @property
    def module(self) -> str:
        return f"sch_{self.id}"


KNOWN = (
    Row(
        "efd",
        options=(
            ("limit 7", "limit", 7),
            ("limit 450kb", "limit_bytes", 450 * 1024),
            ("count packets", "count", "packets"),
            ("count acked", "count", "acked"),
            ("threshold 5p", "threshold", 5),
            ("count bytes threshold 4kb", "threshold", 4096),
            ("high las", "high", "las"),
            ("low las", "low", "las"),
            ("flows 3", "flows_limit", 3),
            ("nosplit", "split", False),
        ),
        refused=(
            ("limit 0", "1 to 1048576 packets"),
            ("limit 1048577", "1 to 1048576 packets"),
            ("limit -5", "-5"),
            ("limit 0b", "0b"),
            ("count words", "bytes or packets or acked, not words"),
            ("threshold 0p", "not 0p"),
            ("threshold 0", "not 0"),
            ("count bytes threshold 5p", "in bytes with count bytes"),
            ("high best", "fifo or las, not best"),
            ("flows 1048577", "0 to 1048576"),
            ("quantum 5", "no option quantum"),
            ("limit", "without a value"),
        ),
        flows="flows",
        all_headers="count acked",
    ),
    Row(
        "estmred",
        (
            ("limit 7", "limit", 7),
            ("limit 60000b", "limit_bytes", 60_000),
            ("min 5", "min", 5),
            ("max 15000b", "max_bytes", 15_000),
            ("avpkt 700b", "avpkt", 700),
            ("bandwidth 10mbit", "bandwidth", 10_000_000),
            ("rtt 40ms", "rtt", 0.04),
            ("delay 40ms", "rtt", 0.08),
            ("estimate off", "estimate", "off"),
            ("method p0", "method", "p0"),
            ("probability 0.25", "probability", 0.25),
            ("weight 0.125", "weight", 0.125),
            ("gentle off", "gentle", "off"),
            ("spacing wait", "spacing", "wait"),
            ("ecn on", "ecn", "on"),
            ("mark_max 0.5", "mark_max", 0.5),
            ("queued_rtt 50ms", "queued_rtt", 0.05),
            ("sampling 10ms", "sampling", 0.01),
            ("sampling 10us", "sampling", 1e-05),
            ("sampling 0", "sampling", 0),
            ("per_estimate 21", "per_estimate", 21),
            ("start 60s", "start", 60),
            ("ticks 100", "ticks", 100),
            ("queue_filter 0.25", "queue_filter", 0.25),
            ("drop_filter 0.75", "drop_filter", 0.75),
            ("smoothing 0.5", "smoothing", 0.5),
            ("gamma_1 2", "gamma_1", 2),
            ("gamma_2 1", "gamma_2", 1),
            ("zero_intervals 5", "zero_intervals", 5),
            ("start_share 0.25", "start_share", 0.25),
            ("per_ack 2", "per_ack", 2),
            ("above 0.75", "above", 0.75),
            ("below 0.5", "below", 0.5),
            ("nosplit", "split", False),
        ),
        refused=(
            ("limit 0", "1 to 1048576 packets"),
            ("limit 0b", "above 0 bytes"),
            ("min 5 max 15000b", "in one unit, not 15000b"),
            ("min 50 max 15", "at most max"),
            ("above 2", "0 to 1, not 2"),
            ("above 0.5 below 0.6", "at most above"),
            ("rtt 1us", "0.1ms to 60s"),
            ("sampling 9us", "sampling: a time from 0.01ms to 100s or 0, as 50ms, not 9us"),
            ("sampling 1ns", "sampling: a time from 0.01ms to 100s or 0, as 50ms, not 1ns"),
            ("bandwidth fast", "as 10mbit, not fast"),
            ("bandwidth 8bit avpkt 1000b", "in 8 s"),
            ("per_estimate 1.5", "whole number"),
            ("method best", "not best"),
            ("quantum 5", "no option quantum"),
            ("limit", "without a value"),
        ),
        size_based=False,
        drops_early=True,
    ),
    Row(
        "las",
        (
            ("limit 7", "limit", 7),
            ("limit 450kb", "limit_bytes", 450 * 1024),
            ("count acked", "count", "acked"),
            ("half_life 1s", "half_life_ns", 1_000_000_000),
            ("half_life never", "half_life_ns", 0),
            ("visit 500ms", "visit_ns", 500_000_000),
            ("timeout 1000000s", "timeout_ns", 10**15),
            ("flows 3", "flows_limit", 3),
            ("nosplit", "split", False),
        ),
        refused=(
            ("limit 0", "1 to 1048576 packets"),
            ("limit 1048577", "1 to 1048576 packets"),
            ("limit -5", "-5"),
            ("limit 0b", "0b"),
            ("count packets", "bytes or acked, not packets"),
            ("half_life 10us", "half_life: 1ms to 1000000s or never, not 10us"),
            ("visit 0", "visit: 1ms to 1000000s, not 0"),
            ("timeout 1000001s", "timeout: 1ms to 1000000s, not 1000001s"),
            ("flows 1048577", "0 to 1048576"),
            ("quantum 5", "no option quantum"),
            ("limit", "without a value"),
        ),
        all_headers="count acked",
    ),
    Row(
        "lfq",
        (
            ("limit 7", "limit", 7),
            ("limit 450kb", "limit_bytes", 450 * 1024),
            ("user dst", "user", "dst"),
            ("user triple", "user", "triple"),
            ("weights mark", "weights", "mark"),
            ("prefix 24", "prefix", 24),
            ("prefix6 48", "prefix6", 48),
            ("user_lag 100kb", "user_lag", 102_400),
            ("flow_lag 5kb", "flow_lag", 5120),
            ("debt 3000b", "debt", 3000),
            ("pace 0.25", "pace", 0.25),
            ("probation 0", "probation_ns", 0),
            ("flows 16", "flows_limit", 16),
            ("users 16", "users_limit", 16),
            ("lag_time 1s", "lag_time_ns", 10**9),
            ("patience 20ms", "patience_ns", 20_000_000),
            ("target 1us", "target_ns", 1000),
            ("interval 4s", "interval_ns", 4 * 10**9),
            ("mtu 1514b", "mtu", 1514),
            ("noecn", "ecn", False),
            ("step 2ms", "step_ns", 2_000_000),
            ("bandwidth 19mbit", "bandwidth", 2_375_000),
            ("overhead 18 mpu 64", "overhead", 18),
            ("overhead -4", "overhead", -4),
            ("raw", "raw", True),
            ("docsis", "mpu", 64),
            ("pppoe-ptm", "atm", "ptm"),
            ("pppoa-vcmux", "overhead", 10),
            ("overhead 18 ether-vlan ether-vlan", "overhead", 26),
            ("ingress", "ingress", True),
            ("egress", "ingress", False),
            ("bandwidth 8mbit limit 200ms", "limit_ns", 200_000_000),
            ("limit 300p bandwidth unlimited", "", "bandwidth unlimited"),
            ("memlimit 1mb", "memlimit", 1 << 20),
            ("user class weights equal", "user", "class"),
            ("user pair weights dscp dscp EF=4,cs1=2,3=7", "dscp", "3=7,CS1=2,EF=4"),
            ("nosplit", "split", False),
        ),
        refused=(
            ("limit 0", "1 to 1048576 packets"),
            ("limit 0b", "0b"),
            ("user host", "not host"),
            ("weights 5", "equal or mark or dscp, not 5"),
            ("bandwidth fast", "as 19mbit, or unlimited, not fast"),
            ("bandwidth 1kbit", "8 kbit/s to 1 Tbit/s"),
            ("overhead 257", "-64 to 256"),
            ("overhead 4 raw", "not both"),
            ("mpu 300", "0 to 256"),
            ("limit 200ms", "needs a bandwidth"),
            ("bandwidth 1mbit limit 101s", "1 ms to 100 s"),
            ("memlimit 1kb", "262144"),
            ("user class weights mark", "weigh the same"),
            ("dscp EF=0", "1 to 1000, not EF=0"),
            ("dscp XX=3", "code point"),
            ("prefix -1", "whole number, not -1"),
            ("pace 1.5", "0 to 1, not 1.5"),
            ("debt 0b", "0b"),
            ("target soon", "as 100ms, not soon"),
            ("quantum 5", "no option quantum"),
            ("limit", "without a value"),
        ),
        # Those with a queue of their own, not all that wait.
        flows="",
        all_memory="memlimit 1gb",
        size_based=False,
    ),
    Row(
        "run2c",
        (
            ("limit 7", "limit", 7),
            ("limit 450kb", "limit_bytes", 450 * 1024),
            ("count acked", "count", "acked"),
            ("threshold 4kb", "threshold", 4096),
            ("visit 500ms", "visit_ns", 500_000_000),
            ("timeout 1ms", "timeout_ns", 1_000_000),
            ("flows 3", "flows_limit", 3),
            ("nosplit", "split", False),
        ),
        refused=(
            ("limit 0", "1 to 1048576 packets"),
            ("limit 1048577", "1 to 1048576 packets"),
            ("limit -5", "-5"),
            ("limit 0b", "0b"),
            ("count packets", "bytes or acked, not packets"),
            ("threshold 0", "not 0"),
            ("visit 0", "visit: 1ms to 1000000s, not 0"),
            ("timeout 1000001s", "timeout: 1ms to 1000000s, not 1000001s"),
            ("flows 1048577", "0 to 1048576"),
            ("quantum 5", "no option quantum"),
            ("limit", "without a value"),
        ),
        all_headers="count acked",
        for_short="threshold 60kb",
    ),
)


def _cases(id: str, status: str) -> Iterator[tuple[str, str]]:
    """Options of the cases of `id` that add it with such an exit status, and the pattern that each has to match."""
    for case in json.loads((TDC / f"{id}.json").read_text()):
        before, _, options = case["cmdUnderTest"].partition(f" root {id} ")
        if " qdisc add " in before and options and case["expExitCode"] == status:
            yield options, case["matchPattern"].rpartition(".*")[2]


def from_cases(id: str) -> Row:
    """A queue discipline of which only its cases are known.

    Parameters
    ----------
    id : str
        Stem of a file of ``kernel/tdc``.
    """
    options = tuple((option, "", pattern) for option, pattern in _cases(id, "0"))
    family = next((row["family"] for row in disciplines() if row["id"] == id), "")
    return Row(
        id,
        options,
        refused=tuple((option, "") for option, _ in _cases(id, "1")),
        splits=any(option == "nosplit" for option, *_ in options),
        size_based=family == "size-based",
        drops_early=family == "queue management",
    )


_KNOWN = {row.id: row for row in KNOWN}
ROWS = tuple(_KNOWN.get(file.stem) or from_cases(file.stem) for file in sorted(TDC.glob("*.json")))
MODULES = tuple(row.module for row in ROWS)
