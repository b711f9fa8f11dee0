"""Links that vary: at the times of a trace the rate of htb is another, and rate and delay of netem behind it.

A packet that has begun ends at the rate at which it began; netem keeps the order of packets whatever its delay becomes.
htb has no rate of 0: it would let one packet pass and charge it so much that it blocks for a minute after. The settings
have outages as the rate at which one full packet takes as long as they last.
"""

from functools import partial

from interfaces import netem
from namespaces import shell


def plan(run, network) -> None:
    """Has every link of `network` change at the times of its ``schedule``: rows of time (s), rate (bit/s), delay (s)."""
    for router, device, wire, end, way in network.ways(run.settings):
        for at_s, rate_bps, delay_s in way.get("schedule", []):
            leaf = None if way["leaf_shapes"] else (router, device)
            run.at(at_s, partial(change, leaf, (wire, end), rate_bps, delay_s, network.overhead))


def change(leaf: tuple[str, str] | None, wire: tuple[str, str], rate_bps: int, delay_s: float, overhead: int):
    """Gives an interface another rate, and what is behind it another rate and delay."""
    if leaf is not None:
        router, device = leaf
        rate = f"rate {rate_bps}bit ceil {rate_bps}bit burst 1 cburst 1 quantum 1514"
        shell(f"tc -n {router} class change dev {device} parent 1: classid 1:1 htb {rate}")
    namespace, device = wire
    shell(f"tc -n {namespace} qdisc change dev {device} root {netem(rate_bps, delay_s, overhead)}")
