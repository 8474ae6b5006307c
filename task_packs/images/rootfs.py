"""Builds root file systems from Debian packages, without a registry: busybox in a moment, debian with debootstrap."""

from __future__ import annotations

import io
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from task_packs.archive import MTIME_S
from task_packs.errors import ImageError
from task_packs.manifest import Recipe

Log = Callable[[str], None]
BUSYBOX_PLACES = ("/bin/busybox", "/usr/bin/busybox")
BUSYBOX_PACKAGE = "busybox-static"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv7l": "arm"}
PASSWD = "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n"
SHADOW = "agent:*:18000:0:99999:7:::\n"
"""Without it `su` to the user is refused even to root."""
GROUP = "root:x:0:\nagent:x:1000:\n"
DIRECTORIES = (
    ("tmp", 0o1777, 0), ("root", 0o700, 0), ("home", 0o755, 0), ("home/agent", 0o755, 1000),
    ("app", 0o755, 1000), ("logs", 0o755, 0),
)  # fmt: skip
"""(path, mode, owner) that every environment has, whatever it is made of."""
PT_INTERP = 3


def architecture() -> str:
    """This machine's architecture as engines and Debian name it."""
    machine = platform.machine().lower()
    return ARCHITECTURES.get(machine, machine)


def build(recipe: Recipe, name: str, target: Path, log: Log) -> None:
    """Writes the root file system of `recipe` as a tar to `target`; ImageError names the image and what is missing."""
    if recipe.kind == "busybox":
        target.write_bytes(busybox_rootfs(find_busybox(name, log)))
    else:
        _debian(recipe, name, target, log)


def find_busybox(name: str, log: Log) -> bytes:
    """A statically linked busybox: this machine's, else out of the Debian package."""
    for place in BUSYBOX_PLACES:
        try:
            data = Path(place).read_bytes()
        except OSError:
            continue
        if is_static(data):
            log(f"image {name}: from {place}")
            return data
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise ImageError(
            f"image {name} cannot be had: there is no statically linked busybox and no apt-get here to fetch "
            f"{BUSYBOX_PACKAGE} with; put one at {BUSYBOX_PLACES[0]}"
        )
    with tempfile.TemporaryDirectory() as folder:
        log(f"image {name}: fetching the package {BUSYBOX_PACKAGE}")
        remedy = f"run apt-get update, or install {BUSYBOX_PACKAGE}"
        _run(["apt-get", "download", BUSYBOX_PACKAGE], name, remedy, cwd=folder)
        packages = list(Path(folder).glob("*.deb"))
        _run(["dpkg-deb", "-x", *map(str, packages), f"{folder}/x"], name, remedy)
        for found in (Path(folder, "x/bin/busybox"), Path(folder, "x/usr/bin/busybox")):
            if found.is_file():
                return found.read_bytes()
    raise ImageError(f"image {name} cannot be had: the package {BUSYBOX_PACKAGE} holds no busybox; {remedy}")


def is_static(elf: bytes) -> bool:
    """Whether a 64- or 32-bit ELF program asks for no dynamic loader."""
    if elf[:4] != b"\x7fELF" or len(elf) < 64:
        return False
    wide = elf[4] == 2
    order = "little" if elf[5] == 1 else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(elf[at : at + size], order)  # type: ignore[arg-type]

    table = number(32, 8) if wide else number(28, 4)
    size, count = (number(54, 2), number(56, 2)) if wide else (number(42, 2), number(44, 2))
    return all(number(table + entry * size, 4) != PT_INTERP for entry in range(count))


def busybox_rootfs(program: bytes) -> bytes:
    """A tar with busybox, a link per applet, users root and agent (uid 1000), /tmp, /app and /logs; deterministic."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in ("bin", "sbin", "usr", "usr/bin", "usr/sbin", "etc", "dev", "proc", "sys", "var"):
            archive.addfile(_entry(path, tarfile.DIRTYPE, 0o755))
        for path, mode, owner in DIRECTORIES:
            archive.addfile(_entry(path, tarfile.DIRTYPE, mode, owner))
        _file(archive, "bin/busybox", program, 0o755)
        for applet in applets(program):
            link = _entry(applet, tarfile.SYMTYPE, 0o777)
            link.linkname = "/bin/busybox"
            archive.addfile(link)
        for path, text in (("etc/passwd", PASSWD), ("etc/group", GROUP), ("etc/hostname", "box\n")):
            _file(archive, path, text.encode(), 0o644)
    return buffer.getvalue()


def applets(program: bytes) -> list[str]:
    """The paths, relative to the root, at which this busybox wants its applets."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "busybox")
        path.write_bytes(program)
        path.chmod(0o755)
        try:
            listed = subprocess.run([path, "--list-full"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise ImageError(f"busybox does not run on this machine ({error}); use one made for it") from None
    return sorted({line for line in listed.splitlines() if line and line not in ("bin/busybox", "linuxrc")})


def _debian(recipe: Recipe, name: str, target: Path, log: Log) -> None:
    if not shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:/usr/sbin"):
        raise ImageError(f"image {name} cannot be had: debootstrap is missing; install the package debootstrap")
    if os.geteuid() != 0:
        raise ImageError(f"image {name} cannot be had: debootstrap needs root; run this once as root, it is kept")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "r")
        argv = ["debootstrap", "--variant=minbase"]
        argv += [f"--include={','.join(recipe.packages)}"] if recipe.packages else []
        argv += [recipe.suite, str(root), *_mirror(recipe.suite)]
        log(f"image {name}: {' '.join(argv)} (a minute or two)")
        _run(argv, name, "look at the packages and the suite in [image], and at this machine's access to a mirror")
        _furnish(root)
        _run(
            ["tar", "-C", str(root), "--numeric-owner", "--sort=name", "-cf", str(target), "."], name, "free some disk"
        )


def _furnish(root: Path) -> None:
    """Adds the user and the directories that every environment has, and drops what debootstrap left to fetch with."""
    if "agent:" not in (root / "etc/passwd").read_text():
        for path, text in (("etc/passwd", PASSWD), ("etc/group", GROUP)):
            with (root / path).open("a") as file:
                file.write(text.splitlines()[1] + "\n")
        with (root / "etc/shadow").open("a") as file:
            file.write(SHADOW)
    for path, mode, owner in DIRECTORIES:
        (root / path).mkdir(exist_ok=True)
        os.chown(root / path, owner, owner)
        (root / path).chmod(mode)
    for archive in (root / "var/cache/apt/archives").glob("*.deb"):
        archive.unlink()
    shutil.rmtree(root / "var/lib/apt/lists", ignore_errors=True)
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    (root / "etc/hostname").write_text("box\n")


def _mirror(suite: str) -> list[str]:
    """The mirror this machine's apt uses for `suite`, so that a local one is used where there is one."""
    try:
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(CODENAME) $(SUITE) $(REPO_URI)", "Identifier: Packages"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return []
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 3 and suite in words[:2]:
            return [words[2]]
    return []


def _run(argv: Sequence[str], name: str, remedy: str, cwd: str | None = None) -> None:
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ImageError(f"image {name} cannot be had: {argv[0]} cannot be run ({error.strerror}); {remedy}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        why = said[-1][:200] if said else f"exit code {done.returncode}"
        raise ImageError(f"image {name} cannot be had: {argv[0]} failed ({why}); {remedy}")


def _entry(name: str, kind: bytes, mode: int, owner: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid, entry.mtime = kind, mode, owner, owner, MTIME_S
    return entry


def _file(archive: tarfile.TarFile, path: str, data: bytes, mode: int) -> None:
    entry = _entry(path, tarfile.REGTYPE, mode)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))
