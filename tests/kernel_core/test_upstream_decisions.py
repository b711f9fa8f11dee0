"""fq_codel and cake of crates/qdisc decide about every packet as the kernel's own code does (kernel/upstream).

Order and times of departures, which packets are dropped and when, marks, and what waits after every call.
"""

import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import upstream
from upstream import Call, Hash, Packet, Programs, Traffic

QUEUES, WAYS = 1024, 8
"""Queues of cake, and of a set."""
FQ_CODEL = {"flows": "FLOWS", "quantum": "QUANTUM", "drop_batch": "DROP_BATCH_SIZE"}
FLOW_MODES = {"triple": "TRIPLE", "src": "DUAL_SRC", "dst": "DUAL_DST", "flow": "FLOWS"}
SHORT = {"target": 0.001, "interval": 0.02}


@pytest.fixture(scope="session")
def both(tmp_path_factory) -> Programs:
    """The kernel's disciplines and ours; skips, saying why, where there is no test kernel."""
    if not shutil.which("cargo"):
        pytest.skip("no cargo: the disciplines of crates/qdisc cannot be built")
    homes = upstream.homes()
    if not homes:
        pytest.skip(f"no test kernel in {upstream.CACHE}: kernel/uml/build.sh builds it")
    folder = tmp_path_factory.mktemp("upstream")
    build = upstream.ROOT / "kernel" / "upstream" / "build.sh"
    built = subprocess.run([build, homes[-1], folder], capture_output=True, text=True)
    if built.returncode == 77:
        pytest.skip(built.stderr.strip().splitlines()[-1])
    assert built.returncode == 0, built.stderr
    command = ["cargo", "build", "--quiet", "--profile", "test", "-p", "mayfly-qdisc"]
    subprocess.run([*command, "--example", "decisions", "--example", "words"], cwd=upstream.ROOT, check=True)
    examples = upstream.ROOT / "target" / "debug" / "examples"
    return Programs(examples / "decisions", examples / "words", Path(built.stdout.strip()), folder)


def fq_codel(both: Programs, limit: str, options: dict[str, object], trace: Sequence[Call]) -> str | None:
    """The first decision in which the two differ. A limit in bytes is the kernel's limit of memory."""
    hashed, flows = Hash(*both.drawn[:2]), int(options.get("flows", 1024))

    def upper(flow: int) -> int:
        # The kernel takes the upper bits of 32, ours those of 64: one queue but for a flow in 2^22.
        assert hashed(flow) * flows >> 64 == (hashed(flow) >> 32) * flows >> 32
        return hashed(flow) >> 32

    attributes: dict[str, object] = {"TCA_FQ_CODEL_LIMIT": limit[:-1]}
    if limit.endswith("b"):
        attributes = {"TCA_FQ_CODEL_LIMIT": 1 << 30, "TCA_FQ_CODEL_MEMORY_LIMIT": limit[:-1]}
    for name, value in options.items():
        if name in ("target", "interval"):
            attributes[f"TCA_FQ_CODEL_{name.upper()}"] = round(float(value) * 1e6)
        elif name == "ecn":
            attributes["TCA_FQ_CODEL_ECN"] = int(value == "on")
        else:
            attributes[f"TCA_FQ_CODEL_{FQ_CODEL[name]}"] = value
    no_words = both.folder / "none.words"
    no_words.touch()
    ours = both.ours("fq_codel", limit, options, trace)
    lines = upstream.told_to_kernel(trace, upper, lambda _: 0, lambda _: 0, lambda packet: packet.len)
    return upstream.first_difference(ours, both.theirs("fq_codel", attributes, (no_words, no_words), lines), trace)


class Cake:
    """What a queue of cake draws at its beginning: seeds of hashes and of the rounding; chance of BLUE comes after."""

    def __init__(self, both: Programs, isolation: str):
        words = iter(both.drawn)
        taken = 3

        def hashed(counts: bool) -> Hash | None:
            nonlocal taken
            taken += 2 * counts
            return Hash(next(words), next(words)) if counts else None

        flow = hashed(True)
        taken -= 2
        assert flow
        self.flow = flow
        self.src, self.dst = hashed(isolation in ("triple", "src")), hashed(isolation in ("triple", "dst"))
        self.rounding = both.stream(next(words), "credits of cake")
        self.blue = both.folder / f"blue-{isolation}.words"
        self.blue.write_bytes(both.stream(1, "decisions").read_bytes()[8 * taken :])
        self._flows: dict[int, int] = {}

    def flow_hash(self, flow: int) -> int:
        """Another for each flow, with its home in the lowest bits."""
        number = self._flows.setdefault(flow, len(self._flows) + 1)
        return number << 10 | self.flow.slot(flow, QUEUES)

    def host_hash(self, host: int, hashed: Hash | None) -> int:
        """The same for a host."""
        return host + 1 << 10 | (hashed.slot(host, QUEUES) if hashed else 0)


def cake(both: Programs, limit: str, options: dict[str, object], trace: Sequence[Call]) -> str | None:
    """The first decision in which the two differ. The kernel's limit is of memory: a packet takes 1 or its length."""
    isolation = str(options.get("isolation", "triple"))
    drawn = Cake(both, isolation)
    attributes: dict[str, object] = {
        "TCA_CAKE_DIFFSERV_MODE": "CAKE_DIFFSERV_BESTEFFORT",
        "TCA_CAKE_FLOW_MODE": f"CAKE_FLOW_{FLOW_MODES[isolation]}",
        "TCA_CAKE_MEMORY": limit[:-1],
    }
    for name, attribute in (("target", "TCA_CAKE_TARGET"), ("interval", "TCA_CAKE_RTT")):
        if name in options:
            attributes[attribute] = round(float(options[name]) * 1e6)
    lines = upstream.told_to_kernel(
        trace,
        drawn.flow_hash,
        lambda host: drawn.host_hash(host, drawn.src),
        lambda host: drawn.host_hash(host, drawn.dst),
        lambda packet: packet.len if limit.endswith("b") else 1,
    )
    ours = both.ours("cake", limit, options, trace)
    return upstream.first_difference(ours, both.theirs("cake", attributes, (drawn.rounding, drawn.blue), lines), trace)


KINDS = {"fq_codel": fq_codel, "cake": cake}
ROWS = [
    ("fq_codel", {}),
    ("fq_codel", {"quantum": 300}),
    ("fq_codel", {"ecn": "off"}),
    ("fq_codel", SHORT),
    ("fq_codel", {"flows": 1}),
    ("fq_codel", {"flows": 16}),
    ("fq_codel", {"drop_batch": 1}),
    ("fq_codel", {"drop_batch": 7, "flows": 65_536, "quantum": 9000}),
    ("cake", {}),
    ("cake", {"isolation": "src"}),
    ("cake", {"isolation": "dst"}),
    ("cake", {"isolation": "flow"}),
    ("cake", SHORT),
    ("cake", {"target": 0.06, "interval": 0.1}),
]
IDS = [" ".join((id, *(f"{name}={value}" for name, value in options.items()))) for id, options in ROWS]


def same(both: Programs, id: str, limit: str, options: dict[str, object], trace: Sequence[Call]) -> None:
    """Fails with the first decision in which the two differ."""
    difference = KINDS[id](both, limit, options, trace)
    assert difference is None, f"{id} {limit} {options}, {difference}"


@pytest.mark.parametrize(("id", "options"), ROWS, ids=IDS)
def test_random_traffic(both, id, options):
    for seed, limit in enumerate(("1000p", "100p", "10p", *(("60000b",) if id == "cake" else ()))):
        same(both, id, limit, options, list(upstream.calls(seed, 2500, Traffic())))


@pytest.mark.slow
@pytest.mark.parametrize(("id", "options"), ROWS, ids=IDS)
def test_random_traffic_of_many_seeds(both, id, options):
    for seed in range(10, 50):
        same(both, id, ("1000p", "100p", "10p", "3p")[seed % 4], options, list(upstream.calls(seed, 5000, Traffic())))


def crowded(both: Programs, sets: set[int], flows: int) -> tuple[int, ...]:
    """Flows that are at home in these sets of cake's queues."""
    hashed, rng, found = Hash(*both.drawn[:2]), random.Random(1), []
    while len(found) < flows:
        key = rng.randrange(1 << 31)
        if hashed.slot(key << 1, QUEUES) // WAYS in sets:
            found.append(key)
    return tuple(found)


def test_flows_that_share_sets_and_hosts_that_share_slots(both):
    keys = crowded(both, {3, 77}, 40)
    for isolation in FLOW_MODES:
        traffic = Traffic(keys=keys, sources=3, destinations=30)
        same(both, "cake", "300p", {"isolation": isolation}, list(upstream.calls(1, 5000, traffic)))
    many = Traffic(flows=1500, sources=1500, destinations=1500)
    same(both, "cake", "1000p", {}, list(upstream.calls(2, 8000, many)))
    same(both, "fq_codel", "1000p", {"flows": 64}, list(upstream.calls(3, 8000, many)))


def test_one_host_with_sixty_flows(both):
    for id in KINDS:
        same(both, id, "300p", {}, list(upstream.calls(4, 6000, Traffic(flows=60, sources=1, destinations=1))))


@pytest.mark.parametrize("id", KINDS)
def test_packets_of_one_length_and_giant_ones(both, id):
    # In bytes as well, where packets have one length: a batch of fq_codel makes room then, in the kernel too.
    same(both, id, "200p", {}, list(upstream.calls(5, 6000, Traffic(lengths=(1500,)))))
    same(both, id, "90000b", {}, list(upstream.calls(6, 6000, Traffic(lengths=(1500,)))))
    same(both, id, "1000p", {}, list(upstream.calls(7, 5000, Traffic(lengths=(64_000, 1500, 40, 9000)))))


@pytest.mark.parametrize("id", KINDS)
def test_an_interval_of_more_than_four_seconds(both, id):
    same(both, id, "5000p", {"target": 2, "interval": 6}, list(upstream.calls(8, 6000, Traffic())))


@pytest.mark.slow
def test_the_heap_of_cake_is_given_up_and_made_again(both):
    # An overflow, then more packets than Linux keeps the heap for, then overflows again.
    traffic = Traffic(loads=(2.0,), gaps_s=(0,))
    trace = list(upstream.calls(9, 1500, traffic))
    now = max(call if isinstance(call, int) else call.time_ns for call in trace)
    for handle in range(70_000):
        trace += [
            Packet(now + 1000 * handle, 10_000 + handle, 1000, 0, 2 * (handle % 7), 1, 2),
            now + 1000 * handle + 500,
        ]
    later = now + 80_000_000
    for call in upstream.calls(10, 3000, traffic):
        trace.append(
            later + call
            if isinstance(call, int)
            else call._replace(time_ns=later + call.time_ns, handle=200_000 + call.handle)
        )
    same(both, "cake", "100p", {}, trace)


@pytest.mark.parametrize("rules", ["rfc", "linux"])
def test_what_the_rfc_says_otherwise_is_seen(both, rules):
    # So that equality above says something: with the rules of the RFC the same traffic meets another fate.
    trace = list(upstream.calls(0, 2500, Traffic()))
    ours = both.ours("fq_codel", "100p", {"rules": rules}, trace)
    default = both.ours("fq_codel", "100p", {}, trace)
    assert (ours == default) == (rules == "linux")
    for outcome in (ours, default):
        assert sum(len(line[-3].split(",")) for line in outcome if line[-3] != "-") > 200, "dropped"
        assert sum(line[0] == "-" and line[2] == "3" for line in outcome) > 200, "marked"


@pytest.mark.parametrize(
    "arguments",
    [["none"], ["fq_codel", "TCA_NONE=1"], ["fq_codel", "TCA_FQ_CODEL_FLOWS=0"], ["cake", "TCA_CAKE_RTT"]],
)
def test_bad_arguments_are_refused_in_a_line(both, arguments):
    command = [both.kernel, arguments[0], "/dev/null", "/dev/null", *arguments[1:]]
    done = subprocess.run(command, input="", capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("upstream: ") and done.stderr.count("\n") == 1
