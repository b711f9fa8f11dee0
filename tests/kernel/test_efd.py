"""Our queue disciplines in the kernel, efd first."""

import guest
import pytest
import qdiscs

pytestmark = pytest.mark.kernel

BULK = {
    "rate_bps": 10_000_000,
    "delay_s": 0.01,
    "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
    "cubic": {},
    "congestion": "cubic",
    "bulk_congestion": "cubic",
    "size_bytes": 40_000,
    "starts_s": [5.0 + second for second in range(20)],
    "duration_s": 26.0,
    "look_s": 1.0,
    "capture": False,
}


@pytest.mark.parametrize("row", [row for row in qdiscs.ROWS if row.size_based], ids=lambda row: row.id)
def test_short_transfers_do_not_wait_behind_a_bulk_one(row):
    # SYN, then 10, 20 segments: three times 20 ms and 30 transmissions of 1.2 ms are 97 ms with nothing in the way.
    result = guest.run("transfers.py", {**BULK, "leaf": f"{row.id} limit 100 {row.for_short}"}, modules=qdiscs.MODULES)
    times = [transfer["finish_s"] - transfer["start_s"] for transfer in result["transfers"]]
    assert len(times) == 20 and max(times) < 0.1
