"""What the supervisor asks of an engine: docker (containers) or process (the machine itself)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from remote_agent.spec import RunSpec, Step, Verifier
else:
    Protocol = object


OWNER = "h"
"""File beside the captures that says, without naming it, from which agent home they are."""


class EngineError(Exception):
    """The engine could not do what was asked; the sentence names the engine's address or the image and a remedy."""


class StartFailed(EngineError):
    """The gate did not come up or ended before release: nothing has run, so it may be tried again."""


class Capture:
    """The two capture files of a run: made by the supervisor, 0666, in a random neutral directory (0700)."""

    __slots__ = ("directory", "err", "out")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.out = directory + "/o"
        self.err = directory + "/e"


def owner(capture: Capture) -> str:
    """What stands for the agent home in the capture directory; empty where nothing does."""
    try:
        with open(f"{capture.directory}/{OWNER}") as file:
            return file.read()
    except OSError:
        return ""


class Armed:
    """A gate that waits for its one line, or the session that came of it."""

    __slots__ = ("basis", "event_code", "event_fd", "pid", "pidfd", "read_event", "saved", "step")

    def __init__(self, step: Step, pid: int, pidfd: int | None, basis: str, saved: dict[str, Any]) -> None:
        self.step = step
        self.pid = pid
        """Host pid of the root process, 0 when it is not ours to see."""
        self.pidfd = pidfd
        """Readable at the exit of the root process; None where `event_fd` is the clock."""
        self.basis = basis
        """'session' (pidfd) or 'engine_event' (the engine's exec_die, stamped by us at receipt)."""
        self.saved = saved
        """JSON that `adopt` needs to find the same process again: pid, start_ticks, cgroup, exec id, baseline."""
        self.event_fd: int | None = None
        self.read_event: Callable[[], bool] | None = None
        """Called by the clock thread when `event_fd` is readable; True once the end was read."""
        self.event_code: int | None = None
        """Exit code that came with the event, if one did."""


class Engine(Protocol):
    """One environment on one engine. All methods block; EngineError on failure. Used by one thread only."""

    name: str

    def facts(self) -> dict[str, Any]:
        """Engine version, API version, daemon id, cgroup version, live-restore; empty where it has none."""

    def prepare(self, spec: RunSpec, capture: Capture, blobs: str) -> dict[str, Any]:
        """Makes the environment, or finds the one already made for this attempt; puts in the files; returns facts.

        `blobs` is the directory of tar files named by SHA-256. Never runs anything of the task.
        """

    def arm(self, step: Step, secrets: dict[str, str]) -> Armed:
        """Starts the gate of a step and proves whose pid it is; raises StartFailed when nothing waits."""

    def release(self, armed: Armed) -> None:
        """Writes `go` and the prompt, then closes. The caller has journalled the intent and taken the stamp."""

    def disarm(self, armed: Armed) -> None:
        """Ends a gate that was never released; nothing has run."""

    def program_seen(self, armed: Armed) -> bool:
        """Whether the gate's shell has been replaced by the program (`/proc/PID/comm` changed)."""

    def exit_code(self, armed: Armed, within_s: float) -> int | None:
        """The exit code of the root process, polled for `within_s`; None when it is unknown for ever."""

    def terminate(self, armed: Armed) -> int:
        """TERM to the session's process group; returns how many processes were addressed."""

    def leftovers(self) -> tuple[list[dict[str, Any]], int]:
        """Processes that were not there before arming ({pid, start_ticks, comm}), and zombies counted apart."""

    def kill_leftovers(self) -> tuple[int, bool]:
        """KILLs them in rounds; (how many were killed, whether the environment itself had to go)."""

    def settle(self, mode: str) -> None:
        """After `snapshot`: paused, committed, then `put`, `run`, `fetch` act in a fresh, netless copy."""

    def fresh(self, image: str) -> str:
        """From now on `put`, `run` and `fetch` act in a new, netless environment of `image`, without the session's.

        The image's id.
        """

    def put(self, tar_path: str, dest: str) -> None:
        """Extracts a tar as root under `dest` (made if absent, 0700 root)."""

    def remake(self, path: str) -> None:
        """Removes `path` whatever it is and makes an empty 0700 directory of root there."""

    def run(
        self, argv: list[str], cwd: str, env: dict[str, str], timeout_s: float, user: str = "", service: str = ""
    ) -> tuple[int | None, bytes, bytes]:
        """Runs a helper as root with a clean environment and fixed PATH; (code or None on timeout, stdout, stderr).

        In a service it runs as the image's own user, where it works.
        """

    def services(self) -> list[dict[str, Any]]:
        """How each of the services beside the session is: {name, status, code, oom}."""

    def fetch(self, path: str, tar_path: str, cap_bytes: int, service: str = "") -> int:
        """Copies `path` out as a tar file; returns its bytes; EngineError when absent or over the cap."""

    def read_file(self, path: str, cap_bytes: int) -> bytes | None:
        """The bytes of one regular file inside the environment; None when absent. Links are not followed out."""

    def hand(self, step: Step, place: str, content: bytes) -> None:
        """Writes a private file (0600, the step's user) into memory, never through an argument or a variable."""

    def look_at(self, step: Step, place: str, cap_bytes: int, remove: bool) -> bytes | None:
        """What such a file holds now, and removes it where asked; None when no regular file is there."""

    def beside(self, verifier: Verifier, blobs: str) -> dict[str, Any]:
        """Makes the place a verifier looks from, or finds it; its facts: isolated, subject (address), ..."""

    def check(self) -> tuple[int | None, bytes]:
        """One look of that verifier: (exit code, or None when it took too long; end of its output). May block for its
        timeout; the only method that another thread may call meanwhile."""

    def bind(self, spec: RunSpec, capture: Capture) -> None:
        """Finds the environment that an earlier supervisor made; EngineError when it is gone."""

    def adopt(self, saved: dict[str, Any], step: Step) -> Armed | None:
        """Finds the process of `Armed.saved` in the bound environment; None when that process has ended."""

    def missed_code(self, saved: dict[str, Any]) -> int | None:
        """The exit code of a process that ended while nobody watched; None when nothing knows it any more."""

    def lost_with_engine(self, saved: dict[str, Any]) -> str | None:
        """Why a session that has ended did not end by itself: its environment went down with the engine."""

    def destroy(self) -> None:
        """Removes the environment and whatever `settle` made."""


CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

GATE = 'IFS= read -r g && [ "$g" = go ] && exec "$@" >>{out} 2>>{err}{stdin}; exit 97'
"""Any end of input or other line ends the gate with 97 and nothing has run."""


def gate_script(out: str, err: str, prompt_on_stdin: bool) -> str:
    """The shell text of a gate that appends to `out` and `err` (plain paths without quotes or spaces)."""
    return GATE.format(out=out, err=err, stdin="" if prompt_on_stdin else " </dev/null")
