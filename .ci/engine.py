"""Run a command with a container engine: the one that answers, else (root on Linux) a private one while it runs.

The private engine has its own data, sockets and name space, so it can live beside any other. Its data stay in
.cache/engine (images need building only once); whoever comes second while the first still runs gets a throw-away place.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SYSTEM_SOCKET = "unix:///var/run/docker.sock"
START_S = 60
STOP_S = 30
PR_SET_PDEATHSIG = 1


def say(sentence: str) -> None:
    """One line to stderr."""
    print(f"engine: {sentence}", file=sys.stderr, flush=True)


def answers(host: str) -> bool:
    """Whether an engine answers `GET /_ping` at this unix:// or tcp:// address within 5 s."""
    scheme, _, place = host.partition("://")
    try:
        if scheme == "unix":
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(5)
            link.connect(place)
        else:
            name, _, port = place.partition(":")
            link = socket.create_connection((name, int(port or 2375)), timeout=5)
        with link:
            link.sendall(b"GET /_ping HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n")
            return link.recv(64).split(b" ")[1:2] == [b"200"]
    except (OSError, ValueError):
        return False


def running_engine() -> str | None:
    """The address of an engine that is already there, asked for by DOCKER_HOST or at the usual socket."""
    asked = os.environ.get("DOCKER_HOST", "")
    if asked and (asked.startswith("ssh://") or answers(asked)):
        return asked
    if asked:
        say(f"nothing answers at DOCKER_HOST={asked}; looking further")
    return SYSTEM_SOCKET if answers(SYSTEM_SOCKET) else None


def obstacle() -> str | None:
    """Why no private engine can be started here, with the remedy; None where one can."""
    if sys.platform != "linux":
        return "this is not Linux; start Docker or podman and set DOCKER_HOST"
    if os.geteuid() != 0:
        return "not root, so none can be started; start Docker or podman and set DOCKER_HOST, or run this as root"
    if not shutil.which("dockerd"):
        return "dockerd is not installed; on Debian: apt-get install docker.io"
    kinds = {line.split()[2] for line in Path("/proc/mounts").read_text().splitlines()}
    if not kinds & {"cgroup", "cgroup2"}:
        return "the cgroup file system is not mounted; mount it at /sys/fs/cgroup"
    return None


@contextlib.contextmanager
def data_directory(spare: Path) -> Iterator[tuple[Path, int]]:
    """The kept data directory while nobody else has it, else one under `spare`; and the lock for dockerd to inherit.

    Held by dockerd too, the lock outlives this process if that is killed, until the data are really free.
    """
    kept = ROOT / ".cache" / "engine"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield spare / "data", lock.fileno()
        else:
            yield kept / "data", lock.fileno()


def die_with_parent() -> None:
    """In the child: be told to stop when the parent is gone, however it went."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextlib.contextmanager
def private_engine() -> Iterator[str | None]:
    """Start dockerd without a network of its own and stop it at the end; None, its log shown, if it cannot start."""
    place = Path(tempfile.mkdtemp(prefix="engine-", dir="/tmp"))
    place.chmod(0o711)  # the group of the socket gets through, as at the usual place
    host = f"unix://{place}/s"
    with data_directory(place) as (data, lock):
        (place / "config").write_text("{}")
        argv = ["dockerd", "--bridge=none", "--iptables=false", "--ip6tables=false", "--shutdown-timeout=3"]
        argv += [f"--config-file={place}/config", f"--pidfile={place}/pid", f"--data-root={data}"]
        space = place.name.replace("_", "0")  # what mkdtemp makes need not be the name of a namespace
        argv += [f"--exec-root={place}/run", f"--containerd-namespace={space}"]
        argv += [f"--containerd-plugins-namespace={space}-plugins", "-H", host]
        with (place / "log").open("wb") as log:
            dockerd = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
                pass_fds=[lock],
            )
        try:
            up = wait_until_up(dockerd, host)
            if not up:
                say("dockerd did not start; the end of its log:")
                sys.stderr.writelines((place / "log").read_text(errors="replace").splitlines(keepends=True)[-15:])
            yield host if up else None
        finally:
            stop(dockerd)
            clear(place)


def wait_until_up(dockerd: subprocess.Popen[bytes], host: str) -> bool:
    """True once the engine answers; False when it ended or has not answered within START_S."""
    give_up_s = time.monotonic() + START_S
    while dockerd.poll() is None and time.monotonic() < give_up_s:
        if answers(host):
            return True
        time.sleep(0.1)
    return False


def stop(dockerd: subprocess.Popen[bytes]) -> None:
    """Ask the engine to stop, and end it if it does not within STOP_S."""
    dockerd.terminate()
    try:
        dockerd.wait(STOP_S)
    except subprocess.TimeoutExpired:
        say(f"dockerd did not stop within {STOP_S} s and was killed")
        os.killpg(dockerd.pid, signal.SIGKILL)
        dockerd.wait()


def clear(place: Path) -> None:
    """Remove the throw-away directory, first whatever is still mounted below it."""
    points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for point in sorted((p for p in points if p.startswith(f"{place}/")), reverse=True):
        subprocess.run(["umount", "-l", point], check=False)
    shutil.rmtree(place, ignore_errors=True)


def run(command: list[str], host: str | None) -> int:
    """Run the command in the foreground; its exit code, 128 + n after signal n. Signals meant for us go to it."""
    environment = os.environ | ({"DOCKER_HOST": host} if host else {})
    try:
        child = subprocess.Popen(command, env=environment)
    except OSError as error:
        say(f"{command[0]} cannot be run: {error.strerror}")
        return 127
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the whole group
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: child.send_signal(got))
    code = child.wait()
    return code if code >= 0 else 128 - code


def main(command: list[str]) -> int:
    """Find or start an engine, run the command, stop what was started."""
    if not command:
        say("usage: with-engine.sh COMMAND [ARGUMENT...]")
        return 2
    os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"
    host = running_engine()
    why = None if host else obstacle()
    if host or why:
        if why:
            say(f"no container engine answers ({why}); going on without one")
        return run(command, host)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: sys.exit(128 + got))
    with private_engine() as host:
        return run(command, host)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
