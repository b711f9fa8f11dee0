"""A trace in words, a line for each packet, with the sender's state between."""

from collections.abc import Iterator

from mayfly.engines.segments.traces import Packet, Trace

CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""Of `tcpi_ca_state` (linux/tcp.h)."""
FLAGS = ((0x02, "SYN"), (0x01, "FIN"), (0x40, "ECE"), (0x80, "CWR"))


def segment(first_byte: int, mss: int) -> str:
    """A byte as the number of its segment, with what is before it of that segment."""
    whole, rest = divmod(first_byte, mss)
    return f"{whole + 1}" + (f".{rest}" if rest else "")


def packet_line(packet: Packet, mss: int) -> str:
    """Time of sending, what it carries, what became of it."""
    words = [f"{packet.time_ns / 1e6:10.3f}"]
    flags = "".join(f" {name}" for bit, name in FLAGS if packet.flags & bit)
    if packet.direction == 0:
        what = f"data {segment(packet.seq, mss)}" if packet.bytes else "bare"
        words.append(f"> {what}{flags}")
    else:
        words.append(f"            < ack {segment(packet.ack or 0, mss)}{flags}")
        edges = packet.sack
        blocks = [f"{segment(edges[k], mss)}-{segment(edges[k + 1], mss)}" for k in range(0, len(edges), 2)]
        words += [f"sack {' '.join(blocks)}"] if blocks else []
    if packet.fate != "passed":
        words.append(packet.fate)
        if packet.fate == "delayed" and packet.arrival_ns is not None:
            words.append(f"until {packet.arrival_ns / 1e6:.3f}")
    return " ".join(words)


def state_line(state: dict[str, int]) -> str:
    """The sender's `tcp_info`."""
    ssthresh = state["ssthresh"] if state["ssthresh"] < 1 << 30 else "-"
    return (
        f"{state['time_ns'] / 1e6:10.3f}     {CA_STATES[state['ca_state']]} cwnd {state['cwnd']} ssthresh {ssthresh} "
        f"out {state['unacked']} sacked {state['sacked']} lost {state['lost']} retrans {state['retrans']} "
        f"srtt {state['srtt_us'] / 1e3:.1f} rto {state['rto_us'] / 1e3:.0f} backoff {state['backoff']} "
        f"reordering {state['reordering']} delivered {state['delivered']}"
    )


def lines(trace: Trace, states: bool = True) -> Iterator[str]:
    """All of a trace; states are those behind what the packet above them brought about."""
    yield f"{trace.id}: {trace.size_bytes} bytes, {trace.pattern['impairments']}"
    left = list(trace.states) if states else []
    for number, packet in enumerate(trace.packets):
        while left and left[0]["packets"] <= number:
            yield state_line(left.pop(0))
        yield packet_line(packet, trace.mss)
    yield from map(state_line, left)
