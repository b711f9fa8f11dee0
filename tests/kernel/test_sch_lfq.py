"""What sch_lfq does beside deciding who is next: its shaper, names of users, filters, weights by DSCP, memory, NAT."""

import math

import guest
import pytest

pytestmark = pytest.mark.kernel


def measured(measure: str, *cases: dict) -> list[dict]:
    result = guest.run("lfq.py", {"measure": measure, "cases": list(cases)}, modules=("sch_lfq",))
    assert not result["splats"], result["splats"]
    return result["found"]


def atm(length: int) -> int:
    """ITU-T I.363.5: AAL5 in cells of 53 bytes with 48 of payload."""
    return math.ceil(length / 48) * 53


def test_the_shaper_holds_its_rate():
    """Within .5 % was asked: in virtual time, where timers are exact, only the rounding to a ns is left."""
    rates = {f"{mbps}mbit": mbps * 1e6 for mbps in (1, 8, 19, 95, 333, 1000, 9400)} | {"64kbit": 64e3}
    cases, expected = [], []
    for rate, bps in rates.items():
        packets = 60 if bps < 1e6 else 600
        lengths = (1514, 60, 590)
        cases.append(
            {
                "options": f"bandwidth {rate} noecn interval 4s target 4s",
                "lengths": lengths,
                "packets": packets,
                "seconds": 10 + packets * 800 * 8 / bps,
            }
        )
        # The first leaves at once; the last one when those before it are through.
        expected.append([sum(lengths[n % 3] for n in range(packets)) * 8e9 / bps, bps])
    for case, (ns, bps), found in zip(cases, expected, measured("shaped", *cases), strict=True):
        assert found["arrived"] == case["packets"] and found["qlen"] == found["backlog"] == 0, (case, found)
        # Which one is last is the discipline's choice: between 60 and 1514 bytes are not counted.
        assert ns - 1514 * 8e9 / bps - 1e5 < found["ns"] * 1.0001, (case, found, ns)
        assert found["ns"] < ns - 60 * 8e9 / bps + 1e5 + ns * 1e-4, (case, found, ns)
        assert found["alone_ns"] < 1e6, ("no packet waits for a free link", case, found)


@pytest.mark.parametrize(
    ("options", "framed"),
    [
        ("raw", lambda length: length),
        ("overhead 18 mpu 64", lambda length: max(length - 14 + 18, 64)),
        ("overhead -4", lambda length: length - 14 - 4),
        ("ethernet", lambda length: max(length - 14 + 38, 84)),
        ("docsis", lambda length: max(length - 14 + 18, 64)),
        ("ethernet ether-vlan", lambda length: max(length - 14 + 42, 84)),
        ("pppoa-vcmux", lambda length: atm(length - 14 + 10)),
        ("conservative", lambda length: atm(length - 14 + 48)),
        ("pppoe-ptm", lambda length: length - 14 + 30 + math.ceil((length - 14 + 30) / 64)),
        ("atm", atm),
        ("docsis raw", lambda length: max(length, 64)),
    ],
)
def test_packets_are_as_long_as_the_link_makes_them(options, framed):
    lengths = (60, 61, 100, 577, 1000, 1514)
    if options == "docsis raw":
        options = "raw mpu 64"
    # The shortest packets are 168 µs apart: below 95 µs the guest of 7.3 is late (84 µs took 94.5), that of 6.1 is not.
    cases = [
        {
            "options": f"bandwidth 2mbit {options} noecn interval 4s target 4s",
            "lengths": [length],
            "packets": 101,
            "seconds": 2,
        }
        for length in lengths
    ]
    for length, found in zip(lengths, measured("shaped", *cases), strict=True):
        assert found["arrived"] == 101
        # The guest's clock is read once for several frames.
        assert found["ns"] == pytest.approx(100 * framed(length) * 8e9 / 2e6, abs=1000), length


def test_another_rate_counts_at_once_and_loses_nothing():
    rates = ["1mbit", "8mbit", "2mbit", "80mbit", "1mbit"]
    (found,) = measured("changed_under_load", {"rates": rates, "packets": 8000, "seconds": 0.5})
    expected = [float(rate.removesuffix("mbit")) * 1e6 / 8 / 1000 * 0.5 for rate in rates]
    assert found["counts"][:-1] == pytest.approx(expected, abs=2 + 0.02 * max(expected)), found
    assert found["drops"] == 0 and found["after"] == 0
    assert sum(found["counts"]) == 8000, found


def test_a_flood_does_not_stop_a_link_whose_drops_count():
    """Twice the rate for 5 s with `ingress`: two thirds of the rate go on, and all of it at once when it is over."""
    case = {"options": "bandwidth 8mbit ingress limit 1000p", "seconds": 5, "burst": 20}
    (found,) = measured("flooded", case)
    # 1000 packets of 1000 bytes a second fit.
    assert all(0.6 * 1000 <= count <= 1010 for count in found["counts"][:5]), found
    assert found["shown"]["qlen"] == 0 and found["shown"]["drops"] > 2000, found
    # A packet a ms of 100 bytes for 2 s, each sent as it comes once the backlog is through.
    assert sum(found["counts"][5:]) >= 2000, found


A, B, SERVER = "10.0.0.1", "10.0.0.2", "10.9.0.2"


def turn(options: str, **more) -> dict:
    """Ten flows of A and one of B, so many packets that both have some waiting all the time."""
    first, second, server = more.get("hosts", (A, B, SERVER))
    packets = [[first, server, more.get("dscp_a", 0), flow, 4] for flow in range(10)]
    packets += [[second, server, more.get("dscp_b", 0), 77, 40]]
    return {
        "options": f"bandwidth 4mbit {options}",
        "packets": packets,
        "rounds": 60,
        "seconds": 0.1,
        **{name: value for name, value in more.items() if name in ("filters", "length", "tunnel")},
    }


def shares(found: dict, first: str = A, second: str = B) -> float:
    """What the first was sent, per byte of the second."""
    return found["arrived"][first] / found["arrived"][second]


def test_users_share_whatever_their_flows_and_the_names_are_theirs():
    found = measured("served", turn(""), turn("user src"), turn("user dst"), turn("user flow"))
    assert shares(found[0]) == pytest.approx(1, rel=0.05), found[0]["arrived"]
    assert shares(found[1]) == pytest.approx(1, rel=0.05)
    assert shares(found[2]) > 3  # one user with eleven flows, of which A has ten
    # All that A offers, which is less than ten of eleven shares.
    assert found[3]["arrived"][A] == 2_400_000
    names = [{row["user"] for row in one["shown"]["top"]} - {"newcomers"} for one in found]
    assert names[0] == {f"{A} {SERVER}", f"{B} {SERVER}"}
    assert names[1] == {A, B} and names[2] == {SERVER}
    assert f"{B}:78 {SERVER}:9" in names[3], names[3]
    for one in found:
        assert f"  user: {SERVER}" in one["text"] or A in one["text"], one["text"]


def test_hosts_of_ipv6_are_networks_of_64_bits():
    """By default: a host has as many addresses in its network as it likes."""
    near = ("2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:9::1")
    far = ("2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:9::1")
    one, two, apart = measured(
        "served", turn("user src", hosts=near), turn("user src", hosts=far), turn("user src prefix6 128", hosts=near)
    )
    assert {row["user"] for row in one["shown"]["top"]} - {"newcomers"} == {"2001:db8:0:1::"}
    assert shares(one, *near[:2]) > 3
    assert {row["user"] for row in two["shown"]["top"]} - {"newcomers"} == {"2001:db8:0:1::", "2001:db8:0:2::"}
    assert shares(two, *far[:2]) == pytest.approx(1, rel=0.05)
    assert shares(apart, *near[:2]) == pytest.approx(1, rel=0.05)


def test_a_tunnel_is_one_flow_between_its_ends():
    found, hosts = measured("served", turn("user flow", tunnel=True), turn("user src", tunnel=True))
    assert shares(found, "10.7.0.1", "10.7.0.2") == pytest.approx(1, rel=0.05), found["arrived"]
    assert {row["user"] for row in hosts["shown"]["top"]} - {"newcomers"} == {"10.7.0.1", "10.7.0.2"}


def test_statistics_of_users_add_up():
    (found,) = measured("served", turn("user src"))
    shown = found["shown"]
    for name in ("bytes", "packets"):
        assert sum(row[name] for row in shown["top"]) == shown[name], (name, shown)
    dropped = sum(row["drops"] for row in shown["top"])
    # Whose slot was taken anew since is forgotten: here nobody's.
    assert dropped == shown["drops"] == shown["early"] + shown["pushed_out"], shown
    assert sum(row["backlog"] for row in shown["top"]) == shown["backlog"], shown
    assert sum(row["packets"] for row in shown["waits"]) == shown["packets"], shown
    assert shown["table_used"] == 2 and shown["table_users"] == 1024
    for row in shown["waits"]:
        assert row["from_us"] < row.get("below_us", math.inf)
    by_name = {row["user"]: row for row in shown["top"]}
    # Ten flows beside one, of the same share: all of them wait.
    assert by_name[A]["flows"] > by_name[B]["flows"] == 1, by_name
    assert by_name[A]["wait_p50_us"] > 1000 and by_name[A]["wait_p95_us"] > by_name[A]["wait_p50_us"]


def test_a_filter_says_who_a_user_is():
    """Both hosts are of one class and share what another one gets; a packet that no filter takes is of class 0."""
    filters = [
        f"protocol ip prio 1 u32 match ip src {A}/32 flowid 10:5",
        f"protocol ip prio 2 u32 match ip src {B}/32 flowid 10:6",
    ]
    apart, together = measured(
        "served",
        turn("user class", filters=filters),
        turn("user class", filters=[filter.replace("10:6", "10:5") for filter in filters]),
    )
    assert shares(apart) == pytest.approx(1, rel=0.05), apart["arrived"]
    assert {row["user"] for row in apart["shown"]["top"]} - {"newcomers"} == {"class 5", "class 6"}
    assert shares(together) > 3
    assert {row["user"] for row in together["shown"]["top"]} - {"newcomers"} == {"class 5"}


def test_a_bpf_program_says_who_a_user_is():
    """Of classic BPF: the sender's address behind Ethernet's header."""
    program = "4,32 0 0 26,21 0 1 {},6 0 0 4294967295,6 0 0 0"
    filters = [
        f"protocol ip prio {number} bpf bytecode '{program.format(10 << 24 | number)}' flowid 10:{number}"
        for number in (1, 2)
    ]
    (found,) = measured("served", turn("user class", filters=filters))
    assert shares(found) == pytest.approx(1, rel=0.05), found["arrived"]
    assert {row["user"] for row in found["shown"]["top"]} - {"newcomers"} == {"class 1", "class 2"}


def test_a_filter_that_drops_is_obeyed():
    (found,) = measured("served", turn("user src", filters=[f"protocol ip u32 match ip src {A}/32 action drop"]))
    assert set(found["arrived"]) == {B}
    assert found["shown"]["drops"] >= 60 * 40, found["shown"]


def test_weights_by_dscp():
    (found,) = measured("served", turn("user src weights dscp dscp EF=3,CS1=1", dscp_a=46, dscp_b=8))
    assert shares(found) == pytest.approx(3, rel=0.05), found["arrived"]


def test_below_mq_who_has_flows_in_several_queues_has_a_share_in_each():
    """What docs/kernel/index.md says of it: tags are not shared by the queues of a device."""
    sources = {A: 48, B: 1}
    case = {"options": "bandwidth 1mbit user src", "sources": sources, "burst": 240, "rounds": 60, "seconds": 0.1}
    (found,) = measured("queues", case)
    assert min(found["sent"]) > 0.5 * max(found["sent"]), "flows are in all four queues"
    # Three queues alone and a half of the fourth.
    assert shares(found) == pytest.approx(7, rel=0.15), found


def test_memory_has_a_bound():
    (found,) = measured("memory", {"first": "4mb", "then": "1mb", "packets": 4000})
    for name, most in (("first", 4 << 20), ("then", 1 << 20)):
        shown = found[name]
        assert 0.9 * most < shown["memory_used"] <= most, shown
        assert shown["drops"] == shown["pushed_out"], shown
        assert shown["packets"] + shown["drops"] + shown["qlen"] == 4000, shown
    assert found["last"]["memory_used"] == found["last"]["qlen"] == found["last"]["backlog"] == 0


def test_memory_of_packets_that_are_forwarded_and_marked_is_given_back():
    (found,) = measured("forwarded", {"options": "bandwidth 1mbit", "packets": 500, "gap_s": 0.001, "seconds": 10})
    waiting, through = found["waiting"], found["through"]
    assert waiting["qlen"] > 100 and waiting["memory_used"] > 1000 * waiting["qlen"], waiting
    assert through["packets"] + through["drops"] >= 500 and through["marked"] > 5, through
    assert through["qlen"] == through["backlog"] == through["memory_used"] == 0, through


def test_hosts_behind_address_translation_are_users_of_their_own():
    translate = ["iptables -t nat -A POSTROUTING -o dut -j MASQUERADE"]
    (found,) = measured("translated", {"translate": translate})
    others = {"newcomers", "other"}  # ARP has no host
    assert set(found["nonat"]) - others == {"10.9.0.1"}
    assert set(found["nat"]) - others == {"192.168.1.2", "192.168.2.2"}
