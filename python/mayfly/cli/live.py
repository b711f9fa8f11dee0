"""A capture from a file or from an interface, for commands that take either."""

from pathlib import Path

from mayfly.cli.session import Session


def captured(
    session: Session, capture: Path | None, interface: str | None, length: str | None, out: Path
) -> tuple[Path, list[str]]:
    """The file that is given, or one that is recorded now into the folder of the report; and what to say of it.

    Parameters
    ----------
    session : Session
        Of the command.
    capture : path or None
        The file that is given.
    interface : str or None
        Where to capture in its place.
    length : str or None
        How long.
    out : path
        Folder of the report.

    Returns
    -------
    tuple of (pathlib.Path, list of str)

    Raises
    ------
    MayflyError
        Neither or both are given; or as :func:`mayfly.workload.live.record`.
    """
    from mayfly.errors import MayflyError
    from mayfly.text.quantity import seconds

    if (capture is None) == (interface is None):
        raise MayflyError("CAPTURE and -i DEV: must be one of them; `mayfly whatif --help` shows what there is")
    if interface is None:
        if length is not None:
            raise MayflyError("--for: is the length of a capture with -i DEV, and there is none")
        assert capture is not None
        return capture, []
    from mayfly.workload.live import record

    for_s = seconds("60s" if length is None else length, "--for")
    path = out / "capture.pcap"
    said = f"capturing on {interface} for {for_s:g} s; Ctrl-C ends it sooner and goes on with what came"
    with session.progress(f"capture {interface}") as progress:
        found = record(interface, for_s, path, started=lambda: session.say(said), progress=progress)
    session.say(f"{found.packets:,} packets in {found.span_s:.0f} s, headers only: {path}")
    return path, found.sentences()
