"""What a Python user finds at the top of the package: functions, arguments and messages."""

import importlib
import inspect
import ipaddress
import pydoc
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest
from invocation import refused_here

import mayfly

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "captures" / "office.pcap.gz"
NEAR = "10.10.0.0/24"
HOMES = {
    "diff": ("mayfly.diff.answer", "diff"),
    "estimate": ("mayfly.estimate.estimate", "estimate"),
    "profile": ("mayfly.profile.answer", "profile"),
    "sweep": ("mayfly.sweep.command", "sweep_file"),
}
SWEEP = """scenario = "wired"
disciplines = ["fifo"]
[fields]
"network.buffer" = [10, 20]
[set]
duration = "1s"
"""


@pytest.mark.parametrize("name", HOMES)
def test_a_package_with_the_name_of_its_function_is_called_by_it(name):
    """Before: `mayfly.profile` was a module that nobody could call, and only where something had imported it."""
    module, function = HOMES[name]
    package = getattr(mayfly, name)
    assert inspect.ismodule(package) and name in dir(mayfly)
    assert inspect.signature(package) == inspect.signature(getattr(importlib.import_module(module), function))
    # Importing a part of it takes nothing away.
    assert getattr(mayfly, name) is package and callable(package)


@pytest.mark.parametrize("name", HOMES)
def test_help_of_such_a_package_is_that_of_its_function(name):
    """Before: `help(mayfly.profile)` showed the package, and no parameter."""
    module, function = HOMES[name]
    function = getattr(importlib.import_module(module), function)
    text = pydoc.plain(pydoc.render_doc(getattr(mayfly, name)))
    first, _, rest = inspect.getdoc(function).partition("\n")
    assert first in text and f"mayfly.{name}{inspect.signature(function)}" in text
    for line in rest.splitlines():
        assert line.strip() in text
    assert vars(getattr(mayfly, name))["__doc__"].partition("\n")[0] in text


def test_each_of_them_works(tmp_path):
    assert mayfly.profile(OFFICE, internal=NEAR, bootstrap=0).document()["site"]["networks"] == [NEAR]
    flows = pl.DataFrame({"start_s": [0.0, 0.1], "size_packets": [10, 20]})
    for side in ("one", "two"):
        mayfly.compare("wired", "fifo", flows).write(tmp_path / side)
    assert mayfly.diff(tmp_path / "one", tmp_path / "two").document()
    file = tmp_path / "small.toml"
    file.write_text(SWEEP)
    swept = mayfly.sweep(file, tmp_path / "swept", workers=1)
    assert {row["fields"]["network.buffer"] for row in swept.figures()} == {10, 20}
    assert (tmp_path / "swept" / "report.html").is_file()
    samples = importlib.import_module("mayfly.estimate.samples").read_samples(ROOT / "captures" / "red-queue.csv.gz")
    assert mayfly.estimate(samples, "28mbit", "100ms").columns


@pytest.mark.parametrize("near", [NEAR, ipaddress.ip_network(NEAR), [NEAR], (ipaddress.ip_network(NEAR),)])
def test_one_network_is_one_network(near):
    """Before: "10.10.0.0/24" was taken letter by letter: "internal = '1': must be a network"."""
    flows = mayfly.flows_of_capture(OFFICE, internal=near)
    assert flows.equals(mayfly.flows_of_capture(OFFICE, internal=[NEAR]))


def test_every_documented_parameter_exists():
    """Before: the docstring of `whatif` had `replications`, which was no parameter."""
    for name in mayfly.__all__:
        function = getattr(mayfly, name)
        function = getattr(function, "__wrapped__", function)
        if not inspect.isfunction(function):
            continue
        _, _, parameters = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
        head, _, _ = parameters.partition("\n\n")
        lines = [line for line in head.splitlines() if line and not line.startswith(" ")]
        named = {one.strip() for line in lines for one in line.partition(" : ")[0].split(",")}
        assert named == set(inspect.signature(function).parameters), name


def test_replications_of_a_whatif_are_an_argument():
    options = {"internal": NEAR, "disciplines": "fifo,fq_codel"}
    found = mayfly.whatif(OFFICE, "10mbit", 300, replications=1, **options).summary
    assert found["resampling"]["hours"] == 0
    same = mayfly.whatif(OFFICE, "10mbit", 300, overrides={"replications": 1}, **options).summary
    assert same["recommendation"] == found["recommendation"]


@pytest.mark.parametrize(
    ("arguments", "in_python", "in_a_command"),
    [
        ({"rate": "fast", "buffer": 300}, "rate = 'fast': must be", "--rate = 'fast': must be"),
        ({"rate": "10mbit", "buffer": "many"}, "buffer = 'many': must be", "--buffer = 'many': must be"),
        ({"rate": "10mbit", "buffer": 300, "load": "much"}, "load = 'much': must be", "--load = 'much': must be"),
        ({"rate": "10mbit", "buffer": 300, "rtt": "far"}, "rtt = 'far': must be", "--rtt = 'far': must be"),
        (
            {"rate": "10mbit", "buffer": 300, "overrides": {"netwrk.buffer": 3}},
            "overrides: netwrk.buffer: unknown",
            "--set netwrk.buffer: unknown",
        ),
    ],
)
def test_a_message_has_the_name_that_the_caller_wrote(arguments, in_python, in_a_command):
    with pytest.raises(mayfly.MayflyError) as refused:
        mayfly.whatif(OFFICE, **arguments)
    assert str(refused.value).startswith(in_python)
    options = []
    for name, value in arguments.items():
        options += ["--set", "netwrk.buffer=3"] if name == "overrides" else [f"--{name}", str(value)]
    assert in_a_command in refused_here("whatif", str(OFFICE), *options)
    # And after a command in this process as before it.
    with pytest.raises(mayfly.MayflyError) as refused:
        mayfly.whatif(OFFICE, **arguments)
    assert str(refused.value).startswith(in_python)


def test_the_package_runs_as_the_command():
    done = subprocess.run([sys.executable, "-m", "mayfly", "--version"], capture_output=True, text=True)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert done.returncode == 0 and version in done.stdout
