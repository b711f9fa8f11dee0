"""The files of LibreQoS: what is read, what is told, what is refused."""

import csv
import json

import pytest

from mayfly.errors import MayflyError
from mayfly.trees.network_file import COLUMNS, read_provider

NODES = {
    "Site_1": {
        "downloadBandwidthMbps": 1000,
        "uploadBandwidthMbps": 500,
        "type": "site",
        "children": {
            "AP_A": {"downloadBandwidthMbps": 500, "uploadBandwidthMbps": 100.5},
            "Group": {
                "downloadBandwidthMbps": 1,
                "uploadBandwidthMbps": 1,
                "virtual": True,
                "children": {"AP_9": {"downloadBandwidthMbps": 120, "uploadBandwidthMbps": 120}},
            },
        },
    }
}


def device(key, parent, ipv4="", ipv6="", down=(1, 50), up=(0.5, 10), name=None):
    return [key, name or f"circuit {key}", parent, ipv4, ipv6, down[0], up[0], down[1], up[1]]


def written(folder, devices, nodes=NODES, heads=COLUMNS):
    path, other = folder / "network.json", folder / "ShapedDevices.csv"
    path.write_text(nodes if isinstance(nodes, str) else json.dumps(nodes), encoding="utf-8")
    with other.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(heads)
        rows.writerows(devices)
    return path, other


def test_nodes_and_circuits_become_a_tree(tmp_path):
    devices = [
        device(1, "AP_A", "100.64.0.1, 100.64.0.2", "2001:db8:1::/56"),
        device(2, "AP_9", "100.64.0.3"),
        device(2, "AP_9", "100.64.1.0/24"),
        device(3, "Group", "100.64.0.4"),
        device(4, "none", "100.64.1.7"),
        device(5, "AP_9", "100.64.0.5", name="circuit 2"),
    ]
    found = read_provider(*written(tmp_path, devices))
    nodes = {node.name: node for node in found.tree.node}
    assert list(nodes) == ["Site_1", "AP_A", "AP_9"]
    assert nodes["AP_9"].parent == "Site_1"  # what is between shapes nothing
    assert nodes["AP_A"].shares(reverse=True) == (100_500_000, 100_500_000)
    circuits = {circuit.name: circuit for circuit in found.tree.circuit}
    assert [circuit.parent for circuit in circuits.values()] == ["AP_A", "AP_9", "Site_1", None, "AP_9"]
    assert circuits["circuit 1"].shares(False) == (1_000_000, 50_000_000)
    assert circuits["circuit 1"].shares(True) == (500_000, 10_000_000)
    assert "circuit 2 (5)" in circuits
    owner = {host: found.circuit_of(host) for host in ("100.64.0.2", "100.64.1.9", "100.64.1.7", "2001:db8:1:9::1")}
    # The longest prefix has an address.
    assert list(owner.values()) == ["circuit 1", "circuit 2", "circuit 4", "circuit 1"]
    assert found.circuit_of("192.0.2.1") is None and found.circuit_of("2001:db8:2::1") is None
    assert found.notes == []


def test_what_is_not_used_is_told(tmp_path):
    nodes = {"A": {"downloadBandwidthMbps": 10, "uploadBandwidthMbps": 10, "lat": 1, "long": 2, "id": "x"}}
    found = read_provider(*written(tmp_path, [device(1, "A")], nodes))
    assert found.notes == [
        "keys of network.json that are not used: lat, long",
        "1 devices have no address, and no traffic",
    ]


def test_comments_a_byte_order_mark_and_more_columns_are_taken(tmp_path):
    nodes, devices = written(tmp_path, [[*device(1, "AP_A", "10.0.0.1"), "a comment"]], heads=[*COLUMNS, "Comment"])
    devices.write_text("\ufeff# a comment, of somebody\n" + devices.read_text(encoding="utf-8"), encoding="utf-8")
    assert len(read_provider(nodes, devices).tree.circuit) == 1


def test_heads_of_libreqos_1_2_have_no_unit(tmp_path):
    devices = [device(1, "AP_A", "100.64.0.1")]
    found = read_provider(*written(tmp_path, devices))
    other = tmp_path / "other"
    other.mkdir()
    heads = [column.removesuffix(" Mbps") for column in COLUMNS]
    assert read_provider(*written(other, devices, heads=heads)).tree == found.tree
    # Where both are there, the one with its unit counts.
    both = [*COLUMNS, "Download Max"]
    assert read_provider(*written(other, [[*devices[0], 7]], heads=both)).tree == found.tree


def test_commas_behind_the_last_cell_are_nothing(tmp_path):
    found = read_provider(*written(tmp_path, [[*device(1, "AP_A", "100.64.0.1"), "", ""]]))
    assert [circuit.name for circuit in found.tree.circuit] == ["circuit 1"]


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        ([device(1, "AP_A")[:-2]], "line 2: 7 cells, the header has 9: must be as many"),
        ([device(1, "AP_A"), [*device(2, "AP_A"), "more"]], "line 3: 10 cells, the header has 9: must be as many"),
        ([], "ShapedDevices.csv: no list of devices: it has none"),
        ([device(1, "AP_B")], "line 2: Parent Node = 'AP_B': must be a node of the network file; did you mean AP_A?"),
        ([["", "", "AP_A", "", "", 1, 1, 2, 2]], "line 2: must have a Circuit ID"),
        ([device(1, "AP_A", "10.0.0.300")], "line 2: IPv4 = '10.0.0.300': must be an address or a network of IPv4"),
        ([device(1, "AP_A", "0.0.0.0/0")], "with a prefix of at least 8 bits"),
        ([device(1, "AP_A", "", "10.0.0.1")], "line 2: IPv6 = '10.0.0.1': must be an address or a network of IPv6"),
        ([device(1, "AP_A", down=(60, 50))], "line 2: Download Min Mbps = 60: must be at most Download Max Mbps"),
        ([device(1, "AP_A", down=("", 50))], "line 2: Download Min Mbps = absent: must be Mbit/s from 0.001 to 400000"),
        ([device(1, "AP_A", up=(1, "fast"))], "line 2: Upload Max Mbps = fast: must be Mbit/s from 0.001 to 400000"),
        ([device(1, "AP_A", up=(1, "nan"))], "line 2: Upload Max Mbps = nan: must be Mbit/s"),
        (
            [device(1, "AP_A", "10.0.0.1"), device(2, "AP_A", "10.0.0.1")],
            "line 3: 10.0.0.1/32 is an address of circuit circuit 1 already",
        ),
    ],
)
def test_bad_devices_are_refused_in_one_line(tmp_path, devices, message):
    with pytest.raises(MayflyError) as refused:
        read_provider(*written(tmp_path, devices))
    assert message in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("{", "network.json: no network file: "),
        ("[]", "must be an object of nodes by name"),
        ("[" * 100_000, "network.json: no network file: "),
        ('{"A": 3}', "node A: must be an object with downloadBandwidthMbps and uploadBandwidthMbps"),
        ('{"A": {"downloadBandwidthMbps": 10}}', "node A: uploadBandwidthMbps = absent: must be Mbit/s"),
        ('{"A": {"downloadBandwidthMbps": true, "uploadBandwidthMbps": 1}}', "downloadBandwidthMbps = True"),
        ('{"A": {"downloadBandwidthMbps": 1, "uploadBandwidthMbps": 1, "children": 3}}', "children: must be an object"),
        ('{"A": {"virtual": true}, "A": {"virtual": true}}', "A is there twice in one object"),
        (
            '{"A": {"virtual": true, "children": {"A": {"downloadBandwidthMbps": 1, "uploadBandwidthMbps": 1}}}}',
            "node A is there twice",
        ),
    ],
)
def test_bad_nodes_are_refused_in_one_line(tmp_path, nodes, message):
    with pytest.raises(MayflyError) as refused:
        read_provider(*written(tmp_path, [device(1, "none")], nodes))
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_more_than_seven_nodes_in_each_other_are_refused(tmp_path):
    nodes = {}
    for at in reversed(range(8)):
        nodes = {f"n{at}": {"downloadBandwidthMbps": 10, "uploadBandwidthMbps": 10, "children": nodes}}
    with pytest.raises(MayflyError, match="node n7 is in 7 others: must be in at most 6"):
        read_provider(*written(tmp_path, [device(1, "n7")], nodes))


def test_a_missing_column_names_the_nearest(tmp_path):
    heads = ["Parent node" if head == "Parent Node" else head for head in COLUMNS]
    with pytest.raises(MayflyError, match="no column 'Parent Node'; did you mean Parent node"):
        read_provider(*written(tmp_path, [device(1, "AP_A")], heads=heads))
