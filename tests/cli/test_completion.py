"""Completion in the shells, each running its own script, and the man pages."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from invocation import PLAIN, mayfly, mayfly_here, refused_here

from mayfly.cli.man import pages, write

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def scripts():
    return {shell: mayfly_here("completion", shell).out for shell in SHELLS}


@pytest.fixture
def env(tmp_path):
    """An environment whose path has this mayfly first."""
    command = tmp_path / "bin" / "mayfly"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mayfly.cli "$@"\n')
    command.chmod(0o755)
    return PLAIN | {"PATH": f"{command.parent}:{PLAIN['PATH']}", "HOME": str(tmp_path), "TERM": "dumb"}


def in_bash(script, env, *words):
    """What bash has in COMPREPLY after Tab at the end of these words."""
    quoted = " ".join(f"'{word}'" for word in words)
    code = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n_mayfly_completion mayfly\n"
    code += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, env=env, timeout=60, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["mayfly", "wha"], ["whatif"]),
        (["mayfly", "compare", "wire"], ["wired", "wired-ns2"]),
        (["mayfly", "compare", "wired", "--disciplines", "fifo,fq_co"], ["fifo,fq_codel"]),
        (["mayfly", "whatif", "--buf"], ["--buffer"]),
        (["mayfly", "completion", "z"], ["zsh"]),
        (["mayfly", "model", "samp"], ["sampling"]),
    ],
)
def test_bash_completes(words, found, scripts, env):
    assert in_bash(scripts["bash"], env, *words) == found


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes(scripts, env):
    code = f"{scripts['fish']}\ncomplete --do-complete 'mayfly compare wire'"
    done = subprocess.run(["fish", "-c", code], capture_output=True, text=True, env=env, timeout=60, check=True)
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} >= {"wired", "wired-ns2"}


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_is_told_what_to_offer(scripts, env):
    # Without a terminal zsh has no completion to run: the function that it would call is run with its words.
    code = "compdef() { :; }; _arguments() { print -r -- $@; }; _describe() { print -r -- $@; }\n" + scripts["zsh"]
    code += "\nwords=(mayfly compare wire); CURRENT=3; _mayfly_completion\n"
    done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True, env=env, timeout=60, check=True)
    assert "wired-ns2" in done.stdout


def test_an_unknown_shell_is_refused():
    assert "SHELL = bahs: did you mean bash?" in refused_here("completion", "bahs")
    assert "must be one of bash, zsh, fish" in refused_here("completion", "tcsh")


def test_mayfly_alone_says_what_to_do_first():
    ended = mayfly()
    assert ended.status == 0 and ended.err == ""
    first = ended.out.split("\n\n")
    assert "predicts what each queueing discipline would do" in first[0]
    commands = re.findall(r"^  mayfly (\w+) ", ended.out, re.MULTILINE)
    assert commands == ["whatif", "explore"]
    assert len(ended.out.splitlines()) < 25 and max(map(len, ended.out.splitlines())) <= 120
    listed = re.findall(r"^  (\w+)  +[A-Z]", ended.out, re.MULTILINE)
    assert {"whatif", "compare", "model", "profile", "completion"} <= set(listed)


def test_a_mistyped_scenario_is_answered_by_the_nearest():
    assert refused_here("compare", "wird").endswith("wird: no such file; did you mean wired?")
    assert "ready scenarios are attack, enterprise, " in refused_here("compare", "xyzzy")


def test_a_locale_without_the_characters_gets_plain_ones():
    ended = mayfly("disciplines", env={"PYTHONIOENCODING": "ascii"})
    assert ended.status == 0 and ended.out.isascii()
    assert "\\u" not in ended.out and "\\x" not in ended.out
    assert "-- plain --" in ended.out


def test_only_what_an_encoding_lacks_is_spelt():
    import mayfly.cli.process  # noqa: F401

    assert "Ørsted – 5 µs ± 1, é".encode("iso-8859-1", "mayfly").decode("iso-8859-1") == "Ørsted - 5 µs ± 1, é"
    assert "5 µs ± 1 → é 語".encode("ascii", "mayfly") == rb"5 us +- 1 -> e \u8a9e"


def test_every_sign_of_a_table_has_a_plain_spelling(tmp_path):
    ended = mayfly(
        "compare", "wired", "--duration", "3s", "--disciplines", "fifo,las", "--out", tmp_path / "out",
        env={"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert ended.status == 0 and ended.out.isascii() and "\\u" not in ended.out


def test_every_command_has_a_page_and_the_pages_point_at_pages():
    found = pages()
    root = found["mayfly.1"]
    listed = re.findall(r"^\.BR (\S+) \(1\)$", root, re.MULTILINE)
    assert {name.replace("\\-", "-") + ".1" for name in listed} <= set(found)
    for name, text in found.items():
        for other in re.findall(r"^\.BR (\S+) \(1\)$", text, re.MULTILINE):
            assert other.replace("\\-", "-") + ".1" in found, f"{name}: {other}"
    assert len(found) > 40


def test_a_page_has_every_option_of_its_help():
    text = pages()["mayfly-whatif.1"].replace("\\-", "-")
    shown = set(re.findall(r"--[a-z-]+", mayfly_here("whatif", "--help").out))
    assert len(shown) > 10 and shown <= set(re.findall(r"--[a-z-]+", text))


def test_the_date_of_a_reproducible_build_is_given(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert '"1970-01-02"' in pages()["mayfly.1"].splitlines()[0]


@pytest.mark.parametrize("tool", [["mandoc", "-Tlint", "-Wwarning"], ["groff", "-man", "-ww", "-Tutf8", "-z"]])
def test_the_pages_are_without_warnings(tool, tmp_path):
    if shutil.which(tool[0]) is None:
        pytest.skip(f"needs {tool[0]}")
    done = subprocess.run([*tool, *write(tmp_path / "man")], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list(Path(tmp_path / "man").iterdir())) == len(pages())
