"""CPU time per packet of our queue disciplines in the kernel, beside fq_codel's and sfq's, in User Mode Linux.

    python benchmarks/kernel_cost.py [--ticks] [ROUNDS [REPEATS [WORD ...]]]

A round is 4096 packets of 1000 bytes of 256 flows, without GSO. Empty: every packet leaves at once. Loaded: 512 come,
then 512 leave. Each run is the guest's whole CPU time less that of a run of one round, the least of the repeats, which
take turns. With `--ticks` a round is a burst of 512 packets and all disciplines take turns in one guest: the tenth part
of the bursts that were fastest, by the time stamp counter, so that a busy machine does not matter. What it
costs to send and free a packet below `prio`, or `netem`, is in each.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "kernel"))
import guest
import qdiscs

# Behind these: it has a qdiscs.py of its own.
sys.path.append(str(Path(__file__).resolve().parents[1] / "kernel" / "uml"))
import cost
import cycles

LIMIT = "limit 1000"
PEERS = [f"pfifo {LIMIT}", f"sfq {LIMIT}", f"fq_codel {LIMIT}"]
OURS = [row.id for row in qdiscs.ROWS] + ["efd count packets", "efd count acked", "efd high las low las"]
OURS = [f"{words[0]} {LIMIT} {' '.join(words[1:])}".strip() for words in map(str.split, OURS)]
PACKETS = 4096


def cpu_s(leaf: str, waits: bool, rounds: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {"leaf": leaf, "waits": waits, "rounds": rounds, "flows": 256, "length": 1000}
    guest.run("cost.py", settings, modules=qdiscs.MODULES)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_packet_ns(leaves: list[str], rounds: int, repeats: int) -> dict[tuple[str, bool], float]:
    """By discipline, and whether packets wait."""
    cases = [(leaf, waits) for waits in (False, True) for leaf in leaves]
    least = {(*case, count): float("inf") for case in cases for count in (1, rounds)}
    for _ in range(repeats):
        for case in least:
            least[case] = min(least[case], cpu_s(*case))
    packets = (rounds - 1) * PACKETS
    return {case: 1e9 * (least[*case, rounds] - least[*case, 1]) / packets for case in cases}


def ticks_ns() -> float:
    """Of the time stamp counter."""
    now = cycles.counter()
    ticks, begin = now(), time.perf_counter()
    time.sleep(0.2)
    return 1e9 * (time.perf_counter() - begin) / (now() - ticks)


def per_packet_in_turns_ns(leaves: list[str], rounds: int, repeats: int) -> dict[tuple[str, bool], float]:
    """The same by the time stamp counter."""
    cases = [(leaf, waits) for waits in (False, True) for leaf in leaves]
    settings = {"cases": [{"leaf": leaf, "waits": waits} for leaf, waits in cases], "rounds": rounds}
    settings |= {"flows": 256, "length": 1000}
    least = dict.fromkeys(cases, float("inf"))
    unit_ns = ticks_ns() / cost.WAITING
    for _ in range(repeats):
        found = guest.run("cycles.py", settings, modules=qdiscs.MODULES, memory="768M")
        for case, ticks in zip(cases, found, strict=True):
            least[case] = min(least[case], unit_ns * sorted(ticks)[len(ticks) // 10])
    return least


def at_least(least: int) -> Callable[[str], int]:
    """A whole number for the command line, from `least` on."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, at least {least}")
        return int(text)

    return number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "rounds", nargs="?", type=at_least(2), default=500, metavar="ROUNDS", help="at least 2; default 500"
    )
    parser.add_argument("repeats", nargs="?", type=at_least(1), default=3, metavar="REPEATS", help="default 3")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only rows of ours that begin with one of them")
    parser.add_argument("--ticks", action="store_true", help="by the time stamp counter, in one guest")
    given = parser.parse_args()
    leaves = [*PEERS, *(leaf for leaf in OURS if leaf.startswith(tuple(given.words or ("",))))]
    guest.built()
    measure = per_packet_in_turns_ns if given.ticks else per_packet_ns
    costs = measure(leaves, given.rounds, given.repeats)
    print("| discipline | empty, ns | of fq_codel | loaded, ns | of fq_codel |")
    print("|---|---:|---:|---:|---:|")
    for leaf in leaves:
        cells = (
            f"{costs[leaf, waits]:.0f} | {costs[leaf, waits] / costs[PEERS[-1], waits]:.2f}" for waits in (False, True)
        )
        print(f"| `{leaf}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
