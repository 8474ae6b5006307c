"""The engine that needs none: the machine itself is the sandbox, a private directory is the environment."""

from __future__ import annotations

import os
import select
import signal
import threading

from remote_agent import clock, kernel, process_beside, process_memory, procs
from remote_agent.engine import CLEAN_PATH, Armed, Capture, EngineError, StartFailed, gate_script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.spec import RunSpec, Step, Verifier

KILL_ROUNDS = 10


class ProcessEngine:
    """Runs steps as our own children in a session of their own. Not isolated, and every record says so."""

    name = "process"

    def __init__(self) -> None:
        self._root = ""
        self._scratch = ""
        self._environment_env: dict[str, str] = {}
        self._shared: list[str] = []
        self._workdir = "/"
        self._gate_in: int | None = None
        self._codes: dict[int, int] = {}
        self.ours: set[int] = set()
        """Children that are no part of the session: its door."""
        self._reaping = threading.Lock()
        """Two threads wait for children; a code that one of them is taking is known to both."""
        self._beside: process_beside.Beside | None = None

    def facts(self) -> dict[str, Any]:
        """There is no engine to ask."""
        return {"isolated": False}

    def prepare(self, spec: RunSpec, capture: Capture, blobs: str) -> dict[str, Any]:
        """Makes the private directory beside the capture files and extracts the files; idempotent."""
        fresh = not os.path.isdir(capture.directory + "/r")
        self._place(spec, capture)
        if fresh:
            for made in ("", "/tmp", "/home", self._workdir):
                os.makedirs(self._root + made, mode=0o755, exist_ok=True)
        for number, place in enumerate(spec.environment.tmpfs):
            self._put_in_memory(place, number)
        for placed in spec.environment.files:
            self.put(blobs + "/" + placed.blob, self._inside(placed.dest))
        return {"root": self._root, "user": str(os.getuid()), **self.facts()}

    def arm(self, step: Step, secrets: dict[str, str]) -> Armed:
        """Starts the gate as our child in its own session; its pidfd is the clock."""
        kernel.become_subreaper()
        cwd = self._inside(step.cwd or self._workdir)
        if not os.path.isdir(cwd):
            raise StartFailed(f"the step's directory {step.cwd or self._workdir} does not exist in the environment")
        argv = [self._filled(item) for item in step.argv]
        script = f"cd '{cwd}' || exit 97; " + gate_script(
            self._scratch + "/o", self._scratch + "/e", step.stdin is not None
        )
        env = self._env(step.env)
        env.update({name: secrets[name] for name in step.secret_env if name in secrets})
        read_end, self._gate_in = os.pipe()
        pid = self._spawn(["/bin/sh", "-c", script, "sh", *argv], env, read_end, None, None)
        os.close(read_end)
        found = procs.stat(pid)
        try:
            pidfd = procs.pidfd_open(pid)
        except ProcessLookupError:
            found = None
        if found is None or pidfd is None:
            raise StartFailed("the kernel gives no pidfd for our own child: this machine cannot time a process run")
        return Armed(step, pid, pidfd, "session", {"pid": pid, "start_ticks": found["start_ticks"]})

    def release(self, armed: Armed) -> None:
        """Writes `go` and the prompt, then closes."""
        assert self._gate_in is not None
        fd, self._gate_in = self._gate_in, None
        try:
            os.write(fd, b"go\n")
            if armed.step.stdin is not None:
                prompt = memoryview(armed.step.stdin.encode())
                while prompt:
                    prompt = prompt[os.write(fd, prompt) :]
        except BrokenPipeError:
            pass
        finally:
            os.close(fd)

    def disarm(self, armed: Armed) -> None:
        """Closes the gate's input: it ends with 97 and nothing has run."""
        if self._gate_in is not None:
            os.close(self._gate_in)
            self._gate_in = None
        elif procs.same(armed.pid, armed.saved["start_ticks"]):
            os.kill(armed.pid, signal.SIGKILL)
        self.exit_code(armed, 1.0)

    def program_seen(self, armed: Armed) -> bool:
        """Whether the shell of the gate has been replaced; the gate's own command line holds the gate's text."""
        return procs.gate_gone(armed.pid)

    def exit_code(self, armed: Armed, within_s: float) -> int | None:
        """The code of our own child; unknown (None) when another supervisor had started it."""
        if armed.pidfd is not None:
            select.select([armed.pidfd], [], [], within_s)
        self._reap()
        return self._codes.get(armed.pid)

    def terminate(self, armed: Armed) -> int:
        """TERM to the session's process group."""
        try:
            os.killpg(armed.pid, signal.SIGTERM)
        except (ProcessLookupError, PermissionError):
            return 0
        return 1

    def leftovers(self) -> tuple[list[dict[str, Any]], int]:
        """Our descendants, and whoever still carries this environment's private directory in its environment."""
        self._reap()
        found = {entry["pid"]: entry for entry in procs.descendants(os.getpid())}
        mark = f"={self._root}/home\0".encode()
        for pid in self._beside.pids() if self._beside else ():
            found.pop(pid, None)
        for pid in procs.carrying(mark):
            entry = procs.stat(pid)
            if entry is not None and pid != os.getpid():
                found[pid] = entry
        for pid in self.ours:
            found.pop(pid, None)
        alive = [entry for entry in found.values() if entry["state"] not in "ZX"]
        kept = [{"pid": entry["pid"], "start_ticks": entry["start_ticks"], "comm": entry["comm"]} for entry in alive]
        return kept, len(found) - len(alive)

    def kill_leftovers(self) -> tuple[int, bool]:
        """KILL in rounds until nothing is left; there is no environment to take down."""
        killed: set[int] = set()
        for _ in range(KILL_ROUNDS):
            left, _ = self.leftovers()
            if not left:
                break
            for entry in left:
                try:
                    os.kill(entry["pid"], signal.SIGKILL)
                    killed.add(entry["pid"])
                except (ProcessLookupError, PermissionError):
                    pass
            select.select([], [], [], 0.02)
        self._reap()
        return len(killed), False

    def settle(self, mode: str) -> None:
        """A directory cannot be paused or committed: what the session left was killed, and that has to do."""

    def fresh(self, image: str) -> str:
        """Refused: without containers there is no other environment."""
        raise EngineError("this task is graded in an environment of its own, which takes a container engine")

    def put(self, tar_path: str, dest: str) -> None:
        """Extracts with the system's tar as our own user."""
        target = self._inside(dest)
        os.makedirs(target, mode=0o700, exist_ok=True)
        code, _, err = self._helper(["tar", "-xf", tar_path, "-C", target, "--no-same-owner"], "/", {}, 600)
        if code != 0:
            raise EngineError(f"could not unpack files into {dest}: {err.decode('utf-8', 'replace').strip()[:200]}")

    def remake(self, path: str) -> None:
        """Removes the path, whatever it is, and makes an empty private directory."""
        target = self._inside(path)
        self._helper(["rm", "-rf", "--", target], "/", {}, 60)
        os.makedirs(target, mode=0o700)

    def services(self) -> list[dict[str, Any]]:
        """A spec with services is refused here."""
        return []

    def run(
        self, argv: list[str], cwd: str, env: dict[str, str], timeout_s: float, user: str = "", service: str = ""
    ) -> tuple[int | None, bytes, bytes]:
        """Runs a helper with a clean environment as our own user."""
        filled = [self._filled(item) for item in argv]
        return self._helper(filled, self._inside(cwd), self._env(env), timeout_s)

    def fetch(self, path: str, tar_path: str, cap_bytes: int, service: str = "") -> int:
        """Packs a path of the environment with the system's tar."""
        target = self._inside(path)
        parent, name = os.path.split(target.rstrip("/"))
        if not os.path.lexists(target):
            raise EngineError(f"{path} does not exist in the environment")
        code, _, err = self._helper(["tar", "-cf", tar_path, "-C", parent, "--", name], "/", {}, 600)
        if code != 0:
            raise EngineError(f"could not pack {path}: {err.decode('utf-8', 'replace').strip()[:200]}")
        size = os.path.getsize(tar_path)
        if size > cap_bytes:
            os.unlink(tar_path)
            raise EngineError(f"{path} is {size} bytes, more than the {cap_bytes} that are collected")
        return size

    def read_file(self, path: str, cap_bytes: int) -> bytes | None:
        """The bytes of one regular file, never through a link."""
        try:
            fd = os.open(self._inside(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read(cap_bytes)

    def hand(self, step: Step, place: str, content: bytes) -> None:
        """Writes a private file of our own user."""
        try:
            process_memory.hand(self._inside(place), content)
        except OSError as error:
            raise EngineError(f"a private file could not be written to {place}: {error.strerror}") from None

    def look_at(self, step: Step, place: str, cap_bytes: int, remove: bool) -> bytes | None:
        """What a private file holds now, and its end."""
        try:
            return process_memory.look_at(self._inside(place), cap_bytes, remove)
        except OSError as error:
            raise EngineError(f"the private file {place} could not be removed: {error.strerror}") from None

    def beside(self, verifier: Verifier, blobs: str) -> dict[str, Any]:
        """A directory beside the session's; the verifier runs as our own user, not isolated."""
        beside = process_beside.Beside(self._scratch + "/v", self._helper)
        shared = {place: self._inside(place) for place in self._shared}
        facts = beside.stand(verifier, blobs, shared)
        self._beside = beside
        return facts

    def check(self) -> tuple[int | None, bytes]:
        """One look from beside."""
        assert self._beside is not None
        return self._beside.check()

    def bind(self, spec: RunSpec, capture: Capture) -> None:
        """The private directory beside the capture files, as `prepare` made it."""
        self._place(spec, capture)
        kernel.become_subreaper()
        if not os.path.isdir(self._root):
            raise EngineError(f"the private directory {self._root} of this run is gone")

    def adopt(self, saved: dict[str, Any], step: Step) -> Armed | None:
        """The same process by pid and start time; it is no longer our child, so its exit code stays unknown."""
        if not procs.same(saved["pid"], saved["start_ticks"]):
            return None
        try:
            pidfd = procs.pidfd_open(saved["pid"])
        except ProcessLookupError:
            return None
        return Armed(step, saved["pid"], pidfd, "session", saved) if pidfd is not None else None

    def missed_code(self, saved: dict[str, Any]) -> int | None:
        """Nobody else was told the exit code of our child."""
        return None

    def lost_with_engine(self, saved: dict[str, Any]) -> str | None:
        """There is no engine to go down."""
        return None

    def destroy(self) -> None:
        """Ends what was kept alive for the grader and removes the private directory; the capture files stay."""
        self.kill_leftovers()
        if self._root.endswith("/r"):
            beside = process_beside.Beside(self._scratch + "/v", self._helper)
            beside.end()
            self._helper(["rm", "-rf", "--", self._root, beside.root], "/", {}, 600)
            process_memory.remove(self._scratch)

    def _place(self, spec: RunSpec, capture: Capture) -> None:
        self._scratch = capture.directory
        self._root = capture.directory + "/r"
        self._environment_env = spec.environment.env
        self._shared = spec.environment.shared
        self._workdir = spec.environment.workdir

    def _put_in_memory(self, place: str, number: int) -> None:
        """A link at the place leads to a private directory in memory."""
        link, target = self._inside(place), process_memory.make(self._scratch, number)
        if not os.path.islink(link):
            os.makedirs(os.path.dirname(link), mode=0o755, exist_ok=True)
            if os.path.isdir(link):
                os.rmdir(link)
            os.symlink(target, link)

    def _inside(self, path: str) -> str:
        """Where a path of the environment lies on this machine; never outside the private directory."""
        if path == self._root or path.startswith(self._root + "/"):
            return path
        return (self._root + os.path.normpath("/" + path.replace("{root}", "", 1))).rstrip("/")

    def _filled(self, text: str) -> str:
        """An argument or value that begins with `{root}`, filled in; prompts and others stay as they are."""
        return self._root + text[len("{root}") :] if text.startswith("{root}") else text

    def _env(self, extra: dict[str, str]) -> dict[str, str]:
        env = {"PATH": CLEAN_PATH, "HOME": self._root + "/home", "TMPDIR": self._root + "/tmp", "LANG": "C.UTF-8"}
        for name, value in {**self._environment_env, **extra}.items():
            env[name] = self._filled(value)
        return env

    def _spawn(self, argv: list[str], env: dict[str, str], stdin: int | None, out: int | None, err: int | None) -> int:
        null = os.open("/dev/null", os.O_RDWR)
        actions = [
            (os.POSIX_SPAWN_DUP2, null if fd is None else fd, number)
            for number, fd in enumerate((stdin, out, err))
        ]  # fmt: skip
        try:
            return os.posix_spawnp(argv[0], argv, env, file_actions=actions, setsid=True)
        finally:
            os.close(null)

    def _helper(
        self, argv: list[str], cwd: str, env: dict[str, str], timeout_s: float, prefix: str = "h"
    ) -> tuple[int | None, bytes, bytes]:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        out = os.open(f"{self._scratch}/{prefix}-o", flags, 0o600)
        err = os.open(f"{self._scratch}/{prefix}-e", flags, 0o600)
        shell = ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", cwd, *argv]
        try:
            pid = self._spawn(shell, env or {"PATH": CLEAN_PATH, "LANG": "C.UTF-8"}, None, out, err)
            code = self._await(pid, timeout_s)
            return code, os.pread(out, 1 << 20, 0), os.pread(err, 1 << 20, 0)
        finally:
            os.close(out)
            os.close(err)

    def _await(self, pid: int, timeout_s: float) -> int | None:
        deadline = clock.boottime_ns() + int(timeout_s * 1e9)
        pidfd = procs.pidfd_open(pid)
        ready = select.select([pidfd], [], [], timeout_s)[0] if pidfd is not None else []
        if pidfd is not None:
            os.close(pidfd)
        while not ready and pid not in self._codes and clock.boottime_ns() < deadline:
            self._reap()
            select.select([], [], [], 0.01)
        self._reap()
        if pid in self._codes:
            return self._codes.pop(pid)
        os.killpg(pid, signal.SIGKILL)
        while pid not in self._codes:
            self._reap()
            select.select([], [], [], 0.002)
        self._codes.pop(pid)
        return None

    def _reap(self) -> None:
        """Collects the codes of ended children and adopted orphans, so that no zombie stays."""
        with self._reaping:
            while True:
                try:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    return
                if pid == 0:
                    return
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
                self._codes[pid] = code


def capture_place() -> Capture:
    """A new capture directory with its two files, under a neutral random path (mount tables inside show it)."""
    directory = "/var/tmp/x-" + os.urandom(8).hex()
    os.mkdir(directory, 0o700)
    capture = Capture(directory)
    for path in (capture.out, capture.err):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        os.fchmod(fd, 0o666)
        os.close(fd)
    return capture
