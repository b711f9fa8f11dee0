"""What this machine has of what is needed, and how to get what it has not."""

import gzip
import os
import re
import shutil
import stat
import zlib
from pathlib import Path

from mayfly.discipline_registry.kernels import ALWAYS, IN_ANOTHER, configured, why_not
from mayfly.errors import MayflyError
from mayfly.qdisc.steps import output
from mayfly.text.quantity import shown

MODULES = "/lib/modules/{}"
"""Where the modules of a release are."""

CONFIGURATIONS = ("/proc/config.gz", "/boot/config-{}", "/lib/modules/{}/config")
"""Where a kernel's configuration may be, by its release."""

SOURCES = "/usr/src"
"""Folder in which packages lay sources of modules down: ``mayfly-*``."""

PACKAGES = {
    "make": "make",
    "cc": "gcc",
    "tc": "iproute2",
    "ip": "iproute2",
    "ethtool": "ethtool",
    "modprobe": "kmod",
    "depmod": "kmod",
    "bpftool": "bpftool",
    "ping": "iputils-ping",
}
"""Debian packages of programs."""

_RELEASE = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+~-]{0,63}")
_DEVICE = re.compile(r"(?!\.{1,2}$)[^/\s]{1,15}")
_LIBRARY = re.compile(rb"(/[\w./+-]*/tc)/?\0")
_OLDEST_CLANG = 19
_CLANG = (*(f"clang-{version}" for version in range(_OLDEST_CLANG, 26)), "clang")
_BPF_QDISC = b"bpf_struct_ops_Qdisc_ops"


def program(name: str) -> str:
    """Path of a program, also where only root looks.

    Parameters
    ----------
    name : str
        One of `PACKAGES`.

    Returns
    -------
    str

    Raises
    ------
    MayflyError
        It is not installed.
    """
    found = shutil.which(name, path=_path())
    if found is None:
        raise MayflyError(f"{name} is missing; on Debian: apt-get install {PACKAGES[name]}")
    return found


def _path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def need_root(command: str) -> None:
    """Refuses without the privilege to change the kernel.

    Raises
    ------
    MayflyError
        Not root.
    """
    if os.geteuid() != 0:
        raise MayflyError(f"needs root: sudo {command}; --dry-run shows what would be done")


def refuse_foreign(*paths: Path) -> None:
    """Refuses what others may change before root uses it: what they own or may write, links included.

    Parameters
    ----------
    *paths : Path
        Files and the folders they are in; what is not there is not looked at.

    Raises
    ------
    MayflyError
        It belongs neither to root nor to who runs the command, by `sudo` or not, or others may write it.
    """
    owners = {0, os.geteuid(), int(os.environ.get("SUDO_UID", os.geteuid()))}
    groups = {0, os.getegid(), int(os.environ.get("SUDO_GID", os.getegid()))}
    for path in paths:
        try:
            about = path.lstat()
        except OSError:
            continue
        if stat.S_ISLNK(about.st_mode):
            raise MayflyError(f"{path}: a symbolic link is not followed; name the folder itself")
        if about.st_uid not in owners:
            raise MayflyError(f"{path}: belongs to another user ({about.st_uid}), who could change what root installs")
        if about.st_mode & stat.S_IWOTH or (about.st_mode & stat.S_IWGRP and about.st_gid not in groups):
            raise MayflyError(f"{path}: others may write it, and change what root installs: chmod go-w {path}")


def checked_kernel(release: str | None) -> str:
    """Release of a kernel, the running one when not given.

    Parameters
    ----------
    release : str, optional
        As ``uname -r`` says it: it becomes part of paths.

    Returns
    -------
    str

    Raises
    ------
    MayflyError
        No kernel calls itself so.
    """
    if release is not None and not _RELEASE.fullmatch(release):
        raise MayflyError(
            f"--kernel {release}: must be a release as uname -r says it: letters, digits and . _ + - ~ alone"
        )
    return release or running_kernel()


def checked_device(device: str) -> str:
    """Name of an interface.

    Parameters
    ----------
    device : str
        It becomes part of paths.

    Returns
    -------
    str

    Raises
    ------
    MayflyError
        No interface has such a name.
    """
    if not _DEVICE.fullmatch(device):
        raise MayflyError(f"device = {shown(device)}: must be the name of an interface, such as eth0")
    return device


def running_kernel() -> str:
    """Release of the running kernel."""
    return os.uname().release


def loaded(module: str) -> bool:
    """Whether the running kernel has a module, ``sch_efd`` for one."""
    return Path("/sys/module", module).exists()


def why_no_qdisc(kind: str) -> str:
    """Why the running kernel has no such queue discipline, as far as it can be seen without making one.

    Parameters
    ----------
    kind : str
        As tc names it.

    Returns
    -------
    str
        Empty where it has one, and where this machine cannot tell, so that tc is asked: no configuration of the kernel
        is there, or its modules are not here, as in a container.
    """
    release = running_kernel()
    module = f"sch_{IN_ANOTHER.get(kind, (kind,))[0]}"
    if kind in ALWAYS or loaded(module):
        return ""
    for path in (path.format(release) for path in CONFIGURATIONS):
        try:
            content = Path(path).read_bytes()
            text = gzip.decompress(content) if path.endswith(".gz") else content
        except (OSError, EOFError, zlib.error):  # BadGzipFile is an OSError
            continue
        found = configured(text.decode(errors="replace"))
        lacking = why_not(kind, found, release)
        if lacking:
            return f"kernel {release} is built without {kind}: {lacking} in {path}"
        if found.get(module.removeprefix("sch_")) == "y":
            return ""
        break
    else:
        return ""
    # In a container the modules are the host's, whose kernel loads them when tc asks.
    if not Path(MODULES.format(release)).is_dir():
        return ""
    try:
        modprobe = program("modprobe")
    except MayflyError:
        return ""
    try:
        output([modprobe, "--dry-run", module])
    except MayflyError:
        return f"module {module} is not installed for kernel {release}"
    return ""


def headers(release: str) -> Path:
    """What modules for a kernel are built with.

    Parameters
    ----------
    release : str
        Of the kernel, as ``uname -r`` says it.

    Returns
    -------
    Path

    Raises
    ------
    MayflyError
        It is not installed.
    """
    folder = Path("/lib/modules") / release / "build"
    if not (folder / "Makefile").exists():
        raise MayflyError(
            f"headers of kernel {release} are missing: no {folder}; on Debian: apt-get install linux-headers-{release}"
        )
    return folder


def sources(given: Path | None) -> Path:
    """Folder of the sources of the modules: the one given, that of this checkout, or the newest installed.

    Parameters
    ----------
    given : path, optional
        A folder ``kernel``, or a checkout that has one.

    Returns
    -------
    Path

    Raises
    ------
    MayflyError
        There are none.
    """
    if given is not None:
        for folder in (given, given / "kernel"):
            if (folder / "Kbuild").exists():
                return folder.resolve()
        raise MayflyError(f"source = {given}: no Kbuild there or in its folder kernel")
    checkout = Path(__file__).resolve().parents[3] / "kernel"
    installed = sorted(Path(SOURCES).glob("mayfly-*/Kbuild"), key=lambda path: path.stat().st_mtime, reverse=True)
    for folder in (checkout, *(path.parent for path in installed)):
        if (folder / "Kbuild").exists():
            return folder
    raise MayflyError(
        f"the sources of the modules are in no {SOURCES}/mayfly-* nor beside this package; --source names a checkout"
    )


def plugin_folder() -> Path:
    """Folder in which tc looks for plug-ins: ``$TC_LIB_DIR``, or what it was compiled with.

    Returns
    -------
    Path

    Raises
    ------
    MayflyError
        There is no tc, or it does not tell.
    """
    given = os.environ.get("TC_LIB_DIR")
    if given:
        return Path(given)
    tc = Path(program("tc")).resolve()
    found = [match.decode() for match in _LIBRARY.findall(tc.read_bytes()) if b"/lib" in match]
    if not found:
        raise MayflyError(f"{tc} does not tell where it looks for plug-ins; TC_LIB_DIR=DIR names the folder")
    return Path(found[0])


def clang() -> str:
    """Path of a compiler for BPF qdiscs.

    Raises
    ------
    MayflyError
        There is none, or it is too old.
    """
    lacking = "clang is missing"
    for name in _CLANG:
        found = shutil.which(name, path=_path())
        version = _clang_version(found) if found else 0
        if found and version >= _OLDEST_CLANG:
            return found
        if found:
            lacking = f"{found} is version {version or 'unknown'}"
    raise MayflyError(f"{lacking}, not {_OLDEST_CLANG} or later; on Debian 13: apt-get install clang-19 libbpf-dev")


def _clang_version(clang: str) -> int:
    """Major version, 0 if it does not tell."""
    told = re.search(r"clang version (\d+)", output([clang, "--version"]))
    return int(told[1]) if told else 0


def need_bpf_qdiscs(types: Path = Path("/sys/kernel/btf/vmlinux")) -> None:
    """Refuses where the running kernel lets no BPF program be a qdisc.

    Parameters
    ----------
    types : Path
        Where the kernel describes its types.

    Raises
    ------
    MayflyError
        It does not.
    """
    if not types.exists() or _BPF_QDISC not in types.read_bytes():
        raise MayflyError(
            f"kernel {running_kernel()} has no BPF qdiscs: 6.16 or later with CONFIG_NET_SCH_BPF, "
            "in Debian 13 from trixie-backports"
        )
