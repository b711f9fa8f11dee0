"""Where and how a command prints."""

import sys

from mayfly.cli.session import Session

SENTENCE = (
    "with efd the median transfer finishes 1.4 times sooner than with fifo, report: " + "folder/" * 12 + "report.html"
)


def printed(capsys, monkeypatch, terminal: bool) -> list[str]:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    Session(as_json=False, quiet=True).print(SENTENCE)
    return capsys.readouterr().out.splitlines()


def test_a_terminal_gets_whole_words_in_lines_that_fit(capsys, monkeypatch):
    lines = printed(capsys, monkeypatch, terminal=True)
    assert [line.strip() for line in lines] == [
        "with efd the median transfer finishes",
        "1.4 times sooner than with fifo, report:",
        SENTENCE.split()[-1],
    ]


def test_a_pipe_gets_a_line(capsys, monkeypatch):
    assert printed(capsys, monkeypatch, terminal=False) == [SENTENCE]
