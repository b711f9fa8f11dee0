"""`mayfly qdisc load --both-ways`: its commands, what it refuses, and what its journal is good for."""

import fcntl
import json
import os
import subprocess

import pytest
from invocation import mayfly_here, refused_here

from mayfly.qdisc import journal
from mayfly.qdisc.kept import Kept, to_put_back

BOTH = ("load", "eth0", "--both-ways", "--down", "95mbit", "--up", "19mbit")
OURS = {"kind": "cake", "handle": "6d66:", "dev": "eth0", "root": True}
HOOK = {"kind": "clsact", "handle": "ffff:", "dev": "eth0", "parent": "ffff:fff1"}
FILTER = {"protocol": "all", "pref": 28006, "kind": "matchall", "chain": 0}
IFB = [{"ifname": "ifb4eth0", "linkinfo": {"info_kind": "ifb"}}]


def dry(*arguments) -> list[str]:
    ended = mayfly_here("qdisc", *BOTH, *arguments, "--dry-run")
    assert (ended.status, ended.err) == (0, "")
    return ended.out.splitlines()


def test_lfq_shapes_both_directions_by_hosts_behind_the_interface():
    modprobe, ifb, add, up, down_queue, up_queue, hook, lead = dry()
    assert (modprobe, ifb) == ("modprobe sch_lfq", "modprobe ifb numifbs=0")
    assert (add, up) == ("ip link add name ifb4eth0 type ifb", "ip link set dev ifb4eth0 up")
    shaped = "root handle 6d66: lfq bandwidth"
    # What the link sends in 100 ms, 300 packets at least.
    words = "tc qdisc replace dev ifb4eth0 %s 95000000bit raw nat ingress limit 784p user dst "
    assert down_queue.startswith(words % shaped)
    words = "tc qdisc replace dev eth0 %s 19000000bit raw nat egress limit 300p user src "
    assert up_queue.startswith(words % shaped)
    assert hook == "tc qdisc add dev eth0 clsact"
    redirect = "matchall action mirred egress redirect dev ifb4eth0"
    assert lead == f"tc filter add dev eth0 ingress protocol all pref 28006 {redirect}"


def test_what_is_said_of_users_and_links_is_taken():
    down, up = dry("-d", "lfq(user=pair)", "--no-nat", "--overhead", "docsis", "--buffer", "50ms")[4:6]
    assert "lfq bandwidth 95000000bit docsis nonat ingress limit 593750b user pair" in down
    assert "lfq bandwidth 19000000bit docsis nonat egress limit 118750b user pair" in up
    down, up = dry("-d", "cake", "--overhead", "overhead 44 mpu 64")[3:5]
    assert "cake bandwidth 95000000bit besteffort overhead 44 mpu 64 nat ingress" in down and "dual-dsthost" in down
    assert "cake bandwidth 19000000bit besteffort overhead 44 mpu 64 nat egress" in up and "dual-srchost" in up


def test_each_direction_can_have_its_own_buffer():
    lines = dry("-d", "fq_codel", "--buffer", "300/50")
    assert any("dev ifb4eth0 parent 6d66:1 handle 6d67: fq_codel limit 300 " in line for line in lines)
    assert any("dev eth0 parent 6d66:1 handle 6d67: fq_codel limit 50 " in line for line in lines)
    down, up = dry("-d", "lfq", "--buffer", "50ms/100ms")[4:6]
    assert "limit 593750b" in down and "limit 237500b" in up


def test_a_direction_can_have_its_own_buffer_by_name():
    lines = dry("-d", "fq_codel", "--down-buffer", "300", "--up-buffer", "50")
    assert lines == dry("-d", "fq_codel", "--buffer", "300/50")
    # The other one has that of --buffer, or its default: what the link sends in 100 ms.
    assert dry("-d", "fq_codel", "--buffer", "200", "--up-buffer", "50") == dry("-d", "fq_codel", "--buffer", "200/50")
    down, up = dry("-d", "lfq", "--up-buffer", "20ms")[4:6]
    assert "limit 784p" in down and "limit 47500b" in up


def test_others_go_below_htb_that_counts_the_link_in_a_size_table():
    lines = dry("-d", "fq_codel", "--overhead", "pppoe-llcsnap")
    (root, *_) = (line for line in lines if "dev eth0 root" in line)
    assert root.endswith("root handle 6d66: stab overhead 26 mpu 0 linklayer atm htb default 1")
    assert any("dev ifb4eth0 parent 6d66:1 handle 6d67: fq_codel limit 784" in line for line in lines)


def test_an_interface_without_a_mac_header_has_none_taken_off(monkeypatch, tmp_path):
    """Lengths of ppp0 are those of IP packets: 14 bytes less than the link has were counted."""
    (tmp_path / "eth0").write_text("1\n")
    (tmp_path / "ppp0").write_text("512\n")
    monkeypatch.setattr("mayfly.qdisc.interface.TYPES", f"{tmp_path}/{{}}")
    for device, overhead in (("eth0", 26 - 14), ("ppp0", 26), ("absent", 26 - 14)):
        ended = mayfly_here(
            *("qdisc", "load", device, "--both-ways", "--down", "20mbit", "--up", "5mbit", "-d", "fq_codel"),
            *("--overhead", "26", "--dry-run"),
        )
        assert ended.out.count(f"stab overhead {overhead} mpu") == 2, ended.out


def test_the_name_of_the_device_beside_is_cut_to_what_linux_takes_and_is_its_own():
    """Before: VLANs 100 and 101 of an interface with a long name had one device."""
    names = set()
    for vlan in ("100", "101"):
        ended = mayfly_here("qdisc", "load", f"enp0s31f6.{vlan}", *BOTH[2:], "-d", "cake", "--dry-run")
        (add,) = (line for line in ended.out.splitlines() if " add name " in line)
        names.add(add.removeprefix("ip link add name ").removesuffix(" type ifb"))
    assert len(names) == 2 and all(len(name) == 15 and name.startswith("ifb4enp0s3") for name in names)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["load", "eth0", "--both-ways", "--down", "95mbit"], "--both-ways: needs both rates"),
        (["load", "eth0", "--down", "95mbit"], "--down and --up: only with --both-ways"),
        ([*BOTH, "--rate", "5mbit"], "--both-ways: not with --rate"),
        (["load", "eth0", "--buffer", "300/50"], "--buffer = 300/50: must be one value without --both-ways"),
        ([*BOTH, "--buffer", "300/50/20"], "--buffer = '300/50/20': must be one value, or two for down and up"),
        (["load", "eth0", "--down-buffer", "300"], "--down-buffer: only with --both-ways; --buffer is the limit"),
        ([*BOTH, "--buffer", "300/50", "--up-buffer", "50"], "--up-buffer: not with --buffer 300/50"),
        ([*BOTH, "--up-buffer", "300/50"], "--up-buffer = 300/50: must be one value"),
        ([*BOTH, "--down-buffer", "many"], "--down-buffer = 'many': must be"),
        ([*BOTH, "--bpf"], "--both-ways: not with --bpf"),
        ([*BOTH[:4], "fast", *BOTH[5:]], "--down = 'fast': must be a rate"),
        ([*BOTH, "--overhead", "docsys"], "overhead = 'docsys': docsys: must be one of"),
        ([*BOTH, "--overhead", "overhead 300"], "overhead must be from -64 to 256 bytes"),
        ([*BOTH, "--overhead", "mpu"], "mpu must be from 0 to 256 bytes"),
        ([*BOTH, "--overhead=--5"], "overhead = '--5': --5: must be one of"),
        ([*BOTH, "--overhead", "²"], "overhead = '²': ²: must be one of"),
        ([*BOTH, "--overhead", "overhead --5"], "overhead must be from -64 to 256 bytes"),
        ([*BOTH, "--overhead", ""], "overhead = '': must be bytes"),
        ([*BOTH, "-d", "fq_codel", "--overhead", "pppoe-ptm"], "htb counts no ptm; lfq and cake do"),
        (["load", "eth0", "--overhead", "18"], "--overhead: only where something shapes"),
        (["load", "eth0", "--bpf", "--rate", "5mbit", "--overhead", "18"], "--overhead: not with --bpf"),
        (["load", "..", "--rate", "5mbit"], "device = '..': must be the name of an interface"),
    ],
)
def test_bad_options_are_one_line_and_nothing_is_done(machine, arguments, said):
    assert said in refused_here("qdisc", *arguments)
    assert machine.calls() == [] and not journal.FOLDER.exists()


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
@pytest.mark.parametrize("device", ["../x", "..", "a b", ""])
def test_unload_wants_the_name_of_an_interface_too(machine, tmp_path, device, more):
    """Before: `unload ../x` made a lock outside of the folder of journals."""
    said = refused_here("qdisc", "unload", device, *more)
    assert f"device = '{device}': must be the name of an interface" in said
    assert machine.calls() == [] and not journal.FOLDER.exists() and not list(tmp_path.glob("x.*"))


def cake_is_there(machine) -> None:
    """As after a load of cake in both directions."""
    machine.interfaces["ifb4eth0"] = 3
    machine.answer("tc -s -j qdisc show dev eth0", [OURS, HOOK])
    machine.answer("tc -s -j qdisc show dev ifb4eth0", [OURS | {"dev": "ifb4eth0"}])
    machine.answer("tc -j filter show dev eth0 ingress", [FILTER])
    machine.answer("ip -j -d link show dev ifb4eth0", IFB)


def test_a_load_is_written_down_and_unload_takes_back_what_it_did(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    (path,) = journal.FOLDER.glob("eth0.*.json")
    document = json.loads(path.read_text())
    assert document["complete"] and document["ifb"] == "ifb4eth0" and document["hook"] and document["root"] is None
    cake_is_there(machine)
    done = len(machine.calls())
    ended = mayfly_here("qdisc", "unload", "eth0")
    assert (ended.status, ended.out) == (0, "eth0 is as the kernel makes it\n")
    back = ["tc qdisc del dev eth0 clsact", "tc qdisc del dev eth0 root", "ip link del dev ifb4eth0"]
    assert machine.calls()[done:] == back
    assert list(journal.FOLDER.glob("*.json")) == []


def test_a_load_with_other_rates_changes_them_in_place(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    done = len(machine.calls())
    assert mayfly_here("qdisc", *BOTH[:-1], "9mbit", "-d", "cake").status == 0
    assert [call.split(" besteffort")[0] for call in machine.calls()[done:]] == [
        "tc qdisc replace dev ifb4eth0 root handle 6d66: cake bandwidth 95000000bit",
        "tc qdisc replace dev eth0 root handle 6d66: cake bandwidth 9000000bit",
    ]


def test_a_change_in_place_names_all_that_a_first_load_names(machine):
    """A replace with the same handle changes what it names only: all of it is named, every time."""
    assert mayfly_here("qdisc", *BOTH, "-d", "cake(isolation=flow, interval=0.3, target=0.015)", "--no-nat").status == 0
    cake_is_there(machine)
    done = len(machine.calls())
    assert mayfly_here("qdisc", *BOTH, "-d", "cake", "--buffer", "200").status == 0
    in_place = machine.calls()[done:]
    assert in_place == dry("-d", "cake", "--buffer", "200")[3:5] and all("6d66: cake" in line for line in in_place)


def test_the_same_kind_with_other_options_is_deleted_before_it_is_made(machine):
    """fq_codel does not shape by itself: its second load is a new one, so that nothing of the first stays."""
    arguments = ("load", "eth0", "--rate", "5mbit", "-d")
    assert mayfly_here("qdisc", *arguments, "fq_codel(target=0.02, flows=64)").status == 0
    machine.answer("tc -s -j qdisc show dev eth0", [OURS | {"kind": "htb"}])
    machine.answer("tc -s -j qdisc show dev eth0", [], after="qdisc del dev eth0 root")
    done = len(machine.calls())
    assert mayfly_here("qdisc", *arguments, "fq_codel").status == 0
    calls = [call for call in machine.calls()[done:] if "show" not in call]
    assert calls[0] == "tc qdisc del dev eth0 root"
    assert calls[1] == "tc qdisc replace dev eth0 root handle 6d66: htb default 1"
    assert "fq_codel limit 300 target 5000us" in calls[-1] and "flows 1024" in calls[-1]


def test_a_load_of_another_layout_takes_the_first_one_back_before(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    # Gone, once it is taken back.
    machine.answer("tc -s -j qdisc show dev eth0", [], after="qdisc del dev eth0 root")
    done = len(machine.calls())
    ended = mayfly_here("qdisc", "load", "eth0", "--rate", "5mbit", "-d", "fq_codel")
    assert (ended.status, ended.out) == (0, "fq_codel at eth0; mayfly qdisc show eth0\n")
    gone, made = machine.calls()[done : done + 3], machine.calls()[done + 3 :]
    assert gone == ["tc qdisc del dev eth0 clsact", "tc qdisc del dev eth0 root", "ip link del dev ifb4eth0"]
    assert made[0] == "tc qdisc replace dev eth0 root handle 6d66: htb default 1"


def test_a_load_after_one_that_was_interrupted_undoes_it_and_says_so(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    (path,) = journal.FOLDER.glob("eth0.*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"complete": False}))
    cake_is_there(machine)
    machine.answer("tc -s -j qdisc show dev eth0", [], after="qdisc del dev eth0 root")
    said = " ".join(mayfly_here("qdisc", *BOTH, "-d", "cake").out.split())
    assert said.startswith("eth0: what a load or unload left that was interrupted is undone cake at eth0")


def test_numbers_that_are_refused_in_place_leave_the_first_load_at_work(machine):
    """Before: a rate that the kernel refused took the working shaper away."""
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    (path,) = journal.FOLDER.glob("eth0.*.json")
    written, done = path.read_text(), len(machine.calls())
    machine.answer(
        "tc qdisc replace dev eth0 root handle 6d66: cake bandwidth 9000000bit", status=2, err="Error: no.\n"
    )
    said = " ".join(refused_here("qdisc", *BOTH[:-1], "9mbit", "-d", "cake", "--down", "50mbit").split())
    assert said.endswith("Error: no; eth0 is as the load before has left it")
    assert [call.split(" besteffort")[0] for call in machine.calls()[done:]] == [
        "tc qdisc replace dev ifb4eth0 root handle 6d66: cake bandwidth 50000000bit",
        "tc qdisc replace dev eth0 root handle 6d66: cake bandwidth 9000000bit",
        "tc qdisc replace dev ifb4eth0 root handle 6d66: cake bandwidth 95000000bit",
        "tc qdisc replace dev eth0 root handle 6d66: cake bandwidth 19000000bit",
    ]
    assert path.read_text() == written
    # The first one is refused now too: then it is undone, and that is said.
    machine.answer("tc qdisc replace dev eth0", status=2, err="Error: no.\n")
    done = len(machine.calls())
    said = " ".join(refused_here("qdisc", *BOTH[:-1], "9mbit", "-d", "cake").split())
    assert said.endswith("Error: no; the load that was at eth0 before is undone too")
    assert machine.calls()[-1] == "ip link del dev ifb4eth0" and not path.exists()


def test_a_load_that_fails_over_another_says_that_both_are_gone_and_what_is_left(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    machine.answer("tc -s -j qdisc show dev eth0", [], after="qdisc del dev eth0 root")
    machine.answer("tc -s -j qdisc show dev eth0", [OURS], after="root handle 6d66: htb")
    machine.answer("tc class add", status=2, err="Error: no class.\n")
    load = ("load", "eth0", "--rate", "5mbit", "-d", "fq_codel")
    said = " ".join(refused_here("qdisc", *load).split())
    assert said.endswith("Error: no class; the load that was at eth0 before is undone too")


def test_a_load_that_fails_and_cannot_be_undone_says_so(machine):
    machine.answer("tc -s -j qdisc show dev eth0", [OURS], after="root handle 6d66: htb")
    machine.answer("tc class add", status=2, err="Error: no class.\n")
    machine.answer("tc qdisc del dev eth0 root", status=2, err="Error: busy.\n")
    said = " ".join(refused_here("qdisc", "load", "eth0", "--rate", "5mbit", "-d", "fq_codel").split())
    assert "Error: no class; not all could be undone: " in said
    assert said.endswith("tc qdisc del dev eth0 root: Error: busy.; mayfly qdisc unload eth0")
    (path,) = journal.FOLDER.glob("eth0.*.json")
    assert json.loads(path.read_text())["complete"] is False


@pytest.mark.parametrize("overhead", [("--overhead", "18"), ()])
def test_another_link_layer_is_another_layout(machine, overhead):
    """Before: the cells of ATM and the least packet stayed, as the kernel keeps what is not said."""
    assert mayfly_here("qdisc", *BOTH, "-d", "cake", "--overhead", "pppoe-llcsnap").status == 0
    cake_is_there(machine)
    machine.answer("tc -s -j qdisc show dev eth0", [], after="qdisc del dev eth0 root")
    done = len(machine.calls())
    assert mayfly_here("qdisc", *BOTH, "-d", "cake", *overhead).status == 0
    assert "tc qdisc del dev eth0 root" in machine.calls()[done:]
    machine.answer("tc -s -j qdisc show dev eth0", [OURS, HOOK], after="qdisc del dev eth0 root")
    done = len(machine.calls())
    assert mayfly_here("qdisc", *BOTH[:-1], "9mbit", "-d", "cake", *overhead).status == 0
    assert [call.split()[1:3] for call in machine.calls()[done:]] == [["qdisc", "replace"]] * 2


def test_what_arrives_is_led_again_where_somebody_took_the_filter_away(machine):
    """Before: such a load changed the numbers in place, and what arrives was shaped no more."""
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    machine.answer("tc -s -j qdisc show dev eth0", [OURS])
    machine.answer("tc -j filter show dev eth0 ingress", [])
    machine.answer("tc -s -j qdisc show dev eth0", [], after="qdisc del dev eth0 root")
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    assert machine.calls()[-1].endswith("matchall action mirred egress redirect dev ifb4eth0")


def test_an_unload_that_ends_midway_leaves_a_journal_of_what_is_not_whole(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    machine.answer("tc qdisc del dev eth0 root", status=2, err="Error: no.\n")
    assert "Error: no." in refused_here("qdisc", "unload", "eth0")
    (path,) = journal.FOLDER.glob("eth0.*.json")
    assert json.loads(path.read_text())["complete"] is False


def test_filters_of_others_stay_and_so_does_their_hook(machine):
    assert mayfly_here("qdisc", *BOTH, "-d", "cake").status == 0
    cake_is_there(machine)
    # Somebody put a filter there after the load.
    machine.answer("tc -j filter show dev eth0 ingress", [FILTER, {"pref": 1, "kind": "u32"}])
    done = len(machine.calls())
    assert mayfly_here("qdisc", "unload", "eth0").status == 0
    assert machine.calls()[done] == "tc filter del dev eth0 ingress pref 28006"
    assert "tc qdisc del dev eth0 clsact" not in machine.calls()


def test_what_is_in_the_way_is_one_line(machine):
    machine.interfaces["ifb4eth0"] = 3
    said = refused_here("qdisc", *BOTH, "-d", "cake")
    assert "eth0: what arrives is to go through ifb4eth0, and there is one already" in said
    del machine.interfaces["ifb4eth0"]
    machine.answer("tc -s -j qdisc show dev eth0", [HOOK])
    machine.answer("tc -j filter show dev eth0 ingress", [{"pref": 1, "kind": "u32"}])
    said = refused_here("qdisc", *BOTH, "-d", "cake")
    assert "eth0: somebody else's filters look at what arrives" in said
    assert machine.calls() == []


@pytest.mark.parametrize("written", [True, False])
def test_the_device_of_another_interface_stays(machine, written):
    """Before: a load in one direction was enough to take a device of ours for that of this interface."""
    assert mayfly_here("qdisc", "load", "eth0", "-d", "cake", "--rate", "5mbit").status == 0
    cake_is_there(machine)
    machine.answer("tc -j filter show dev eth0 ingress", [])
    if not written:
        journal.forget("eth0")
    done = len(machine.calls())
    said = refused_here("qdisc", *BOTH, "-d", "cake")
    assert "eth0: what arrives is to go through ifb4eth0, and there is one already" in said
    assert machine.calls()[done:] == []
    assert mayfly_here("qdisc", "unload", "eth0").status == 0
    assert machine.calls()[done:] == ["tc qdisc del dev eth0 root"]


def test_a_load_while_another_is_at_work_is_refused(machine, monkeypatch):
    monkeypatch.setattr(journal, "PATIENCE_S", 0.05)
    with journal.locked("eth0"):
        assert "eth0: another mayfly qdisc load or unload is at work there" in refused_here(
            "qdisc", *BOTH, "-d", "cake"
        )
        assert "is at work there" in refused_here("qdisc", "unload", "eth0")
    assert machine.calls() == []


def test_the_commands_of_a_killed_load_have_its_lock(tmp_path, monkeypatch):
    from mayfly.qdisc.steps import output

    monkeypatch.setattr(journal, "FOLDER", tmp_path)
    with journal.locked("eth0") as held:
        there = output(["sh", "-c", f"[ -e /proc/self/fd/{held} ] && echo held"], held)
        assert there == "held\n"
        assert output(["sh", "-c", f"[ -e /proc/self/fd/{held} ] || echo free"]) == "free\n"
    (lock,) = tmp_path.glob("*.lock")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_journal_of_another_start_of_the_machine_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "FOLDER", tmp_path)
    written = journal.Journal("eth0", 2, "cake", root=Kept("fq_codel", "1:", "0800"), offloads=("rx-gro-hw",))
    written.write()
    assert journal.read_journal("eth0") == written
    (path,) = tmp_path.glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"boot": "another"}))
    assert journal.read_journal("eth0") is None


def test_netem_is_not_put_back_as_it_does_not_tell_its_distribution(monkeypatch):
    """Before: it was tried, told the same, and came back with another distribution of delays."""
    tried = []
    done = subprocess.CompletedProcess([], 0, stdout="0800\n")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: tried.append(command) or done)
    assert to_put_back(Kept("netem", "8001:", "0800")) is None and tried == []
    assert to_put_back(Kept("fq_codel", "8001:", "0800")) == Kept("fq_codel", "8001:", "0800") and len(tried) == 1


def test_journals_of_namespaces_that_have_a_number_one_after_the_other_are_two(tmp_path, monkeypatch):
    """Before: the number of a namespace that was gone, and with it its journal, were taken for those of a new one."""
    monkeypatch.setattr(journal, "FOLDER", tmp_path)
    assert journal._path("eth0", "json") == journal._path("eth0", "json")
    told = journal._cookie()
    assert told is None or told > 0
    paths = []
    for cookie in (7, 8, None):
        monkeypatch.setattr(journal, "_cookie", lambda cookie=cookie: cookie)
        paths.append(journal._path("eth0", "json"))
    assert len(set(paths)) == 3


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', "null"])
def test_a_journal_that_is_none_is_one_line(machine, text):
    with journal.locked("eth0"):
        path = journal._path("eth0", "json")
        path.write_text(text)
    said = refused_here("qdisc", "unload", "eth0")
    assert f"no journal of mayfly qdisc; rm {path}" in said
    assert path.read_text() == text


def test_a_journal_that_cannot_be_read_is_not_called_none(machine):
    """Before: who may not read it was told to remove it."""
    with journal.locked("eth0"):
        path = journal._path("eth0", "json")
        path.mkdir()
    said = refused_here("qdisc", "unload", "eth0", "--dry-run")
    assert f"{path}: cannot be read: Is a directory" in said and "rm " not in said


def test_a_folder_of_journals_that_others_may_write_is_refused(machine):
    with journal.locked("eth0"):
        pass
    os.chmod(journal.FOLDER, 0o777)
    assert "others may write it" in refused_here("qdisc", *BOTH, "-d", "cake")
    assert machine.calls() == []


def test_a_buffer_in_time_is_in_packets_where_the_kernel_counts_these():
    """20 ms are 47,500 bytes, which are 31 packets of 1514; `fifo` counts bytes itself."""
    (up,) = (line for line in dry("-d", "fq_codel", "--up-buffer", "20ms") if "dev eth0 parent 6d66:1 handle" in line)
    (up_in_bytes,) = (
        line for line in dry("-d", "fifo", "--up-buffer", "20ms") if "dev eth0 parent 6d66:1 handle" in line
    )
    assert " fq_codel limit 31 " in up and " bfifo limit 47500" in up_in_bytes
