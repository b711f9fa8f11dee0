"""Modules, plug-ins of tc and the BPF qdisc: built into a folder, and from there installed."""

from pathlib import Path

from mayfly.discipline_registry.tc_options import leaves
from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.steps import Steps, perform

OBJECT = "efd.bpf.o"
"""The BPF qdisc."""


def build_steps(source: Path | None, release: str | None, out: Path, bpf: bool = False, dry_run: bool = False) -> Steps:
    """Commands that build for a kernel.

    Parameters
    ----------
    source : path, optional
        Where the sources are, when not where they are looked for.
    release : str, optional
        Of the kernel; the running one when not given.
    out : Path
        Folder for what is built.
    bpf : bool
        The BPF qdisc in place of modules and plug-ins.
    dry_run : bool
        Look for no compilers and headers.

    Returns
    -------
    list of list of str

    Raises
    ------
    MayflyError
        Something is missing.
    """
    folder, into = system.sources(source), f"OUT={out.resolve()}"
    make = ["make", "-s", "-C", str(folder)]
    if bpf:
        if not dry_run:
            for name in ("make", "bpftool"):
                system.program(name)
            system.need_bpf_qdiscs()
        return [[*make, "bpf", into, f"CLANG={'clang' if dry_run else system.clang()}"]]
    kernel = system.checked_kernel(release)
    if not dry_run:
        for name in ("make", "cc"):
            system.program(name)
        system.headers(kernel)
    return [[*make, "modules", "plugins", into, f"KDIR=/lib/modules/{kernel}/build"]]


def install_steps(built: Path, release: str | None) -> Steps:
    """Commands that install what was built.

    Parameters
    ----------
    built : Path
        Folder of :func:`build_steps`.
    release : str, optional
        Of the kernel it was built for; the running one when not given.

    Returns
    -------
    list of list of str

    Raises
    ------
    MayflyError
        Nothing was built there, or something is missing.
    """
    kernel = system.checked_kernel(release)
    system.refuse_foreign(built, built / "modules", built / "tc")
    modules, plugins = sorted(built.glob("modules/*.ko")), sorted(built.glob("tc/q_*.so"))
    if not modules or not plugins:
        raise MayflyError(f"{built}: no modules were built there; mayfly qdisc build --out {built}")
    system.refuse_foreign(*modules, *plugins)
    into = str(installed_modules(kernel))
    steps = [["install", "-D", "-m", "644", "-t", into, *map(str, modules)]]
    steps.append(["install", "-D", "-m", "644", "-t", str(system.plugin_folder()), *map(str, plugins)])
    steps.append([system.program("depmod"), kernel])
    return steps


def install(built: Path, release: str | None, build_first: bool = False, dry_run: bool = False) -> Steps:
    """Installs what was built, or builds and installs it.

    Parameters
    ----------
    built : Path
        Folder of :func:`build_steps`.
    release : str, optional
        Of the kernel; the running one when not given.
    build_first : bool
        Build it before.
    dry_run : bool
        Run nothing. What is to be installed is known only when it is built.

    Returns
    -------
    list of list of str
        Commands that were run, or would be.

    Raises
    ------
    MayflyError
        Something is missing, not root, or a command failed.
    """
    first = build_steps(None, release, built, dry_run=dry_run) if build_first else []
    if build_first and dry_run:
        kernel = ["--kernel", release] if release else []
        return [*first, ["mayfly", "qdisc", "install", "--from", str(built), *kernel]]
    if build_first:
        system.need_root("mayfly qdisc install --build")
        perform(first)
    second = install_steps(built, release)
    if not dry_run:
        system.need_root("mayfly qdisc install")
        perform(second)
    return [*first, *second]


def installed_modules(kernel: str) -> Path:
    """Folder of our modules for a kernel, which nothing else uses."""
    return Path("/lib/modules") / kernel / "updates" / "mayfly"


def uninstall_steps(release: str | None) -> Steps:
    """Commands that take away what was installed for a kernel, and unload it.

    Parameters
    ----------
    release : str, optional
        Of the kernel; the running one when not given.

    Returns
    -------
    list of list of str

    Raises
    ------
    MayflyError
        Nothing is installed for it.
    """
    kernel = system.checked_kernel(release)
    names = sorted({leaf.module for leaf in leaves().values() if leaf.module})
    folder, plugins = installed_modules(kernel), system.plugin_folder()
    found = [plugin for name in names if (plugin := plugins / f"q_{name.removeprefix('sch_')}.so").exists()]
    if not folder.exists() and not found:
        raise MayflyError(f"nothing of ours is installed for kernel {kernel}")
    loaded = [name for name in names if kernel == system.running_kernel() and system.loaded(name)]
    steps = [[system.program("modprobe"), "-r", *loaded]] if loaded else []
    # File by file: no name that a user gives decides what a recursive rm would find.
    system.refuse_foreign(folder)
    steps.append(["rm", "-f", "--", *map(str, sorted(folder.glob("*.ko*"))), *map(str, found)])
    if folder.exists():
        steps.append(["rmdir", "--", str(folder)])
    steps.append([system.program("depmod"), kernel])
    return steps
