"""Options of a core change while packets wait: nothing is lost, the limit holds, a small table of flows does."""

import itertools
import random
import subprocess

import cores
import pytest
import traces

OPTIONS = {
    "efd": ("threshold=1", "threshold=30000", "high=las", "high=fifo", "low=las", "low=fifo", "flows=3", "flows=0"),
    "las": ("visit=0.3", "timeout=1.7", "timeout=0.001", "flows=1", "flows=50"),
    "run2c": ("threshold=1", "threshold=30000", "visit=0.3", "timeout=1.7", "flows=1", "flows=50"),
}
OPTIONS |= {
    "pefd": OPTIONS["efd"],
    "efdack": OPTIONS["efd"],
    "lasack": OPTIONS["las"],
    "run2cack": OPTIONS["run2c"],
    "lars": (*OPTIONS["las"], "count=sent", "count=acknowledged", "half_life=0.01", "half_life=100"),
}
OPTIONS |= {id: tuple(cores.values(id)) for id in cores.ids() if id not in OPTIONS}
OPTIONS["estmred"] = tuple(option for option in OPTIONS["estmred"] if not option.startswith("arithmetic"))
ALWAYS = {"estmred": ("arithmetic=integers",)}
"""Options without which there is no core."""
LIMITS = (1, 2, 7, 30, 300, 2000)
IN_ORDER = ("las", "lasack", "lars")
"""Packets of a flow leave in the order they came, whatever changes meanwhile."""


def changed(seed: int, options: tuple[str, ...], always: tuple[str, ...] = ()) -> list[str]:
    """A random trace with a change every 50 calls or so."""
    rng = random.Random(seed)
    lines = []
    for line in traces.drawn(seed, 6000, rng.choice((3, 60))):
        lines.append(line)
        if rng.random() < 0.02:
            limit = rng.choice((f"{rng.choice(LIMITS)}p", f"{rng.choice(LIMITS) * 1500}b"))
            given = [*always, *rng.sample(options, rng.randrange(3))]
            lines.append(" ".join(("=", line.split()[1], limit, *given)))
    return lines


@pytest.mark.parametrize(("discipline", "seed"), list(itertools.product(OPTIONS, range(4))))
def test_no_packet_is_lost_and_the_limit_holds(core, discipline, seed):
    always = ALWAYS.get(discipline, ())
    lines = changed(seed, OPTIONS[discipline], always)
    command = [core, discipline, "30p", *always]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(lines)
    waiting, lens, flows = set(), {}, {}
    limit, unit = 30, "p"
    for call, answer in zip(map(str.split, lines), map(str.split, said), strict=True):
        dropped, pkts, size = answer[-5:-2] if len(answer) == 6 else answer[4:7]
        if call[0] == "=":
            limit, unit = int(call[2][:-1]), call[2][-1]
        elif call[0] == "+" and answer[2] == "queued":
            handle = int(call[3])
            waiting.add(handle)
            lens[handle], flows[handle] = int(call[5]), call[2]
        elif call[0] == "-" and answer[1] != "-":
            waiting.remove(int(answer[1]))
            if discipline in IN_ORDER:
                own = [other for other in waiting if flows[other] == flows[int(answer[1])]]
                assert all(other > int(answer[1]) for other in own)
        for victim in [] if dropped == "-" else dropped.split(","):
            waiting.remove(int(victim.split(":")[0]))
        assert (len(waiting), sum(lens[handle] for handle in waiting)) == (int(pkts), int(size))
        assert (int(pkts) if unit == "p" else int(size)) <= limit, (call, answer)
    assert any(call.startswith("=") for call in lines)
