"""`mayfly qdisc`: disciplines on the interfaces of this machine."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.session import Session

app = typer.Typer(
    help="Disciplines in this machine's kernel: build, load, show.",
    epilog="Example:  sudo mayfly qdisc load eth0 --rate 10mbit --discipline efd",
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


@app.command(epilog="Example:  sudo mayfly qdisc install")
def install(built: Built = HERE, kernel: Kernel = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Install what was built, where modprobe and tc look."""
    from mayfly.qdisc.build import install_steps
    from mayfly.qdisc.system import need_root

    steps = install_steps(built, kernel)
    if not dry_run:
        need_root("mayfly qdisc install")
    _do(steps, dry_run, as_json, "installed; mayfly qdisc load DEV")


@app.command(epilog="Example:  sudo mayfly qdisc uninstall")
def uninstall(kernel: Kernel = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Remove what install put there, from the running kernel too."""
    from mayfly.qdisc.build import uninstall_steps
    from mayfly.qdisc.system import need_root

    steps = uninstall_steps(kernel)
    if not dry_run:
        need_root("mayfly qdisc uninstall")
    _do(steps, dry_run, as_json, "nothing of ours is left in this kernel")


@app.command(epilog="Example:  sudo mayfly qdisc load eth0 --rate 10mbit --discipline efd --buffer 100")
def load(
    device: Device,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Shape to it, below the link's own: 10mbit; else not shaped")
    ] = None,
    discipline: Annotated[
        str, typer.Option("--discipline", "-d", metavar="ID", help="With options in parentheses: efd(threshold=30kB)")
    ] = "efd",
    buffer: Annotated[str, typer.Option(metavar="LIMIT", help="Packets, or bytes: 300, 450kB")] = "300",
    bpf: Annotated[bool, typer.Option("--bpf", help="efd as a BPF qdisc, without a module")] = False,
    built: Built = HERE,
    replace: Annotated[bool, typer.Option("--replace", help="Also where another discipline was configured")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put a discipline at an interface, below htb when there is a rate."""
    from mayfly.qdisc.load import Wanted, load_steps, undo_steps
    from mayfly.qdisc.system import need_root

    wanted = Wanted(device, discipline, buffer, rate, bpf)
    if not dry_run:
        load_steps(wanted, built, dry_run=True)  # bad options first, whoever asks
        need_root(f"mayfly qdisc load {device}")
    steps = load_steps(wanted, built, replace, dry_run)
    _do(steps, dry_run, as_json, f"{discipline} at {device}; mayfly qdisc show {device}", undo_steps(device, steps))


@app.command(epilog="Example:  sudo mayfly qdisc unload eth0")
def unload(device: Device, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Remove what load put at an interface."""
    from mayfly.qdisc.load import unload_steps
    from mayfly.qdisc.system import need_root

    steps = unload_steps(device)
    if not dry_run:
        need_root(f"mayfly qdisc unload {device}")
    _do(steps, dry_run, as_json, f"{device} is as the kernel makes it")


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


def _do(steps: list[list[str]], dry_run: bool, as_json: bool, done: str, undo: list[list[str]] | None = None) -> None:
    """Runs or shows the commands."""
    session = Session(as_json, quiet=True)
    from mayfly.qdisc.steps import perform, shown

    if not dry_run:
        perform(steps, undo)
    if as_json:
        session.print_json({"commands": steps, "done": not dry_run})
    elif dry_run:
        print(shown(steps))  # for a shell: not wrapped
    else:
        session.print(done)


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="qdisc")
