"""`mayfly qdisc`: disciplines on the interfaces of this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.session import Session

app = typer.Typer(
    help="Disciplines in this machine's kernel: build, load, watch.",
    epilog="Example:  sudo mayfly qdisc load eth0 --both-ways --down 95mbit --up 19mbit",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Built = Annotated[Path, typer.Option("--out", "--from", metavar="DIR", help="Folder of what is built")]
Kernel = Annotated[str | None, typer.Option("--kernel", metavar="RELEASE", help="As uname -r says it; the running one")]
Device = Annotated[str, typer.Argument(metavar="DEV", help="Interface: eth0")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the commands and do nothing")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]
HERE = Path("mayfly-qdisc")


@app.command(epilog="Example:  mayfly qdisc build")
def build(
    source: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Sources of the modules; a checkout's or /usr/src/mayfly-*")
    ] = None,
    kernel: Kernel = None,
    out: Built = HERE,
    bpf: Annotated[bool, typer.Option("--bpf", help="The BPF qdisc in place of modules")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Build modules and plug-ins of tc for a kernel."""
    from mayfly.qdisc.build import build_steps

    _do(build_steps(source, kernel, out, bpf, dry_run), dry_run, as_json, f"built into {out}")


@app.command(epilog="Example:  sudo mayfly qdisc install --build")
def install(
    built: Built = HERE,
    kernel: Kernel = None,
    build_first: Annotated[bool, typer.Option("--build", help="Build it first, as mayfly qdisc build does")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Install what was built, where modprobe and tc look."""
    from mayfly.qdisc.build import install as put

    _tell(put(built, kernel, build_first, dry_run), dry_run, as_json, ("installed; mayfly qdisc load DEV",))


@app.command(epilog="Example:  sudo mayfly qdisc uninstall")
def uninstall(kernel: Kernel = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Remove what install put there, from the running kernel too."""
    from mayfly.qdisc.build import uninstall_steps
    from mayfly.qdisc.system import need_root

    steps = uninstall_steps(kernel)
    if not dry_run:
        need_root("mayfly qdisc uninstall")
    _do(steps, dry_run, as_json, "nothing of ours is left in this kernel")


@app.command(epilog="Example:  sudo mayfly qdisc load eth0 --both-ways --down 95mbit --up 19mbit")
def load(
    device: Device,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Shape to it, below the link's own: 10mbit; else not shaped")
    ] = None,
    both_ways: Annotated[
        bool, typer.Option("--both-ways", help="Also what arrives, through a device ifb4DEV; with --down and --up")
    ] = False,
    down: Annotated[str | None, typer.Option(metavar="RATE", help="Of what arrives at the interface: 95mbit")] = None,
    up: Annotated[str | None, typer.Option(metavar="RATE", help="Of what the interface sends: 19mbit")] = None,
    discipline: Annotated[
        str | None,
        typer.Option(
            "--discipline",
            "-d",
            metavar="ID",
            help="With options in parentheses: efd(threshold=30kB); efd when absent, lfq with --both-ways",
        ),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="LIMIT",
            help="Packets, bytes or, at a rate, a time: 300, 450kB, 100ms; with --both-ways 300/50 for down and up; "
            "300 when absent, with --both-ways at least 100ms of the rate",
        ),
    ] = None,
    down_buffer: Annotated[
        str | None, typer.Option(metavar="LIMIT", help="Of what arrives, in place of --buffer: 300, 450kB, 100ms")
    ] = None,
    up_buffer: Annotated[
        str | None, typer.Option(metavar="LIMIT", help="Of what the interface sends, in place of --buffer")
    ] = None,
    overhead: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help='What the link adds to packets: 18, docsis, "pppoe-ptm mpu 64"; below htb tc counts bytes with it',
        ),
    ] = None,
    nat: Annotated[
        bool, typer.Option("--nat/--no-nat", help="With --both-ways: look behind translated addresses (cake, lfq)")
    ] = True,
    no_offloads: Annotated[
        bool, typer.Option("--no-offloads", help="Switch off what makes packets longer than the wire's, by ethtool")
    ] = False,
    bpf: Annotated[bool, typer.Option("--bpf", help="efd as a BPF qdisc, without a module")] = False,
    built: Built = HERE,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where another discipline was configured that unload cannot put back")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put a discipline at an interface, in one direction or both.

    With a rate it is shaped. What was there before is written down, and unload puts it back.
    """
    from mayfly.qdisc.load import Done, Wanted, load_steps
    from mayfly.qdisc.load import load as put
    from mayfly.qdisc.system import need_root

    wanted = Wanted(
        device,
        discipline,
        buffer,
        rate,
        bpf,
        both_ways,
        down,
        up,
        overhead,
        nat,
        not no_offloads,
        down_buffer,
        up_buffer,
    )
    steps = load_steps(wanted, built)  # bad options first, whoever asks
    if not dry_run:
        need_root(f"mayfly qdisc load {device}")
    done = Done(steps) if dry_run else put(wanted, built, replace)
    watched = f"mayfly qdisc {'watch' if both_ways else 'show'} {device}"
    _tell(done.steps, dry_run, as_json, (*done.said, f"{wanted.label} at {device}; {watched}"))


@app.command(epilog="Example:  sudo mayfly qdisc unload eth0")
def unload(device: Device, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Leave an interface as it was before load.

    Also after a load or an unload that was killed midway.
    """
    from mayfly.qdisc.load import unload as remove
    from mayfly.qdisc.load import unload_steps
    from mayfly.qdisc.system import need_root

    if dry_run:
        done = unload_steps(device)
    else:
        need_root(f"mayfly qdisc unload {device}")
        done = remove(device)
    _tell(done.steps, dry_run, as_json, done.said)


@app.command(epilog="Example:  mayfly qdisc show eth0 --watch")
def show(
    device: Annotated[str | None, typer.Argument(metavar="[DEV]", help="Interface; all when absent")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Again every second, with rates, until interrupted")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what waits, what was dropped and what the disciplines count."""
    session = Session(as_json, quiet=True)
    from mayfly.qdisc.show import read
    from mayfly.qdisc.table import qdisc_table

    if watch:
        from mayfly.qdisc.watch import watch as forever

        forever(device, as_json)
        return
    rows = read(device)
    if as_json:
        session.print_json({"qdiscs": [row.document() for row in rows]})
        return
    session.print(qdisc_table(rows) if rows else f"{device or 'no interface'}: no discipline is configured")


@app.command(epilog="Example:  mayfly qdisc watch eth0 --every 2s")
def watch(
    device: Annotated[str | None, typer.Argument(metavar="[DEV]", help="Interface; all when absent")] = None,
    readings: Annotated[
        int | None, typer.Option(metavar="N", help="End after so many; rates need 2; until interrupted when absent")
    ] = None,
    every: Annotated[
        str | None, typer.Option(metavar="TIME", help="Between two readings: 500ms; 1s when absent")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch users, waits, drops and tables in both directions.

    A page every second; with --json a line each reading.
    """
    Session(as_json, quiet=True)
    from mayfly.qdisc.watch import watch_page

    watch_page(device, as_json, readings, every)


@app.command(epilog="Example:  mayfly qdisc export eth0 --listen 127.0.0.1:9817")
def export(
    device: Annotated[str | None, typer.Argument(metavar="[DEV]", help="Interface; all when absent")] = None,
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where Prometheus asks")] = "127.0.0.1:9817",
    top: Annotated[int, typer.Option(metavar="N", help="Users of a discipline that are told, 0 to 16")] = 16,
) -> None:
    """Answer Prometheus with what the disciplines count.

    Until interrupted; needs the extra mayfly[metrics]. With --overhead and htb, bytes are those of the link.
    """
    session = Session(False, quiet=False)
    from mayfly.qdisc.export import export as serve

    serve(device, listen, top, session.say)


def _do(steps: list[list[str]], dry_run: bool, as_json: bool, done: str) -> None:
    """Runs or shows the commands."""
    from mayfly.qdisc.steps import perform

    if not dry_run:
        perform(steps)
    _tell(steps, dry_run, as_json, (done,))


def _tell(steps: list[list[str]], dry_run: bool, as_json: bool, said: Sequence[str]) -> None:
    """Shows the commands, or says what they did."""
    session = Session(as_json, quiet=True)
    from mayfly.qdisc.steps import shown

    if as_json:
        session.print_json({"commands": steps, "done": not dry_run} | ({} if dry_run else {"said": list(said)}))
    elif dry_run:
        print(shown(steps))  # for a shell: not wrapped
    else:
        session.print("\n".join(said))


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="qdisc")
