"""What a network of the guest puts on its devices: disciplines and rates, wires, access links, codes of marks.

A packet's length is that of the scenario: `overhead` (bytes, may be negative) is added to that of the Ethernet frame.

A **way** is one direction of a link, as the settings have it: ``rate_bps``, ``delay_s``, ``loss``, ``leaf`` (the
discipline in the words of tc) and ``leaf_shapes`` (whether it has a rate of its own); of a link that varies
``schedule`` (`schedule`), with the mean as rate. A way with a ``tree`` has classes of htb in place of one leaf:
`put_tree`, and ``wire_bps`` as the rate of the wire. `put_leaf` and `change_leaf` are about the interface at which a
way begins, `put_wire` about what is behind it: transmission and propagation.
"""

from namespaces import shell

DELAY_LIMIT = 1_000_000  # packets in netem: never the one that drops
SOURCE_PORT, TARGET_PORT = 34, 36  # of a packet of TCP or UDP, behind Ethernet and an IPv4 header without options
FREE = "100gbit"  # a rate that never is the bound
LEAF = "10:"
"""Handle of the discipline, wherever it hangs."""


def netem(rate_bps: int, delay_s: float, overhead: int) -> str:
    """Transmission at a rate, then propagation."""
    return f"netem delay {round(delay_s * 1e6)}us rate {rate_bps}bit {overhead} limit {DELAY_LIMIT}"


def put_leaf(namespace: str, device: str, way: dict, overhead: int) -> None:
    """The discipline of an interface: with a rate of its own, or below htb, which is the shaper then."""
    if "tree" in way:
        shell(f"tc -n {namespace} -batch -", put_tree(device, way, overhead))
        return
    if way["leaf_shapes"]:
        shell(f"tc -n {namespace} qdisc add dev {device} root handle {LEAF} {way['leaf']}")
        return
    # Bursts of a byte: after a pause too, one packet goes at once and the next when the link has sent it.
    rate = f"rate {way['rate_bps']}bit ceil {way['rate_bps']}bit burst 1 cburst 1 quantum 1514"
    lines = [
        f"qdisc add dev {device} root handle 1: stab overhead {overhead} linklayer ethernet htb default 1",
        f"class add dev {device} parent 1: classid 1:1 htb {rate}",
        f"qdisc add dev {device} parent 1:1 handle {LEAF} {way['leaf']}",
    ]
    shell(f"tc -n {namespace} -batch -", lines)


def put_tree(device: str, way: dict, overhead: int) -> list[str]:
    """Lines of tc for a tree of classes with a discipline at each leaf, and the addresses that each leaf has.

    ``tree`` has a row per class, each behind its ``parent`` (number of a row, null at the top): ``rate_bps``, ``ceil_bps``,
    ``burst``, ``quantum`` (bytes, null for what tc chooses), ``prio``, ``leaf`` in the words of tc and ``addresses``.
    ``match`` says whether these are sources (``src``) or destinations (``dst``). The root has the handle of a single
    discipline: its counters are those of all leaves.
    """
    lines = [f"qdisc add dev {device} root handle {LEAF} stab overhead {overhead} linklayer ethernet htb"]
    for number, row in enumerate(way["tree"], start=1):
        parent = LEAF if row["parent"] is None else f"{LEAF}{row['parent'] + 1:x}"
        own = f"{LEAF}{number:x}"
        words = f"rate {row['rate_bps']}bit ceil {row['ceil_bps']}bit prio {row['prio']}"
        if row["burst"]:
            words += f" burst {row['burst']} cburst {row['burst']}"
        if row["quantum"]:
            words += f" quantum {row['quantum']}"
        lines.append(f"class add dev {device} parent {parent} classid {own} htb {words}")
        if row["leaf"]:
            lines.append(f"qdisc add dev {device} parent {own} handle {0x1000 + number:x}: {row['leaf']}")
        for address in row["addresses"]:
            match = f"u32 match ip {way['match']} {address}/32"
            lines.append(f"filter add dev {device} parent {LEAF} protocol ip prio 1 {match} flowid {own}")
    return lines


def change_leaf(namespace: str, device: str, way: dict, overhead: int) -> None:
    """Puts another discipline in place of that of an interface; what waited there is lost."""
    shell(f"tc -n {namespace} qdisc del dev {device} root")
    put_leaf(namespace, device, way, overhead)


def put_wire(namespace: str, device: str, way: dict, overhead: int) -> None:
    """What a packet of a way meets behind its queue: loss by chance, transmission and propagation.

    Acknowledgements without data are never lost, as in the simulator. They have a netem of their own for that; packets
    come apart as the link sends them, so that none waits in either.
    """
    line = netem(way.get("wire_bps", way["rate_bps"]), way["delay_s"], overhead)
    if not way["loss"]:
        shell(f"tc -n {namespace} qdisc add dev {device} root {line}")
        return
    lines = [
        f"qdisc add dev {device} root handle 1: prio bands 2 priomap {' '.join(['1'] * 16)}",
        f"qdisc add dev {device} parent 1:1 handle 2: {line}",
        f"qdisc add dev {device} parent 1:2 handle 3: {line} loss random {way['loss'] * 100:.9g}%",
    ]
    for words in range(5, 16):
        # IPv4 without options, TCP, a header of so many words and no more; neither SYN nor FIN.
        match = f"match u8 0x45 0xff at 0 match u8 6 0xff at 9 match u16 {20 + 4 * words} 0xffff at 2"
        match += f" match u8 {words << 4:#x} 0xf0 at 32 match u8 0 0x03 at 33"
        lines.append(f"filter add dev {device} parent 1: protocol ip prio 1 u32 {match} flowid 1:1")
    shell(f"tc -n {namespace} -batch -", lines)


def access(
    device: str, rate_bps: int, delay_s: float, overhead: int, own: list[tuple[int, float]], key: int
) -> list[str]:
    """Lines of tc for one end of an access link.

    Flows with a round-trip time of their own (`own`: port and delay) have a link of their own in it, of the same rate:
    classes of htb, which takes no time itself, with the number of the port that a packet has at byte `key`. A packet of
    another port finds no such class, and takes the link of all others.
    """
    if not own:
        return [f"qdisc add dev {device} root {netem(rate_bps, delay_s, overhead)}"]
    # Such a program answers with a class of qdisc 1: load the port, add the number of the qdisc, return.
    port = f"bytecode '3,40 0 0 {key},68 0 0 65536,22 0 0 0'"
    lines = [
        f"qdisc add dev {device} root handle 1: htb default 1",
        f"filter add dev {device} parent 1: protocol ip bpf {port}",
    ]
    free = f"rate {FREE} ceil {FREE} burst 1m cburst 1m quantum 60000"
    for number, delay in [(1, delay_s), *own]:
        lines.append(f"class add dev {device} parent 1: classid 1:{number:x} htb {free}")
        handle = max(number, 2)
        line = netem(rate_bps, delay, overhead)
        lines.append(f"qdisc add dev {device} parent 1:{number:x} handle {handle:x}: {line}")
    return lines


def marking(device: str, marks: dict[str, int]) -> list[str]:
    """Lines of tc for a router that gives packets of a host the mark that their DSCP stands for.

    A mark does not pass from one namespace to the next.
    """
    lines = [f"qdisc add dev {device} clsact"] if marks else []
    for code, value in marks.items():
        match = f"u32 match ip dsfield {int(code) << 2:#x} 0xfc"
        lines.append(f"filter add dev {device} ingress protocol ip {match} action skbedit mark {value}")
    return lines
