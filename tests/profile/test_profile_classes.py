"""Sides, roles and classes on tables written by hand, with exact answers."""

import pytest
from rows import SILENT, connections, frame, row

from mayfly.errors import MayflyError
from mayfly.profile.answer import profile
from mayfly.profile.classes import CLASSES, MEASURES, classified, composition, directions
from mayfly.profile.hosts import read_hosts
from mayfly.workload.sides import sides_of

ROLES = {"10.0.0.1": "client", "10.0.0.2": "client", "10.0.0.8": "server", "10.0.0.9": "server"}
AWAY = "198.51.100.7"

ROWS = [
    row("10.0.0.1", AWAY, up={"wire_bytes": 100, "packets": 2}, down={"wire_bytes": 900, "packets": 3}),
    row(AWAY, "10.0.0.9", up={"wire_bytes": 10, "packets": 1}, down={"wire_bytes": 20, "packets": 1}),
    row("10.0.0.1", "10.0.0.8", up={"wire_bytes": 7, "packets": 4}, down={"wire_bytes": 11, "packets": 5}),
    # A server that asks a client: the client's bytes are still the upload.
    row("10.0.0.8", "10.0.0.2", up={"wire_bytes": 13, "packets": 1}, down={"wire_bytes": 17, "packets": 2}),
    row("10.0.0.8", "10.0.0.9", up={"wire_bytes": 500, "packets": 6}, down={"wire_bytes": 1, "packets": 7}),
    row("10.0.0.1", "10.0.0.2"),
    row("10.0.0.77", "10.0.0.1"),
    row("10.0.0.77", AWAY),
    row(AWAY, "203.0.113.5"),
    row("10.0.0.1", "224.0.0.251", protocol="udp", state="one_way", down=SILENT),
    # Refused: in its class, but in no direction.
    row("10.0.0.1", AWAY, state="rejected", up={"wire_bytes": 40, "packets": 1}, down={"wire_bytes": 40, "packets": 1}),
]


def made():
    table = frame(ROWS)
    sides = sides_of(table, ["10.0.0.0/8"])
    return classified(table, sides, ROLES), sides


def test_each_connection_has_the_class_of_its_ends():
    table, _ = made()
    assert table["class"].to_list() == ["lc-rp", "ls-rp", "lc-ls", "lc-ls", "ls-ls"] + 5 * ["other"] + ["lc-rp"]
    assert table["reason"].to_list()[5:10] == [
        "two clients",
        "role unknown",
        "role unknown",
        "two remote hosts",
        "multicast, broadcast or unspecified",
    ]
    assert table["connection_id"].to_list() == list(range(11))


def test_classes_and_other_add_up_to_the_table():
    table, _ = made()
    rows = composition(table)
    assert {row["class"] for row in rows} == set(CLASSES)
    whole = {"connections": table.height, "bytes": table["bytes"].sum(), "packets": table["packets"].sum()}
    for measure in MEASURES:
        assert sum(row[measure] for row in rows) == whole[measure]
        assert sum(row[f"{measure}_share"] for row in rows) == pytest.approx(1, abs=1e-12)
    first = {row["class"]: row for row in rows if row["reason"] is None}
    assert [first["lc-rp"][name] for name in MEASURES] == [2, 1080, 7]
    assert [first["ls-ls"][name] for name in MEASURES] == [1, 501, 13]
    external = [row for row in rows if row["side"] == "external"]
    assert first["lc-rp"]["bytes_share_of_side"] == 1080 / sum(row["bytes"] for row in external)


def test_directions_are_those_of_the_site_and_of_the_client():
    found = directions(*made(), ROLES)
    assert {name: part["bytes"] for name, part in found["bytes"].items()} == {
        "external up": 100 + 20,
        "external down": 900 + 10,
        "internal up": 7 + 17,
        "internal down": 11 + 13,
        "internal servers": 501,
    }
    assert {name: part["packets"] for name, part in found["packets"].items()} == {
        "external up": 3,
        "external down": 4,
        "internal up": 6,
        "internal down": 6,
        "internal servers": 13,
    }
    assert found["left_out"]["immature"] == {"connections": 1, "bytes": 80, "packets": 2}
    assert found["left_out"]["other"]["connections"] == 5


def test_nothing_is_lost_between_classes_and_directions():
    table, sides = made()
    found = directions(table, sides, ROLES)
    for measure in ("bytes", "packets"):
        kept = sum(part[measure] for part in found[measure].values())
        left = sum(part[measure] for part in found["left_out"].values())
        assert kept + left == table[measure].sum()


def test_roles_by_balance_count_what_was_answered():
    rows = [row("10.0.0.1", "10.0.0.8"), row("10.0.0.1", "10.0.0.8"), row("10.0.0.8", "10.0.0.1")]
    # Asked often, answered never: no server.
    rows += [row("10.0.0.8", "10.0.0.3", state="half_open", down=SILENT) for _ in range(3)]
    rows += [row("10.0.0.3", "10.0.0.8"), row("10.0.0.8", "10.0.0.4", state="rejected")]
    table = frame([*rows, row("10.0.0.8", "10.0.0.5")])
    found = sides_of(table, ["10.0.0.0/8"]).roles
    # .8 opened 6 and answered 3.
    assert found == {"10.0.0.1": "client", "10.0.0.3": "client", "10.0.0.5": "server", "10.0.0.8": "client"}


class TestSides:
    def test_given(self):
        found = sides_of(frame(ROWS), ["198.51.100.0/24"])
        assert found.internal == {AWAY} and found.nobody == {"224.0.0.251"} and found.how == "given"

    def test_private_addresses_even_when_all_are(self):
        table = frame([row("10.0.0.1", "192.168.3.4")])
        assert sides_of(table).internal == {"10.0.0.1", "192.168.3.4"}
        assert sides_of(frame(ROWS)).external == {AWAY, "203.0.113.5"}

    def test_anonymised_site_in_two_subnets(self):
        """Prefixes kept: the site is the shortest network that holds both of its subnets."""
        rows = [row(f"131.7.{32 * (n % 2)}.{n}", f"{40 + n}.{n}.1.1") for n in range(40)]
        rows += [row(f"131.7.0.{2 * n}", f"131.7.32.{2 * n + 1}") for n in range(10)]
        found = sides_of(frame(rows))
        assert (found.how, found.networks) == ("network", ("131.7.0.0/18",))
        assert len(found.internal) == 40 and len(found.external) == 40

    def test_one_stray_connection_in_a_hundred_is_allowed_and_two_are_not(self):
        rows = [row(f"131.7.0.{n}", f"{40 + n % 60}.{n}.1.1") for n in range(99)]
        stray = row("200.1.1.1", "60.1.1.1")
        assert sides_of(frame([*rows, stray])).networks == ("131.7.0.0/24",)
        assert sides_of(frame([*rows[:98], stray, stray])).how == "openers"

    def test_ipv6(self):
        rows = [row(f"2001:db8:5:1::{n:x}", f"2a{n:02x}:1::1") for n in range(1, 30)]
        found = sides_of(frame(rows))
        assert found.networks == ("2001:db8:5:1::/64",) and len(found.internal) == 29

    def test_a_bad_network_is_refused(self):
        with pytest.raises(MayflyError, match=r"internal = '10\.0\.0\.0/33'"):
            sides_of(frame(ROWS), ["10.0.0.0/33"])


class TestHostsFile:
    def test_read(self, tmp_path):
        path = tmp_path / "hosts.csv"
        path.write_text("host,role,note\n10.0.0.1,client,\n 10.0.0.8 ,server,files\n10.0.0.9,,\n2001:DB8::1,server,\n")
        assert read_hosts(path) == {"10.0.0.1": "client", "10.0.0.8": "server", "2001:db8::1": "server"}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("host,rolle\n", "column role is missing"),
            ("host,role\n10.0.0.1,boss\n", "line 2: role = boss: must be server or client"),
            ("host,role\nserver,server\n", "line 2: host = server: must be an IP address"),
            ("host,role\n10.0.0.1,client\n10.0.0.1,server\n", "line 3: host = 10.0.0.1: is there twice"),
            ("", "cannot be read"),
        ],
    )
    def test_refused(self, tmp_path, text, said):
        path = tmp_path / "hosts.csv"
        path.write_text(text)
        with pytest.raises(MayflyError, match=said):
            read_hosts(path)

    def test_hosts_left_out_have_no_role(self):
        found = profile(connections(ROWS), internal=["10.0.0.0/8"], hosts={"10.0.0.1": "client"}, bootstrap=0)
        assert found.document()["site"] | {} == {
            "found_by": "given",
            "networks": ["10.0.0.0/8"],
            "roles_from": "hosts file",
            "server": 0,
            "client": 1,
            "unknown": 4,
        }
