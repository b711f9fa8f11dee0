"""The board of the kernel: what runs, what does not, what the simulator says otherwise; no guest is started."""

import json
import shutil

import pytest
from invocation import refused_here

from mayfly.arena import in_kernel, kernel_page, trial
from mayfly.arena.arena import arena
from mayfly.arena.experiments import EXPERIMENTS
from mayfly.arena.trial import Trial
from mayfly.discipline_registry import parse
from mayfly.engines import guest, linux
from mayfly.engines.network import links_of
from mayfly.errors import MayflyError
from mayfly.simulate.run import named, run_one

KERNEL = ("uml-6.1.192_2-0123456789ab", "modules-1")


@pytest.fixture
def kernel(monkeypatch):
    """A kernel that does as the simulator's discipline of another name: fifo and fq_codel have changed places."""

    def carried(scenario, discipline, flows, replication, paths, looks):
        other = {"fifo": "fq_codel", "fq_codel": "fifo"}[discipline.id]
        result = run_one(scenario, named([other])[0], flows)
        # What a kernel does not tell.
        result.counters.update(flow_table_bytes=None, cpu_s=None)
        return result, "6.1.0"

    monkeypatch.setattr(in_kernel, "_built", lambda: KERNEL)
    monkeypatch.setattr(linux, "run_one", carried)


class Here:
    """Runs the trials in this process."""

    def __init__(self):
        self.done = []

    def room(self):
        return not self.done

    def submit(self, job, key):
        self.done.append((key, job.run(key)))

    def wait(self):
        while self.done:
            yield self.done.pop()

    def busy(self):
        return bool(self.done)

    def close(self):
        pass


def board(folder, experiments=("spaced", "load-104", "scalable-50", "cell-30")):
    return arena(folder, "fifo,fq_codel", list(experiments), engine="linux", quick=True, seeds=2, make_workers=Here)


def test_the_board_is_that_of_the_kernel_and_the_page_says_what_differs(kernel, tmp_path):
    found = board(tmp_path / "out")
    assert found.failed == [] and found.engine == "linux" and found.kernel == "6.1.192-2"
    here, there = (one.board["spaced:attacker"] for one in (found.beside, found))
    # The names have changed places, and so have the figures.
    assert there["fifo"].mean == here["fq_codel"].mean < here["fifo"].mean == there["fq_codel"].mean
    assert {row.experiment for row in found.rows} == {"spaced", "load-104"}
    assert found.absent.keys() == {"scalable-50", "cell-30"} and "802.11" not in found.absent["scalable-50"]
    assert "wired networks only" in found.absent["cell-30"]
    page = found.write_page(tmp_path / "arena-kernel.md").read_text()
    assert "mayfly arena --engine linux --quick --seeds 2" in page.replace("--disciplines fifo,fq_codel ", "")
    assert "Linux 6.1.192-2, seeds 1 to 2" in page and "chance is not judged" not in page
    differing = page.partition("## Simulator and kernel")[2].partition("\n## ")[0]
    assert "spaced sender: attacker's fair shares | fifo" in differing and "| trails |" in differing
    assert "wired networks only" in page.partition("## What the kernel does not run")[2]
    document = json.loads(json.dumps(found.document()))
    assert document["engine"] == "linux" and document["simulator"]["engine"] == "simulator"
    assert document["absent"].keys() == found.absent.keys()
    # Nothing runs twice, and the simulator's runs are those of its own board.
    assert board(tmp_path / "out").ran == 0
    assert arena(tmp_path / "out", "fifo,fq_codel", ["spaced"], quick=True, seeds=2).ran == 0


def test_parts_that_benchmarks_wrote_stay_when_the_page_is_made_again(kernel, tmp_path):
    path, found = tmp_path / "arena-kernel.md", board(tmp_path / "out", ["spaced"])
    part = "<!-- benchmarks/one_guest.py: begin -->\n\n| a | b |\n\n<!-- benchmarks/one_guest.py: end -->"
    path.write_text(f"# Old\n\nold words\n\n{part}\n\n<!-- benchmarks/other.py: begin -->\n")
    text = found.write_page(path).read_text()
    assert part in text and "old words" not in text and "benchmarks/other.py" not in text
    assert found.write_page(path).read_text() == text
    assert kernel_page.kept(tmp_path / "absent.md") == ""


def test_results_of_a_kernel_are_those_of_its_build_its_modules_and_the_words_of_tc(monkeypatch):
    monkeypatch.setattr(in_kernel, "_built", lambda: KERNEL)

    def keys(kind=in_kernel.KernelTrial):
        return [kind("spaced", label, 1, True).key for label in ("fifo", "lfq", "lfq(pace=0.25)")]

    first = keys()
    assert len({*first, *keys(Trial)}) == 6
    monkeypatch.setattr(in_kernel, "_built", lambda: (KERNEL[0], "modules-2"))
    changed = [one != other for one, other in zip(first, keys(), strict=True)]
    assert changed == [False, True, True]
    monkeypatch.setattr(in_kernel, "_built", lambda: ("uml-6.1.193_1-0123456789ab", KERNEL[1]))
    assert all(one != other for one, other in zip(first, keys(), strict=True))


def test_results_of_a_kernel_are_those_of_its_guest_programs_and_of_the_simulator(monkeypatch, tmp_path):
    """Before: another program in the guest, and other times alone, were answered from the store."""
    monkeypatch.setattr(in_kernel, "_built", lambda: KERNEL)
    uml = tmp_path / "kernel" / "uml"
    shutil.copytree(guest.sources() / "uml", uml)
    monkeypatch.setattr(guest, "sources", lambda: tmp_path / "kernel")

    def key():
        in_kernel._programs.cache_clear()
        return in_kernel.KernelTrial("spaced", "fifo", 1, True).key

    seen = [key()]
    (uml / "random_netlink.py").write_text("# no run of the arena has it\n")
    assert key() == seen[0]
    own = ("namespaces.py", "interfaces.py", "network.py")
    for name in ("init.py", "flow_list.py", *own, "flow_sockets.py", "queue_counters.py", "modules.py"):
        path = uml / name
        path.write_text(path.read_text() + "\n# other\n")
        seen.append(key())
    monkeypatch.setattr(trial, "_build", lambda: "another build")
    seen.append(key())
    assert len({*seen}) == len(seen)
    in_kernel._programs.cache_clear()


def test_a_buffer_in_bytes_is_as_many_full_packets():
    there = in_kernel.KernelTrial("rate-50", "fq_codel", 1, True)
    here, there = Trial("rate-50", "fq_codel", 1, True).loaded(), there.loaded()
    limit, unit = here.network.buffer
    assert unit == "bytes" and there.network.buffer == (limit // 1500, "packets")
    assert links_of(there, parse("fq_codel"))[0]["ways"][0]["leaf"].startswith("fq_codel limit 275")


def test_what_has_no_kernel_is_refused_before_anything_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(in_kernel, "_built", lambda: KERNEL)
    with pytest.raises(MayflyError, match="dqfq: not in the kernel: must be one of"):
        arena(tmp_path / "out", "lfq,dqfq", engine="linux")
    with pytest.raises(MayflyError, match="bounds: must stand without --engine linux"):
        arena(tmp_path / "out", "lfq", engine="linux", bounds="fq_codel")
    with pytest.raises(MayflyError, match="engine = ns3: must be one of simulator, linux"):
        arena(tmp_path / "out", "lfq", engine="ns3")
    message = refused_here("arena", "--engine", "linux", "--sensitivity", "lfq", "--out", tmp_path / "out")
    assert "sensitivity = lfq: must stand without engine" in message
    assert not (tmp_path / "out").exists()


def test_the_wired_rows_the_gaming_and_the_overload_all_run_there():
    names = [one.id for one in EXPERIMENTS if one.quick_s]
    gone = in_kernel.absent(names, quick=True)
    assert set(gone) == {"scalable-50", "cell-30", "cell-300", "cell-n", "slow-station"}
