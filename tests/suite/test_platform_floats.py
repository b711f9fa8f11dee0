"""No function of the platform's mathematics in the crates whose results are the same on every machine."""

import re
import tomllib
from pathlib import Path

import pytest
from rust_imports import code_of, modules

CRATES = Path(__file__).parents[2] / "crates"

INEXACT = re.compile(
    r"\.(a?(?:sin|cos|tan)h?|atan2|sin_cos|cbrt|exp|exp2|exp_m1|hypot|ln|ln_1p|log|log2|log10|powf|powi)\(|"
    r"\bf64::(?:a?(?:sin|cos|tan)h?|atan2|cbrt|exp\w*|hypot|ln\w*|log\w*|pow[fi])\b"
)
"""Functions that IEEE 754 does not round exactly, which ``libm`` has; `powi` may call one of the compiler's."""


def found(source):
    """Lines of a crate, without its tests, that call one."""
    return [
        f"{file.relative_to(CRATES)}: {line.strip()}"
        for file in modules(source).values()
        for line in code_of(file).splitlines()
        if INEXACT.search(line)
    ]


def of_the_page():
    """Crates of the page, by what their manifests name from ``web`` on."""
    names, left = set(), ["web"]
    while left:
        name = left.pop()
        names.add(name)
        manifest = tomllib.loads((CRATES / name / "Cargo.toml").read_text())
        left += [other for other in manifest["dependencies"] if (CRATES / other).is_dir() and other not in names]
    return sorted(names)


def test_the_page_is_made_of_these_crates():
    """Those that draw, simulate and measure are among them."""
    assert {"explore", "netsim", "qdisc", "metrics", "replay", "capture", "jobs", "units"} <= set(of_the_page())


@pytest.mark.parametrize("crate", sorted({*of_the_page(), "estimator", "tables"}))
def test_a_crate_has_none(crate):
    assert found(CRATES / crate / "src") == []


def test_one_is_found(tmp_path, monkeypatch):
    (tmp_path / "lib.rs").write_text("fn f(x: f64) -> f64 { x.ln() }\n#[cfg(test)]\nmod tests {\n    x.exp();\n}\n")
    monkeypatch.setattr(f"{__name__}.CRATES", tmp_path)
    assert found(tmp_path) == ["lib.rs: fn f(x: f64) -> f64 { x.ln() }"]
