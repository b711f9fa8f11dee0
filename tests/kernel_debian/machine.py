"""Programs in Debian's own kernels: qemu without KVM (kernel/qemu)."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
QEMU = KERNEL / "qemu"
CACHE = Path(os.environ.get("MAYFLY_KERNEL_CACHE") or Path.home() / ".cache" / "mayfly")
LIMIT_S = 900
"""Wall time of one run; emulated, a minute on an idle machine."""
MEMORY = "768M"
MODULES = ["veth", "sch_htb", "sch_tbf", "sch_netem", "sch_prio", "sch_red", "sch_sfq", "sch_codel", "sch_fq_codel"]
MODULES += ["sch_pie", "sch_fq", "sch_cake"]


def prepared(script: str, *arguments: str) -> Path:
    """Folder that a script of kernel/qemu prepares in the cache, once; the test skips where that cannot be."""
    done = subprocess.run([QEMU / script, *arguments], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@cache
def debian(suite: str, flavour: str = "cloud") -> Path:
    """Folder of Debian's kernel of a suite with compilers, unpacked."""
    return prepared("root.sh", suite, str(CACHE), flavour)


@cache
def installed(suite: str) -> Path:
    """Folder of a Debian of a suite with kernel and DKMS, installed as apt does."""
    return prepared("installed.sh", suite, str(CACHE))


def inside(home: Path, command: str) -> str:
    """Runs a command of bash with that Debian as its root and returns what it prints."""
    script = [QEMU / "in.sh", home / "root", "bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(script, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-6000:]}"
    return done.stdout


def sources() -> str:
    """Names the state of kernel/."""
    digest = hashlib.sha256()
    for file in sorted(KERNEL.rglob("*")):
        if file.is_file() and file.suffix in (".c", ".h", ".py", ".sh", "") and "build" not in file.parts:
            digest.update(file.relative_to(KERNEL).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def copied(home: Path) -> None:
    """Puts kernel/ at /build of that Debian."""
    folder = home / "root" / "build"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(KERNEL, folder, ignore=shutil.ignore_patterns("build", "__pycache__", "*.o"))


def built(home: Path, build: str) -> str:
    """Copies kernel/ to /build of that Debian, runs `build` there and returns what it prints."""
    copied(home)
    return inside(home, f"cd /build && {build}")


def initramfs(
    home: Path, modules: Sequence[str] = MODULES, tools: Sequence[str] = (), files: Sequence[str] = ()
) -> Path:
    """Initramfs with /build of that Debian and what was built there.

    Parameters
    ----------
    home : Path
        As `debian` and `installed` give it.
    modules : sequence of str
        Of its kernel; those they need come along.
    tools : sequence of str
        Programs beside Python, ip and tc.
    files : sequence of str
        Other files and folders of it.
    """
    words = {"TOOLS": " ".join(tools), "FILES": " ".join(files)}
    given = " ".join(f"{name}={shlex.quote(value)}" for name, value in words.items())
    inside(home, f"{given} bash /build/qemu/pack.sh /guest.part {' '.join(modules)}")
    return home / "root" / "guest.part"


def packed(home: Path, build: str, **wanted: Sequence[str]) -> Path:
    """`initramfs` of what is `wanted`, after `build` was run there: made once for that state of kernel/."""
    out = home / f"guest-{hashlib.sha256(repr((sources(), build, sorted(wanted.items()))).encode()).hexdigest()[:12]}"
    if out.exists():
        return out
    for stale in home.glob("guest-*"):
        stale.unlink()
    built(home, build)
    initramfs(home, **wanted).rename(out)
    return out


def kernel(home: Path) -> Path:
    root = home / "root"
    return next(iter([*root.glob("boot/vmlinuz-*"), *root.glob("usr/lib/modules/*/vmlinuz")]))


def run(home: Path, build: str, module: str, settings: dict, folder: Path, **wanted: Sequence[str]) -> dict:
    """Calls `run(settings)` of a module of kernel/qemu in that kernel on two processors and returns what it returns."""
    return boot(home, packed(home, build, **wanted), module, settings, folder)


def boot(home: Path, base: Path, module: str, settings: dict, folder: Path) -> dict:
    """The same with an initramfs that is there."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        pytest.skip("qemu-system-x86_64 is missing; on Debian: apt-get install qemu-system-x86")
    whole = folder / "initramfs"
    pack = 'cd "$(mktemp -d)" && cat >settings.json && echo settings.json | cpio -o -H newc --quiet'
    command = [QEMU / "in.sh", home / "root", "bash", "-c", pack]
    archive = subprocess.run(command, input=json.dumps(settings).encode(), capture_output=True, check=True)
    whole.write_bytes(archive.stdout + base.read_bytes())
    append = "console=ttyS0 quiet panic=-1 mitigations=off rdinit=/usr/bin/python3"
    append += f" -- /build/qemu/init.py /build/qemu/{module}"
    # Emulated by qemu 7.2, cmpxchg16b leaves flags that are none, and 6.12 crashes in its allocator.
    command = [qemu, "-accel", "tcg,thread=multi", "-cpu", "max,cx16=off", "-machine", "q35", "-smp", "2", "-m", MEMORY]
    command += ["-display", "none", "-monitor", "none", "-nodefaults", "-no-reboot", "-serial", "stdio"]
    command += ["-serial", f"file:{folder / 'result'}", "-kernel", kernel(home), "-initrd", whole, "-append", append]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    text = (folder / "result").read_text() if (folder / "result").exists() else ""
    assert text, f"the guest left no result: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    answer = json.loads(text)
    assert "failure" not in answer, answer["failure"]
    return answer["result"]
