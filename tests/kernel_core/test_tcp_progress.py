"""The table of connections of the kernel modules against numbers known without one."""

import random
import subprocess
from pathlib import Path

import pytest

GOLDEN = 0x9E3779B97F4A7C15
"""Fibonacci hashing: 2^64 over the golden ratio (Knuth, The Art of Computer Programming, vol. 3, 6.4)."""
WAYS = 4


def progress(core: Path, size: int, idle_ns: int, segments: list[tuple]) -> list[int]:
    """Of segments (time, flow, seq, ack, letters); numbers are cut to 32 bits."""
    lines = (f"{time} {flow} {seq % 2**32} {ack % 2**32} {letters}" for time, flow, seq, ack, letters in segments)
    command = [core.with_name("connections"), str(size), str(idle_ns)]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(map(int, done.stdout.split()))


class Connection:
    """Both ends of a connection: bytes sent so far, and where of each direction the table begins to count."""

    def __init__(self, rng: random.Random, key: int):
        self.rng, self.key = rng, key
        # Half of them wrap around soon.
        self.initial = [rng.choice((rng.getrandbits(32), 2**32 - 1 - rng.randrange(5000))) for _ in range(2)]
        self.sent, self.base = [0, 0], [None, None]

    def opening(self):
        """SYN and SYN-ACK: flow, seq, ack, letters and the progress expected."""
        self.base = [0, 0]
        yield self.key << 1, self.initial[0], 0, "so", 0
        yield self.key << 1 | 1, self.initial[1], self.initial[0] + 1, "sao", 0

    def place(self, end: int) -> int:
        """A byte that `end` sent lately."""
        return self.sent[end] - self.rng.randrange(min(self.sent[end], 2**20) + 1)

    def counted(self, end: int, place: int) -> int:
        if self.base[end] is None:
            self.base[end] = place
        return max(0, place - self.base[end])

    def segment(self):
        """Data, new or once more, or an acknowledgement; old ones arrive late."""
        end = self.rng.randrange(2)
        acked = self.place(1 - end)
        told = self.counted(1 - end, acked)
        letters, start = "a", self.sent[end]
        if self.rng.random() < 0.7:
            letters = "ao"
            start = self.sent[end] if self.rng.random() < 0.7 else self.place(end)
            told = self.counted(end, start)
            self.sent[end] = max(self.sent[end], start + self.rng.choice((1, 1448, 65_536, 2**28)))
        numbers = self.initial[end] + 1 + start, self.initial[1 - end] + 1 + acked
        return self.key << 1 | end, *numbers, letters, told


@pytest.mark.parametrize("seed", range(5))
def test_progress_counts_from_the_syn_or_the_first_number_seen_and_goes_on_past_2_to_the_32(core, seed):
    rng = random.Random(seed)
    connections = [Connection(rng, rng.getrandbits(63)) for _ in range(20)]
    segments = [segment for connection in connections[:10] for segment in connection.opening()]
    segments += [rng.choice(connections).segment() for _ in range(5000)]
    expected = [segment[-1] for segment in segments]
    assert max(expected) > 2**32
    assert progress(core, 4096, 10**9, [(0, *segment[:-1]) for segment in segments]) == expected


def test_ports_used_again_begin_anew_with_the_syn(core):
    segments = [(0, 2, 100, 0, "so"), (1, 3, 900, 101, "sao"), (2, 2, 101 + 5000, 901, "ao"), (3, 3, 901, 5101, "a")]
    again = [(4, 2, 70_000, 0, "so"), (5, 3, 2, 70_001, "sao"), (6, 3, 3, 70_001 + 40, "a"), (7, 2, 70_041, 3 + 9, "a")]
    assert progress(core, 8, 10**9, segments + again) == [0, 0, 5000, 5000, 0, 0, 40, 9]


@pytest.mark.parametrize("seed", range(5))
def test_a_set_forgets_who_is_idle_or_was_seen_last_the_longest_time_ago(core, seed):
    rng, idle_ns, sets = random.Random(seed), 1000, 4
    table = [{} for _ in range(sets)]
    keys = [rng.getrandbits(63) for _ in range(30)]
    time, segments, expected, relearned, evicted = 0, [], [], 0, 0
    for step in range(5000):
        time += rng.choice((1, 20, 400))
        # Some keys often, others rarely: both reasons occur.
        key = keys[min(rng.randrange(30), rng.randrange(30))]
        seq = 10 * step
        ways = table[(key * GOLDEN % 2**64) * sets >> 64]
        known = ways.pop(key, None)
        if known and time - known[1] > idle_ns:
            known, relearned = None, relearned + 1
        if known is None and len(ways) == WAYS:
            ways.pop(next(iter(ways)))
            evicted += 1
        first = known[0] if known else seq
        ways[key] = first, time  # the last one of the dictionary is the last one seen
        segments.append((time, key << 1, seq, 0, "o"))
        expected.append(seq - first)
    assert relearned > 50 and evicted > 50, (relearned, evicted)
    assert progress(core, sets * WAYS, idle_ns, segments) == expected


def test_an_idle_time_that_is_just_over_counts_and_one_that_is_not_does_not(core):
    segments = [(0, 2, 100, 0, "o"), (1000, 2, 200, 0, "o"), (2001, 2, 300, 0, "o"), (2002, 2, 310, 0, "o")]
    assert progress(core, 8, 1000, segments) == [0, 100, 0, 10]
