"""40 kB behind a bulk transfer at 10 Mbit/s, 20 ms, limit 100, in the kernel (docs/kernel/index.md)."""

import statistics

import behind_bulk
import pytest

pytestmark = pytest.mark.kernel

PACKET_S = 1514 * 8 / 10e6
SHORT_S = 3 * 0.02 + 10 * PACKET_S + 4 * PACKET_S
"""SYN, 10 segments, 20 segments: three round trips, and the last 10 segments behind the 10 before them. The SYN and
each lot of 10 may find another packet in transmission."""
FRAGMENT_S = (30_000 + 1514) * 8 / 10e6
"""What EFD lets go first of a flow that it does not know any more, its default threshold."""


@pytest.mark.parametrize("name", behind_bulk.OURS)
def test_transfers_meet_at_most_the_packet_in_transmission(name):
    assert max(behind_bulk.times_s(name)) < SHORT_S


@pytest.mark.parametrize("name", behind_bulk.OURS)
def test_ours_come_before_fair_queues_and_these_before_fifo(name):
    fair = [behind_bulk.times_s(peer) for peer in ("sfq", "fq_codel", "cake")]
    assert max(behind_bulk.times_s(name)) < min(map(min, fair))
    assert max(map(statistics.mean, fair)) < statistics.mean(behind_bulk.times_s("pfifo"))


@pytest.mark.parametrize("name", behind_bulk.OURS)
def test_the_bulk_transfer_keeps_the_rest_of_the_link(name):
    # 1448 of 1514 bytes are payload, and 31 transfers of 40 kB went first; 0.3 Mbit/s for the slow start of a window.
    end, received = behind_bulk.run(name)["progress"][-1]
    rest = (10 * 1448 / 1514) - 31 * 40_000 * 8e-6 / end
    assert rest - 0.3 < received * 8e-6 / end < rest + 0.01


@pytest.mark.parametrize("name", ["efd", "las", "run2c"])
def test_transfers_stay_short_beside_udp_at_a_constant_rate(name):
    # EFD forgets a flow while none of its packets waits: the bulk transfer and UDP may come back once each.
    forgotten_s = 2 * FRAGMENT_S if name == "efd" else 0
    assert max(behind_bulk.times_s(name, udp=True)) < SHORT_S + forgotten_s
    assert max(behind_bulk.times_s(name, udp=True)) < min(behind_bulk.times_s("pfifo", udp=True))
