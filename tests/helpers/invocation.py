"""The command line in a process of its own."""

import gc
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

COMMAND = (sys.executable, "-m", "mayfly.cli")
PLAIN = {
    name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
}


@dataclass
class Ended:
    """What a process left."""

    status: int
    out: str
    err: str

    @property
    def document(self):
        """The one JSON document on standard output; fails when there is anything else."""
        return json.loads(self.out)


def heed_interrupts():
    """Undoes what a shell that starts tests in the background passes on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def mayfly(*arguments, cwd=None, env=None, preexec=heed_interrupts, timeout=100):
    """Runs ``mayfly`` with these arguments to its end."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=PLAIN | (env or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        preexec_fn=preexec,
        timeout=timeout,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def mayfly_here(*arguments, env=None):
    """The same in this process, which starts faster and is left as it was."""
    from mayfly.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    threshold = gc.get_threshold()
    try:
        with (
            mock.patch.object(sys, "argv", ["mayfly", *map(str, arguments)]),
            mock.patch.dict(os.environ, env or {}),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            main()
    except SystemExit as ended:
        status = ended.code
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Ended(status, *texts)


def refused(*arguments, **options):
    """Runs a command that must be refused; returns the one line it said."""
    return line_of(mayfly(*arguments, **options), arguments)


def refused_here(*arguments):
    """The same in this process."""
    return line_of(mayfly_here(*arguments), arguments)


def line_of(ended, arguments):
    """Checks a refusal: status 2, one line on standard error, the same as a document when that was asked for."""
    assert ended.status == 2, (ended.status, ended.err)
    assert ended.err.startswith("mayfly: ") and ended.err.count("\n") == 1 and ended.err.endswith("\n"), ended.err
    assert ended.err.rstrip("\n").isprintable(), ended.err
    line = ended.err.removeprefix("mayfly: ").rstrip("\n")
    if "--json" in arguments:
        assert ended.document == {"error": line}
    else:
        assert ended.out == ""
    return line
