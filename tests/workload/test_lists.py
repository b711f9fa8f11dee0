import gzip
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from mayfly.errors import MayflyError
from mayfly.workload.lists import COLUMNS, ENDLESS_BYTES, ORDER, flow_list, read_flows, write_flows

NS2 = Path(__file__).resolve().parents[3] / "shared" / "reference" / "ns2"
TYPES = dict.fromkeys(("src", "dst", "direction", "protocol", "opened_by", "group"), pl.String) | {
    name: COLUMNS[name].dtype for name in ORDER if hasattr(COLUMNS[name], "dtype")
}


@pytest.fixture
def written(tmp_path):
    """Return a function that stores content as a file and returns its path."""

    def write(content, name="flows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path, **options):
    with pytest.raises(MayflyError) as caught:
        read_flows(path, **options)
    message = str(caught.value)
    assert message.isprintable(), message
    return message


def assert_valid(flows):
    """Every promise of ``flow_list`` about its result."""
    assert flows.columns == list(ORDER)
    for name, dtype in flows.schema.items():
        assert dtype == TYPES[name] or (name in ("src", "dst") and dtype == pl.Int64)
    assert flows.schema["src"] == flows.schema["dst"]
    assert flows.height > 0
    required = flows.select(pl.exclude("rtt_s", "packet_bytes", "rate_bps", "group", "stage", "after"))
    assert sum(required.null_count().row(0)) == 0
    assert flows["start_s"].is_between(0, 1e9).all()
    assert flows["size_bytes"].is_between(1, ENDLESS_BYTES).all()
    assert flows["flow_id"].n_unique() == flows.height
    assert flows.select("start_s", "flow_id").rows() == sorted(flows.select("start_s", "flow_id").rows())
    assert set(flows["direction"]) <= {"down", "up"}
    assert set(flows["protocol"]) <= {"tcp", "udp"}
    assert set(flows["opened_by"]) <= {"sender", "receiver"}
    assert flows.filter(protocol="udp")["rate_bps"].is_between(1, 1e12).all()
    assert flows.filter(protocol="udp")["rate_bps"].null_count() == 0


def test_defaults_are_filled_in_and_rows_sorted_by_start_then_identity(written):
    flows = read_flows(written("flow_id,start_s,size_packets\n9,1.5,1\n7,1.5,2\n3,2,3\n8,0,4\n"))
    assert_valid(flows)
    assert flows["flow_id"].to_list() == [8, 7, 9, 3]
    assert flows["size_bytes"].to_list() == [5840, 2920, 1460, 4380]
    assert flows.select("src", "dst", "direction", "protocol", "opened_by").unique().rows() == [
        (1, 2, "down", "tcp", "sender")
    ]
    assert flows.select("rtt_s", "packet_bytes", "rate_bps").null_count().row(0) == (4, 4, 4)


def test_equal_starts_are_sorted_by_identity(written):
    flows = read_flows(written("flow_id,start_s,size_bytes\n9,1,10\n7,1,20\n8,2,30\n"))
    assert flows.select("flow_id", "size_bytes").rows() == [(7, 20), (9, 10), (8, 30)]


def test_a_row_is_its_own_identity_when_none_is_given(written):
    flows = read_flows(written("start_s,size_bytes\n3,10\n1,20\n2,30\n"))
    assert flows["flow_id"].to_list() == [1, 2, 0]


def test_every_column_is_read(written):
    text = (
        "flow_id,start_s,src,dst,direction,protocol,size_bytes,rtt_s,opened_by,packet_bytes,rate_bps,group,"
        "stage,after\n"
        "1,0.5,web-1,10.0.0.7,up,tcp,1000,0.03,receiver,,,,4,\n"
        "2,0.75,5,6,,udp,99999,,,1000,64e3, bulk users,,4\n"
    )
    assert read_flows(written(text)).rows() == [
        (1, 0.5, "web-1", "10.0.0.7", "up", "tcp", 1000, 0.03, "receiver", None, None, None, 4, None),
        (2, 0.75, "5", "6", "down", "udp", 99999, None, "sender", 1000, 64e3, "bulk users", None, 4),
    ]


@pytest.mark.parametrize(
    ("src", "dst", "expected"),
    [
        ("3", "8", (3, 8)),
        ("3", "lab", ("3", "lab")),
        ("007", "7", ("007", "7")),
        ("", "", (1, 2)),
        ("", "lab", ("1", "lab")),
        ("-4", "0", (-4, 0)),
    ],
)
def test_end_points_are_numbers_only_when_all_are(written, src, dst, expected):
    flows = read_flows(written(f"start_s,size_bytes,src,dst\n0,1,{src},{dst}\n"))
    assert flows.select("src", "dst").row(0) == expected


@pytest.mark.parametrize(
    "text",
    [
        "start_s,size_bytes\r\n0.5,1000\r\n",
        "\ufeffstart_s,size_bytes\n0.5,1000\n",
        "start_s, size_bytes\n0.5, 1000\n",
        "start_s,size_bytes\n0.5,1000.0\n",
        'size_bytes,start_s\n"1e3","0.5"',
        "start_s,size_bytes,size_packets\n0.5,1000,1\n",
        "start_s,size_bytes,size_packets\n0.5,1000,\n",
    ],
)
def test_harmless_spellings_are_read(written, text):
    assert read_flows(written(text)).select("start_s", "size_bytes").rows() == [(0.5, 1000)]


def test_compression_and_format_are_told_by_content(written, tmp_path):
    text = "start_s,size_bytes\n0.5,1000\n"
    plain = read_flows(written(text))
    assert_frame_equal(read_flows(written(gzip.compress(text.encode()), "flows.dat")), plain)
    plain.write_parquet(tmp_path / "oddly.csv")
    assert_frame_equal(read_flows(tmp_path / "oddly.csv"), plain)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"start_s": "abc"}, "start_s = abc: must be a number from 0 to 1000000000 s"),
        ({"start_s": "nan"}, "start_s = nan: must be a number from 0"),
        ({"start_s": "inf"}, "start_s = inf: must be a number from 0"),
        ({"start_s": "-0.001"}, "start_s = -0.001: must be a number from 0"),
        ({"start_s": "1700000000.5"}, "start_s = 1700000000.5: must be a number from 0 to 1000000000 s"),
        ({"start_s": ""}, "start_s is missing: must be a number from 0"),
        ({"size_bytes": "nan"}, "size_bytes = nan: must be a whole number from 1 to 1099511627776 bytes"),
        ({"size_bytes": "0"}, "size_bytes = 0: must be"),
        ({"size_bytes": "-5"}, "size_bytes = -5: must be"),
        ({"size_bytes": "1.5"}, "size_bytes = 1.5: must be a whole number"),
        ({"size_bytes": "1099511627777"}, "size_bytes = 1099511627777: must be"),
        ({"size_bytes": "9" * 30}, f"size_bytes = {'9' * 30}: must be"),
        ({"size_bytes": "9" * 500}, "999...: must be"),
        ({"size_bytes": ""}, "size_bytes is missing: must be"),
        ({"size_packets": "70"}, "size_packets = 70: must be size_bytes over the MSS of 1460 bytes, rounded up"),
        ({"size_bytes": "", "size_packets": "753090157"}, "must be at most 753090156 packets of 1460 bytes"),
        ({"flow_id": "1"}, "flow_id = 1: must be unique"),
        ({"flow_id": ""}, "flow_id is missing"),
        ({"flow_id": "x"}, "flow_id = x: must be a whole number"),
        ({"direction": "sideways"}, "direction = sideways: must be down or up"),
        ({"protocol": "TCP"}, "protocol = TCP: must be tcp or udp"),
        ({"protocol": "quic"}, "protocol = quic: must be tcp or udp"),
        ({"opened_by": "both"}, "opened_by = both: must be sender or receiver"),
        ({"protocol": "udp"}, "rate_bps is missing: a udp flow must have one"),
        ({"protocol": "udp", "rate_bps": "0"}, "rate_bps = 0.0: must be a number from 1 to 1000000000000 bit/s"),
        ({"rate_bps": "1e6"}, "rate_bps = 1000000.0: must be empty unless protocol is udp"),
        ({"packet_bytes": "1000"}, "packet_bytes = 1000: must be empty unless protocol is udp"),
        (
            {"protocol": "udp", "rate_bps": "8", "packet_bytes": "28"},
            "packet_bytes = 28: must be a whole number from 29",
        ),
        ({"rtt_s": "0"}, "rtt_s = 0.0: must be a number from"),
        ({"rtt_s": "-1"}, "rtt_s = -1.0: must be a number from"),
        ({"src": "a\tb"}, "src = a\\tb: must be a whole number or a name of 1 to 255 printable characters"),
        ({"dst": "x" * 256}, "must be a whole number or a name of 1 to 255 printable characters"),
        ({"group": "a\tb"}, "group = a\\tb: must be a name of 1 to 255 printable characters"),
        ({"group": "x" * 256}, "must be a name of 1 to 255 printable characters"),
    ],
)
def test_a_bad_value_is_refused_with_row_value_and_bound(written, row, told):
    good = {"flow_id": "1", "start_s": "0", "size_bytes": "1000"}
    bad = good | {"flow_id": "2"} | row
    names = list(bad)
    lines = [",".join(names), ",".join(good.get(name, "") for name in names), ",".join(bad.values())]
    path = written("\n".join(lines) + "\n")
    message = refusal(path)
    assert message.startswith(f"{path}: row 2: "), message
    assert told in message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "empty"),
        (b"start_s,size_bytes\n", "no flows after the header"),
        (b"start_s\n1\n", "column size_bytes is missing, and so is size_packets"),
        (b"size_bytes\n1\n", "column start_s is missing"),
        (b"start_s,size_byte\n1,1\n", "column size_byte is unknown: did you mean size_bytes?"),
        (b"start_s,size_bytes,qqq\n1,1,1\n", "column qqq is unknown: known are flow_id, start_s"),
        (b"start_s,size_bytes,start_s\n1,1,1\n", "column start_s appears twice"),
        (b"start_s;size_bytes\n1;1\n", "column start_s;size_bytes is unknown"),
        (b"start_s,size_bytes\n1,1,1\n", "cannot be read"),
        (b"start_s,size_bytes\n1\n", "row 1: size_bytes is missing"),
        (bytes(range(256)) * 4, ""),
        (b"\x1f\x8b\x08\x00junk", "cannot be read"),
        (gzip.compress(b"start_s,size_bytes\n" + b"1,1\n" * 9999, mtime=0)[:60], "cannot be read"),
        (b"PAR1 and nothing else", "cannot be read"),
        (b"start_s,size_bytes,src\n1,1,\xff\xfe\n", "cannot be read"),
    ],
)
def test_a_file_that_is_no_flow_list_is_refused(written, content, told):
    path = written(content)
    message = refusal(path)
    assert message.startswith(f"{path}: ")
    assert told in message


def test_a_place_that_is_no_file_is_refused(tmp_path):
    assert refusal(tmp_path).endswith(": not a regular file")
    assert refusal(tmp_path / "absent.csv").endswith("absent.csv: no such file")
    assert refusal("http://localhost/flows.csv").endswith("no such file")
    assert refusal("a\0b").startswith("a\\x00b: ")
    assert refusal("x" * 5000).startswith("x" * 77 + "...: cannot be read: ")


def test_a_pattern_in_a_name_is_a_name(written):
    path = written("start_s,size_bytes\n0,1\n", "flows*[1].csv")
    assert read_flows(path).height == 1


@pytest.mark.parametrize("mss", [0, -1, 65536, math.nan])
def test_the_mss_is_bounded(written, mss):
    assert "must be a whole number from 1 to 65535" in refusal(written("start_s,size_packets\n0,1\n"), mss=mss)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"start_s": [[1.0]], "size_bytes": [1]}, "column start_s is of type List(Float64)"),
        ({"start_s": [True], "size_bytes": [1]}, "column start_s is of type Boolean"),
        ({"start_s": [math.nan], "size_bytes": [1]}, "start_s = nan: must be"),
        ({"start_s": [1.0], "size_bytes": [1.5]}, "size_bytes = 1.5: must be a whole number"),
        ({"start_s": [1.0], "size_bytes": [math.inf]}, "size_bytes = inf: must be a whole number"),
        ({"start_s": [1.0], "size_bytes": [None]}, "row 1: size_bytes is missing"),
        ({"start_s": [1.0], "size_bytes": [1], "src": [1.5]}, "column src is of type Float64"),
        ({"start_s": [1.0], "size_bytes": [1], "direction": [1]}, "column direction is of type Int64"),
        ({"start_s": [1.0], "size_bytes": [1], "group": [1]}, "column group is of type Int64: must be a name"),
    ],
)
def test_wrong_types_in_parquet_are_refused(tmp_path, columns, told):
    path = tmp_path / "flows.parquet"
    pl.DataFrame(columns).write_parquet(path)
    assert told in refusal(path)


def test_other_numeric_types_and_categories_are_taken():
    frame = pl.DataFrame(
        {
            "start_s": pl.Series([1, 2], dtype=pl.UInt8),
            "size_bytes": pl.Series([5.0, 6.0], dtype=pl.Float32),
            "protocol": pl.Series(["tcp", None], dtype=pl.Categorical),
            "src": pl.Series([4, None], dtype=pl.Int32),
            "rtt_s": pl.Series([None, None], dtype=pl.Null),
        }
    )
    flows = flow_list(frame)
    assert_valid(flows)
    assert flows.select("start_s", "size_bytes", "protocol", "src").rows() == [(1.0, 5, "tcp", 4), (2.0, 6, "tcp", 1)]
    assert frame.columns == ["start_s", "size_bytes", "protocol", "src", "rtt_s"]


flow_rows = st.lists(
    st.fixed_dictionaries(
        {
            "start_s": st.floats(0, 1e9),
            "src": st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8),
            "direction": st.sampled_from([None, "down", "up"]),
            "size_bytes": st.integers(1, ENDLESS_BYTES),
            "rtt_s": st.none() | st.floats(1e-9, 60),
            "group": st.none() | st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8),
        }
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=flow_rows, ending=st.sampled_from([".csv", ".csv.gz", ".parquet"]))
def test_what_is_written_reads_back_equal(tmp_path, rows, ending):
    flows = flow_list(pl.DataFrame(rows, infer_schema_length=None))
    assert_valid(flows)
    write_flows(flows, tmp_path / f"flows{ending}")
    assert_frame_equal(read_flows(tmp_path / f"flows{ending}"), flows, check_exact=True)
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_a_list_that_cannot_be_written_is_refused(tmp_path):
    flows = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1]}))
    with pytest.raises(MayflyError, match=r"flows.xlsx: the name must end in .csv.gz or .csv or .parquet"):
        write_flows(flows, tmp_path / "flows.xlsx")
    with pytest.raises(MayflyError, match=r"flows.csv: cannot be written"):
        write_flows(flows, tmp_path / "absent" / "flows.csv")


cells = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "1.5",
        "1e400",
        "nan",
        "-inf",
        "",
        " ",
        '"',
        '""',
        "udp",
        "tcp",
        "up",
        "\0",
        "é",
        "9" * 20,
        "receiver",
    ]
) | st.text(max_size=5)
damaged = st.binary().map(lambda junk: b"PAR1" + junk)
tables = st.builds(
    lambda names, rows, end: (end.join([",".join(names), *(",".join(row) for row in rows)])).encode("utf-8", "replace"),
    st.lists(st.sampled_from([*COLUMNS, "", " start_s", "x"]), min_size=1, max_size=6).map(
        lambda names: ["start_s", "size_bytes", *names]
    ),
    st.lists(st.lists(cells, min_size=1, max_size=8), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=300)
    | tables
    | tables.map(lambda table: gzip.compress(table, mtime=0))
    | st.binary().map(lambda junk: b"PAR1" + junk)
)
def test_any_bytes_are_a_valid_list_or_one_clear_line(tmp_path, content):
    path = tmp_path / "any"
    path.write_bytes(content)
    try:
        flows = read_flows(path)
    except MayflyError as error:
        assert str(error).isprintable()
        assert len(str(error)) - len(str(path)) < 400
    else:
        assert_valid(flows)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 4000), junk=st.binary(min_size=1, max_size=8))
def test_a_damaged_parquet_file_is_a_valid_list_or_one_clear_line(tmp_path, at, junk):
    path = tmp_path / "any.parquet"
    flow_list(pl.DataFrame({"start_s": [0.0, 1.0], "size_bytes": [1, 2]})).write_parquet(path)
    content = bytearray(path.read_bytes())
    at %= len(content)
    content[at : at + len(junk)] = junk
    path.write_bytes(content)
    try:
        flows = read_flows(path)
    except MayflyError as error:
        assert str(error).isprintable()
    else:
        assert_valid(flows)


@pytest.mark.skipif(not NS2.is_dir(), reason="the reference data of ../shared are not beside this checkout")
def test_the_reference_list_of_ns2_is_read():
    flows = read_flows(NS2 / "flows_B_8M.csv.gz")
    assert_valid(flows)
    assert flows.height == 16501
    assert flows.row(0)[:8] == (0, 0.044367, 3, 8, "down", "tcp", 19 * 1460, None)
    # 8 Mb/s nominal; the list was drawn within 1 % of it.
    assert flows["size_bytes"].sum() / 1460 * 1500 * 8 / 1000 == pytest.approx(8e6, rel=0.01)


def test_first_letters_stand_for_the_words_of_a_choice():
    flows = flow_list(
        pl.DataFrame(
            {
                "start_s": [0.0, 1.0, 2.0, 3.0],
                "size_bytes": [1] * 4,
                "direction": ["d", "u", None, " up"],
                "opened_by": ["s", "receiver", None, "r"],
            }
        )
    )
    assert flows["direction"].to_list() == ["down", "up", "down", "up"]
    assert flows["opened_by"].to_list() == ["sender", "receiver", "sender", "receiver"]
