"""`mayfly qdisc`: the commands it gives to tc, make and the like, and what it says is missing."""

import json
import os

import pytest
from invocation import mayfly_here, refused_here

from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.build import install_steps
from mayfly.qdisc.watch import watch

EFD = {
    "kind": "efd",
    "handle": "6d67:",
    "dev": "eth0",
    "parent": "6d66:1",
    "options": {"limit": 100, "count": "bytes", "threshold": 30000, "high": "fifo", "low": "fifo", "split": True},
    "bytes": 1514000,
    "packets": 1000,
    "drops": 7,
    "overlimits": 0,
    "requeues": 0,
    "backlog": 30280,
    "qlen": 20,
    "high_pkts": 1,
    "low_pkts": 19,
    "pushed_out": 5,
}
HTB = {"kind": "htb", "handle": "6d66:", "dev": "eth0", "root": True, "options": {"default": "0x1"}}


def told(out: str) -> str:
    """As one line: it is as wide as the terminal."""
    return " ".join(out.split())


def done(*arguments) -> str:
    ended = mayfly_here("qdisc", *arguments)
    assert (ended.status, ended.err) == (0, "")
    return ended.out


def test_load_with_a_rate_makes_htb_and_its_leaf(machine):
    done("load", "eth0", "--rate", "10mbit", "--discipline", "efd(threshold=15kB, high=las)", "--buffer", "100")
    modprobe, root, shape, leaf = machine.calls()
    assert modprobe == "modprobe sch_efd"
    assert root == "tc qdisc replace dev eth0 root handle 6d66: htb default 1"
    assert shape.startswith("tc class add dev eth0 parent 6d66: classid 6d66:1 htb rate 10000000bit ceil 10000000bit")
    assert leaf.startswith("tc qdisc replace dev eth0 parent 6d66:1 handle 6d67: efd limit 100p threshold 15000b")
    assert "high las" in leaf


def test_load_without_a_rate_is_the_root(machine):
    done("load", "eth0", "-d", "pefd", "--buffer", "450kB")
    assert machine.calls()[-1].startswith("tc qdisc replace dev eth0 root handle 6d66: efd limit 450000b")


def test_a_dry_run_prints_the_commands_and_needs_nothing(machine, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    out = done("load", "eth0", "--rate", "10mbit", "--dry-run")
    assert [line.split()[0] for line in out.splitlines()] == ["modprobe", "tc", "tc", "tc"]
    assert machine.calls() == []
    document = json.loads(done("load", "eth0", "--rate", "10mbit", "--dry-run", "--json"))
    assert document["done"] is False and document["commands"][0] == ["modprobe", "sch_efd"]


def test_what_somebody_configured_stays_unless_told(machine):
    machine.answer("tc -s -j qdisc show", [{"kind": "hfsc", "handle": "8001:", "dev": "eth0", "root": True}])
    said = refused_here("qdisc", "load", "eth0")
    assert "eth0: has hfsc 8001: configured, which could not be put back; --replace takes its place" in said
    assert machine.calls() == []
    assert "hfsc 8001: was at eth0: it cannot be recorded, and unload will not put it back" in told(
        done("load", "eth0", "--replace")
    )
    assert any(call.startswith("tc qdisc replace dev eth0 root handle 6d66: efd") for call in machine.calls())


@pytest.mark.parametrize(
    ("arguments", "queues", "advice"),
    [
        (("-d", "cake", "--rate", "10gbit"), 4, "share the lock of cake: cake_mq shapes all of them to one rate"),
        (("-d", "fq_codel"), 8, "eth0 has 8 hardware queues, which share the lock of fq_codel: below mq, each has"),
        (("-d", "cake", "--rate", "10mbit"), 4, ""),
        (("-d", "fq_codel"), 1, ""),
    ],
)
def test_a_load_where_a_device_has_several_queues_says_what_they_share(machine, monkeypatch, arguments, queues, advice):
    monkeypatch.setattr("mayfly.qdisc.load.sending_queues", lambda device: queues)
    out = told(done("load", "eth0", *arguments))
    assert advice in out and ("hardware queues" in out) == bool(advice)


def test_a_load_that_fails_midway_leaves_nothing(machine):
    machine.answer("tc -s -j qdisc show", [HTB], after="root handle 6d66: htb")
    machine.answer("tc qdisc replace dev eth0 parent", status=2, err="Error: Specified qdisc kind is unknown.\n")
    said = refused_here("qdisc", "load", "eth0", "--rate", "10mbit")
    assert "Specified qdisc kind is unknown" in said
    assert machine.calls()[-1] == "tc qdisc del dev eth0 root"


def test_unload_removes_ours_only(machine):
    machine.answer("tc -s -j qdisc show", [HTB, EFD])
    done("unload", "eth0")
    assert machine.calls() == ["tc qdisc del dev eth0 root"]
    machine.answer("tc -s -j qdisc show", [{"kind": "fq", "handle": "8001:", "dev": "eth0", "root": True}])
    assert "not from mayfly qdisc load: fq 8001: is there" in refused_here("qdisc", "unload", "eth0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eth0", "--rate", "fast"], "rate = 'fast': must be a rate"),
        (["eth0", "--buffer", "0"], "buffer = "),
        (["eth0", "-d", "srpt"], "srpt: not in the kernel"),
        (["eth0", "-d", "nothing"], "nothing"),
        (["no/device"], "device = 'no/device': must be the name of an interface"),
        (["eth0", "--bpf", "-d", "pefd"], "the BPF qdisc is efd"),
    ],
)
def test_bad_options_are_refused_before_anything_is_done(machine, arguments, said):
    assert said in refused_here("qdisc", "load", *arguments)
    assert machine.calls() == []


def test_each_missing_thing_is_one_line_with_how_to_get_it(machine, monkeypatch, tmp_path):
    machine.answer("modprobe --dry-run", status=1, err="modprobe: FATAL: Module sch_efd not found.\n")
    assert "mayfly qdisc build, then sudo mayfly qdisc install" in refused_here("qdisc", "load", "eth0")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "needs root: sudo mayfly qdisc load eth0" in refused_here("qdisc", "load", "eth0")
    assert "no modules were built there; mayfly qdisc build" in refused_here("qdisc", "install", "--from", tmp_path)
    said = refused_here("qdisc", "build", "--kernel", "0.0.0-none")
    assert "headers of kernel 0.0.0-none are missing" in said and "apt-get install linux-headers-0.0.0-none" in said
    assert f"source = {tmp_path}: no Kbuild there" in refused_here("qdisc", "build", "--source", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(system, "_path", lambda: str(tmp_path))
    assert "tc is missing; on Debian: apt-get install iproute2" in refused_here("qdisc", "show")


def test_an_interface_that_is_not_there_is_named_before_a_missing_module(machine):
    """It was the module, which building and installing does not help."""
    machine.answer("modprobe --dry-run sch_efd", status=1, err="FATAL: Module sch_efd not found")
    machine.interfaces = {"lo": 1}
    assert refused_here("qdisc", "load", "eth0") == "eth0: there is no such interface"


def test_a_kernel_without_bpf_qdiscs_says_which_has_them(tmp_path):
    types = tmp_path / "vmlinux"
    types.write_bytes(b"bpf_struct_ops_tcp_congestion_ops")
    with pytest.raises(MayflyError, match=r"no BPF qdiscs: 6\.16 or later"):
        system.need_bpf_qdiscs(types)
    types.write_bytes(b"\0bpf_struct_ops_Qdisc_ops\0")
    system.need_bpf_qdiscs(types)


def test_the_bpf_qdisc_is_registered_once_and_told_its_options(machine, monkeypatch, tmp_path):
    monkeypatch.setattr(system, "need_bpf_qdiscs", lambda: None)
    machine.answer("bpftool -j struct_ops list", "[]")
    (tmp_path / "efd.bpf.o").touch()
    arguments = ("load", "lo", "--bpf", "--rate", "10mbit", "--buffer", "100", "--from", tmp_path)
    done(*arguments)
    register, options, add = machine.calls()
    assert register == f"bpftool struct_ops register {tmp_path}/efd.bpf.o"
    # struct efd_settings: 30000 bytes, 10,000,000 bit/s, 100 packets, little-endian.
    value = "48 117 0 0 0 0 0 0 128 150 152 0 0 0 0 0 100 0 0 0 0 0 0 0"
    assert options == f"bpftool map update name efd_settings key 1 0 0 0 value {value}"
    assert add == "tc qdisc replace dev lo root handle 6d66: bpf_efd"
    # At another interface too: the registration stays.
    rows = [{"kind": "bpf_efd", "handle": "6d66:", "dev": name, "root": True} for name in ("lo", "eth9")]
    machine.answer("tc -s -j qdisc show", rows)
    machine.answer("tc -s -j qdisc show dev lo", rows[:1])
    machine.answer("bpftool -j struct_ops list", [{"name": "bpf_efd"}])
    done(*arguments)
    dump = "bpftool -j map dump name efd_queues"
    again = ["tc qdisc del dev lo root", "bpftool map delete name efd_settings key 1 0 0 0", options, add]
    assert [call for call in machine.calls()[3:] if call != dump] == again


def test_a_load_of_the_bpf_qdisc_that_fails_midway_is_undone(machine, monkeypatch, tmp_path):
    monkeypatch.setattr(system, "need_bpf_qdiscs", lambda: None)
    machine.answer("bpftool -j struct_ops list", "[]")
    machine.answer("tc qdisc replace", status=2, err="Error: Specified qdisc kind is unknown.\n")
    (tmp_path / "efd.bpf.o").touch()
    arguments = ("load", "lo", "--bpf", "--from", tmp_path)
    refused_here("qdisc", *arguments)
    assert machine.calls()[-1] == "bpftool struct_ops unregister name bpf_efd"
    # Other interfaces have it: only what is of this one goes.
    machine.answer("bpftool -j struct_ops list", [{"name": "bpf_efd"}])
    refused_here("qdisc", *arguments)
    assert machine.calls()[-1] == "bpftool map delete name efd_settings key 1 0 0 0"


def test_unload_takes_the_settings_of_the_interface_or_the_last_registration(machine):
    rows = [{"kind": "bpf_efd", "handle": "6d66:", "dev": name, "root": True} for name in ("lo", "eth9")]
    machine.answer("bpftool -j map dump", "[]")
    machine.answer("tc -s -j qdisc show", rows)
    machine.answer("tc -s -j qdisc show dev lo", rows[:1])
    done("unload", "lo")
    gone = "tc qdisc del dev lo root"
    assert machine.calls()[-2:] == [gone, "bpftool map delete name efd_settings key 1 0 0 0"]
    machine.answer("tc -s -j qdisc show", rows[:1])
    done("unload", "lo")
    assert machine.calls()[-2:] == [gone, "bpftool struct_ops unregister name bpf_efd"]


def test_a_clang_without_a_version_in_its_name_is_asked(machine, monkeypatch):
    monkeypatch.setattr(system, "_path", lambda: str(machine.folder))
    machine.add("clang")
    machine.answer("clang-19 --version", "Debian clang version 19.1.7 (3)\n")
    machine.answer("clang --version", "Debian clang version 14.0.6\n")
    assert system.clang() == str(machine.folder / "clang-19")
    (machine.folder / "clang-19").unlink()
    with pytest.raises(MayflyError, match="clang is version 14, not 19 or later; on Debian 13: apt-get"):
        system.clang()
    machine.answer("clang --version", "clang version 20.1.0\n")
    assert system.clang() == str(machine.folder / "clang")
    (machine.folder / "clang").unlink()
    with pytest.raises(MayflyError, match="clang is missing"):
        system.clang()


def test_modules_and_plug_ins_go_where_modprobe_and_tc_look(machine, tmp_path):
    (tmp_path / "built" / "modules").mkdir(parents=True)
    (tmp_path / "built" / "tc").mkdir()
    (tmp_path / "built" / "modules" / "sch_efd.ko").touch()
    (tmp_path / "built" / "tc" / "q_efd.so").touch()
    modules, plugins, depmod = install_steps(tmp_path / "built", "6.1.0-1-amd64")
    assert modules[-2] == "/lib/modules/6.1.0-1-amd64/updates/mayfly" and modules[-1].endswith("sch_efd.ko")
    assert plugins[-2] == str(tmp_path / "tc") and plugins[-1].endswith("q_efd.so")
    assert depmod[-1] == "6.1.0-1-amd64"


def test_install_builds_first_when_it_is_told_to(machine, monkeypatch, tmp_path):
    out = tmp_path / "out"
    dry = done("install", "--build", "--from", out, "--dry-run").splitlines()
    assert dry[0].startswith("make -s -C ") and f"OUT={out}" in dry[0]
    assert dry[1] == f"mayfly qdisc install --from {out}"
    monkeypatch.setattr(system, "headers", lambda kernel: None)
    assert "no modules were built there" in refused_here("qdisc", "install", "--build", "--from", out)
    assert machine.calls()[0].startswith("make -s -C "), "this make builds nothing"
    for name in ("modules/sch_efd.ko", "tc/q_efd.so"):
        (out / name).parent.mkdir(parents=True)
        (out / name).touch()
    done("install", "--build", "--from", out)
    assert [call.split()[0] for call in machine.calls()[1:]] == ["make", "install", "install", "depmod"]


def test_uninstall_takes_modules_and_plug_ins_away(machine, monkeypatch, tmp_path):
    monkeypatch.setattr("mayfly.qdisc.build.installed_modules", lambda kernel: tmp_path / "updates" / kernel)
    (tmp_path / "tc" / "q_other.so").touch()
    done("uninstall", "--kernel", "6.1.0-1-amd64")
    remove, depmod = machine.calls()
    assert remove == f"rm -f -- {tmp_path}/tc/q_efd.so"
    assert depmod == "depmod 6.1.0-1-amd64"
    (tmp_path / "tc" / "q_efd.so").unlink()
    assert "nothing of ours is installed for kernel 6.1.0-1-amd64" in refused_here(
        "qdisc", "uninstall", "--kernel", "6.1.0-1-amd64"
    )
    monkeypatch.setattr(system, "loaded", lambda name: name == "sch_efd")
    (tmp_path / "tc" / "q_efd.so").touch()
    done("uninstall")
    assert "modprobe -r sch_efd" in machine.calls()


def test_uninstall_removes_files_and_no_tree(machine, monkeypatch, tmp_path):
    folder = tmp_path / "updates" / "6.1.0-1-amd64"
    monkeypatch.setattr("mayfly.qdisc.build.installed_modules", lambda kernel: tmp_path / "updates" / kernel)
    folder.mkdir(parents=True)
    (folder / "sch_efd.ko").touch()
    machine.add("rmdir")
    done("uninstall", "--kernel", "6.1.0-1-amd64")
    assert machine.calls()[:2] == [f"rm -f -- {folder}/sch_efd.ko {tmp_path}/tc/q_efd.so", f"rmdir -- {folder}"]


@pytest.mark.parametrize(
    "release", ["../../x", "..", ".", "", "/etc", "a/b", "-rf", "a b", "6.1\n", "6.1;reboot", "x" * 65]
)
@pytest.mark.parametrize("command", ["build", "install", "uninstall"])
def test_a_kernel_that_no_kernel_calls_itself_is_refused(command, release):
    """Before: `uninstall --kernel ../../x` gave `rm -rf` a path outside of our folder."""
    assert "must be a release as uname -r says it" in refused_here("qdisc", command, f"--kernel={release}", "--dry-run")


def test_what_others_may_change_is_not_installed(machine, monkeypatch, tmp_path):
    """Before: `sudo mayfly qdisc install` took whatever lay in ./mayfly-qdisc, in /tmp too."""
    built = tmp_path / "built"
    for name in ("modules/sch_efd.ko", "tc/q_efd.so"):
        (built / name).parent.mkdir(parents=True)
        (built / name).touch()
    install_steps(built, "6.1.0")
    for path in (built, built / "modules", built / "tc", built / "tc" / "q_efd.so"):
        mode = path.stat().st_mode
        path.chmod(mode | 0o002)
        with pytest.raises(MayflyError, match="others may write it"):
            install_steps(built, "6.1.0")
        path.chmod(mode)
    (tmp_path / "link").symlink_to(built)
    with pytest.raises(MayflyError, match="a symbolic link is not followed"):
        install_steps(tmp_path / "link", "6.1.0")
    if os.getuid() == 0:  # the other one says so in any case
        os.chown(built / "modules" / "sch_efd.ko", 12345, 0)
        with pytest.raises(MayflyError, match=r"belongs to another user \(12345\)"):
            install_steps(built, "6.1.0")
        # Who runs sudo has built it.
        monkeypatch.setenv("SUDO_UID", "12345")
        install_steps(built, "6.1.0")


def test_show_reads_what_tc_says(machine):
    machine.answer("tc -s -j qdisc show", [HTB, EFD, {"kind": "noqueue", "dev": "lo", "root": True}])
    rows = json.loads(done("show", "--json"))["qdiscs"]
    assert [row["kind"] for row in rows] == ["htb", "efd"]
    assert rows[1]["backlog_pkts"] == 20 and rows[1]["drops_pkts"] == 7 and rows[1]["parent"] == "6d66:1"
    assert rows[1]["own"] == {"high_pkts": 1, "low_pkts": 19, "pushed_out": 5}
    table = mayfly_here("qdisc", "show", "eth0").out
    assert "efd" in table and "1.51MB" in table and "efd: high_pkts 1, low_pkts 19, pushed_out 5; limit 100" in table
    assert "htb:" not in table, "it only passes on"


def test_tc_names_no_interface_when_asked_about_one(machine):
    machine.answer("tc -s -j qdisc show", [{name: value for name, value in EFD.items() if name != "dev"}])
    assert json.loads(done("show", "eth0", "--json"))["qdiscs"][0]["device"] == "eth0"
    machine.answer("tc -s -j qdisc show", [{"kind": "noqueue", "dev": "lo", "root": True}])
    assert done("show", "eth0") == "eth0: no discipline is configured\n"
    assert "eth0: nothing is there to be removed" in refused_here("qdisc", "unload", "eth0")


def test_watching_tells_the_rate_between_readings(machine, capsys, monkeypatch):
    monkeypatch.setattr("mayfly.qdisc.watch.INTERVAL_S", 0.01)
    machine.answer("tc -s -j qdisc show", [EFD])
    watch("eth0", as_json=True, count=2)
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["qdiscs"][0]["rate_bps"] is None and second["qdiscs"][0]["rate_bps"] == 0.0
    watch("eth0", count=2)
    assert "bit/s" in capsys.readouterr().out
