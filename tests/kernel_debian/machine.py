"""Programs in Debian's own kernels: qemu without KVM (kernel/qemu)."""

import hashlib
import json
import os
import shutil
import subprocess
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


@cache
def debian(suite: str) -> Path:
    """Folder of Debian's kernel of a suite, unpacked if it is not in the cache; the test skips where that cannot be."""
    done = subprocess.run([QEMU / "root.sh", suite, CACHE], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def inside(suite: str, command: str) -> str:
    """Runs a command of bash with that Debian as its root and returns what it prints."""
    script = [QEMU / "in.sh", debian(suite) / "root", "bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-6000:]}"
    return done.stdout


def sources() -> str:
    """Names the state of kernel/."""
    digest = hashlib.sha256()
    for file in sorted(KERNEL.rglob("*")):
        if file.is_file() and file.suffix in (".c", ".h", ".py", ".sh", "") and "build" not in file.parts:
            digest.update(file.relative_to(KERNEL).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def built(suite: str, build: str) -> str:
    """Copies kernel/ to /build of that Debian, runs `build` there and returns what it prints."""
    folder = debian(suite) / "root" / "build"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(KERNEL, folder, ignore=shutil.ignore_patterns("build", "__pycache__", "*.o"))
    return inside(suite, f"cd /build && {build}")


def packed(suite: str, build: str) -> Path:
    """Initramfs with kernel/ as /build, after `build` was run there: made once for that state of kernel/."""
    home = debian(suite)
    out = home / f"guest-{hashlib.sha256((sources() + build).encode()).hexdigest()[:12]}"
    if out.exists():
        return out
    for stale in home.glob("guest-*"):
        stale.unlink()
    built(suite, build)
    inside(suite, f"bash /build/qemu/pack.sh /guest.part {' '.join(MODULES)}")
    (home / "root" / "guest.part").rename(out)
    return out


def kernel(suite: str) -> Path:
    root = debian(suite) / "root"
    return next(iter([*root.glob("boot/vmlinuz-*"), *root.glob("usr/lib/modules/*/vmlinuz")]))


def run(suite: str, build: str, module: str, settings: dict, folder: Path) -> dict:
    """Calls `run(settings)` of a module of kernel/qemu in that kernel on two processors and returns what it returns."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        pytest.skip("qemu-system-x86_64 is missing; on Debian: apt-get install qemu-system-x86")
    initramfs = folder / "initramfs"
    base = packed(suite, build)
    pack = 'cd "$(mktemp -d)" && cat >settings.json && echo settings.json | cpio -o -H newc --quiet'
    command = [QEMU / "in.sh", debian(suite) / "root", "bash", "-c", pack]
    archive = subprocess.run(command, input=json.dumps(settings).encode(), capture_output=True, check=True)
    initramfs.write_bytes(archive.stdout + base.read_bytes())
    append = "console=ttyS0 quiet panic=-1 mitigations=off rdinit=/usr/bin/python3"
    append += f" -- /build/qemu/init.py /build/qemu/{module}"
    command = [qemu, "-accel", "tcg,thread=multi", "-cpu", "max", "-machine", "q35", "-smp", "2", "-m", MEMORY]
    command += ["-display", "none", "-monitor", "none", "-nodefaults", "-no-reboot", "-serial", "stdio"]
    command += [
        "-serial",
        f"file:{folder / 'result'}",
        "-kernel",
        kernel(suite),
        "-initrd",
        initramfs,
        "-append",
        append,
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    text = (folder / "result").read_text() if (folder / "result").exists() else ""
    assert text, f"the guest left no result: {done.stdout[-3000:]}{done.stderr[-2000:]}"
    answer = json.loads(text)
    assert "failure" not in answer, answer["failure"]
    return answer["result"]
