"""What is written once: nobody has a copy of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [*(ROOT / "python").rglob("*.py"), *(ROOT / "papers" / "src").rglob("*.py")]


@pytest.mark.parametrize(
    ("written", "home"),
    [
        (r"get_close_matches", "text/nearest.py"),
        (r"os\.replace\(|mkstemp|partial\.replace\(", "text/files.py"),
        (r"\bstdtrit\b", "metrics/intervals.py"),
        (r"HEADERS?_BYTES\s*=\s*28\b", "headers.py"),
        (r"^class Parameter\b", "laws/parameter.py"),
        (r"(pl|polars)\.(read|scan)_parquet", "text/parquet_process.py"),
        (r'b"PAR1"', "text/parquet.py"),
    ],
)
def test_it_is_written_in_one_file(written, home):
    found = [file for file in FILES if re.search(written, file.read_text(encoding="utf-8"), re.MULTILINE)]
    # A folder of results takes the place of another as a whole.
    found = [file for file in found if file.name != "folder.py"]
    assert [str(file.relative_to(ROOT / "python" / "mayfly")) for file in found] == [home]


def test_the_simulator_has_the_same_header():
    from mayfly.headers import UDP_HEADER_BYTES

    source = (ROOT / "crates" / "netsim" / "src" / "udp.rs").read_text(encoding="utf-8")
    assert f"const HEADER: u32 = {UDP_HEADER_BYTES};" in source
