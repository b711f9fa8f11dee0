"""Links that vary: at the times of a trace the rate of htb is another, and rate and delay of netem behind it.

A packet that has begun ends at the rate at which it began; netem keeps the order of packets whatever its delay becomes.

htb has no rate of 0. In an outage one packet passes, and is charged what is left of the outage, whatever its length:
``mpu`` is above all lengths, and the rate such that so many bytes take that time. netem holds it as long.
"""

from functools import partial

from interfaces import netem
from namespaces import shell

ANY = 1600  # bytes: above every frame


def plan(run, network) -> None:
    """Has every link of `network` change as its ``schedule`` says.

    Rows of that: time (s), rate (bit/s), delay (s), what is left of an outage (s).
    """
    for router, device, wire, end, way in network.ways(run.settings):
        leaf = None if way["leaf_shapes"] else (router, device)
        for at_s, *row in way.get("schedule", []):
            run.at(at_s, partial(change, leaf, (wire, end), network.overhead, *row))


def change(leaf, wire, overhead: int, rate_bps: int, delay_s: float, left_s: float) -> None:
    """Gives an interface another rate, and what is behind it another rate and delay."""
    if leaf is not None:
        router, device = leaf
        own = max(round(ANY * 8 / left_s), 8) if left_s else rate_bps
        rate = f"rate {own}bit ceil {own}bit burst 1 cburst 1 quantum 1514" + (f" mpu {ANY}" if left_s else "")
        shell(f"tc -n {router} class change dev {device} parent 1: classid 1:1 htb {rate}")
    namespace, device = wire
    shell(f"tc -n {namespace} qdisc change dev {device} root {netem(rate_bps, delay_s + left_s, overhead)}")
