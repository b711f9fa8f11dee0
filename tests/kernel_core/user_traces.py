"""Traces for LFQ: packets of hosts, with marks, that fill tables, take turns, starve, and flood with new addresses."""

import random
from collections.abc import Iterator

SENT = 750
"""Bytes that a packet takes of the link on average."""
LENGTHS = ((1500,), (40, 1500), (60,), range(40, 1515), (1500, 9000, 64_000))


class Sender:
    """A connection: hosts, lengths, ECN field, mark, and how many packets come together."""

    def __init__(self, rng: random.Random, number: int, hosts: int):
        self.number = number
        self.src, self.dst = rng.randrange(hosts), (1 << 24) + rng.randrange(hosts)
        self.lengths = rng.choice(LENGTHS)
        self.ecn = rng.choice((0, 0, 1, 2, 3))
        self.mark = rng.choice((0, 1, 1, 2, 5, 40, 70_000))
        self.burst = rng.choice((1, 1, 2, 10, 60))

    def line(self, rng: random.Random, now: int, handle: int) -> str:
        """A packet, now and then in the other direction."""
        back = rng.random() < 0.05
        ends = (self.dst, self.src) if back else (self.src, self.dst)
        length, flow = rng.choice(self.lengths), self.number << 1 | back
        return f"+ {now} {flow} {handle} 0 {length} u {self.ecn} {ends[0]} {ends[1]} {self.mark}"


def link(seed: int, packets: int, *, flows: int, hosts: int, rate_bps: float, load: float) -> Iterator[str]:
    """A link that sends one packet after the other while some wait, at a rate that changes now and then.

    Senders come in bursts, fall silent and are followed by others; `load` is how many packets they send for each that
    the link does.
    """
    rng = random.Random(seed)
    known = [Sender(rng, number, hosts) for number in range(flows)]
    now = free = handle = left = 0
    per_byte_ns = 8e9 / rate_bps
    while handle < packets:
        sender = rng.choice(known)
        for _ in range(sender.burst):
            yield sender.line(rng, now, handle)
            handle += 1
            left += 1
        now += round(rng.expovariate(load) * sender.burst * SENT * per_byte_ns)
        free = free if left else max(free, now)
        while left and free <= now:
            yield f"- {free}"
            left -= 1
            free += round(rng.choice((SENT / 10, SENT, 1.9 * SENT)) * per_byte_ns)
        if rng.random() < 0.02:
            known[rng.randrange(flows)] = Sender(rng, rng.randrange(1 << 40), hosts)
        if rng.random() < 0.001:
            now += rng.randrange(2_000_000_000)
        if rng.random() < 0.001:
            per_byte_ns = 8e9 / rate_bps * rng.choice((0.1, 1, 1, 10, 100))


def new_addresses(seed: int, packets: int, *, again: float) -> Iterator[str]:
    """Ten steady hosts beside one packet after the other of a new address, some of which come again later."""
    rng = random.Random(seed)
    now = handle = 0
    seen = [0]
    for handle in range(packets):
        if rng.random() < 0.5:
            host = rng.randrange(10)
            flow, src, length = 20 + 10 * host + rng.randrange(3), host, 1500
        else:
            src = rng.choice(seen) if rng.random() < again else rng.randrange(1 << 32)
            seen = [*seen[-500:], src]
            flow, length = (1 << 40) + src + (rng.randrange(4) << 33), rng.choice((60, 1500))
        yield f"+ {now} {flow << 1} {handle} 0 {length} d {rng.choice((0, 2))} {src} 4000000000 {rng.randrange(3)}"
        now += rng.randrange(1_000_000)
        if rng.random() < 0.8:
            yield f"- {now}"
