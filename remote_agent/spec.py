"""What a machine is asked to run: environment, ordered steps, settle, collect, grade. Knows no study and no CLI.

An element of `argv` or a value of `env` that begins with `{root}` names a place in the environment: the prefix is
empty in a container and a private directory under the process engine. Paths (`cwd`, `dest`, `collect`, `reward`)
are always places in the environment.
"""

from __future__ import annotations

from remote_agent.spec_parts import MAIN, Placed, SpecError, services, volumes
from remote_agent.spec_parts import take as _take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
SETTLES = ("stop", "snapshot", "keep")
ENGINES = ("docker", "process")
DOOR_WAYS = ("auto", "netns", "sidecar")
OWN = ("own", "own-public")
"""Networks of the run's own: without any way out, and with one."""

__all__ = ["Door", "Environment", "Grade", "Placed", "RunSpec", "Setup", "SpecError", "Step", "Verifier", "is_below"]


class Setup:
    """What runs in the environment as its administrator before anything is timed; its files are gone afterwards."""

    __slots__ = ("argv", "cwd", "files", "timeout_ms")

    def __init__(self, raw: dict[str, Any]) -> None:
        w = "environment.setup"
        self.files = [Placed(item, f"{w}.files") for item in _take(raw, "files", list, w, [])]
        self.argv: list[str] = _take(raw, "argv", list, w)
        self.cwd: str = _take(raw, "cwd", str, w, "/")
        self.timeout_ms: int = _take(raw, "timeout_ms", int, w, 600_000)


class Door:
    """The one way out of an environment without a network: a listener of ours that carries what it is told and no more.

    With `upstream` it speaks HTTP for one model endpoint and adds the key of `secret` in `header`; with `allow` it
    is a proxy that connects to those hosts (`name` or `name:port`) and no others. With both it tells by the request:
    a tunnel or a whole address is for a proxy and never gets the key, a path is for the model.
    """

    __slots__ = ("allow", "header", "how", "port", "secret", "socket_dir", "upstream")

    def __init__(self, raw: dict[str, Any]) -> None:
        w = "environment.door"
        self.upstream: str = _take(raw, "upstream", str, w, "")
        """Base URL of the model endpoint, http or https; the path that is asked for follows it."""
        self.secret: str = _take(raw, "secret", str, w, "")
        """Name of the secret whose value goes out in `header`; empty: what the session sends goes out as it is."""
        self.header: str = _take(raw, "header", str, w, "authorization: Bearer ")
        """Header name and the text before the key."""
        self.allow: list[str] = _take(raw, "allow", list, w, [])
        self.port: int = _take(raw, "port", int, w, 0)
        """Port on 127.0.0.1 inside; 0: none."""
        self.socket_dir: str = _take(raw, "socket_dir", str, w, "")
        """Directory inside that holds the unix socket `model.sock`; empty: none."""
        self.how: str = _take(raw, "how", str, w, "auto")
        """How the port gets inside: netns (needs root), sidecar, or auto: netns for root, failing that sidecar."""
        if not self.upstream and not self.allow:
            raise SpecError(f"{w} needs upstream or allow")
        if not self.port and not self.socket_dir:
            raise SpecError(f"{w} needs port or socket_dir")
        if not 0 <= self.port < 65536:
            raise SpecError(f"{w}.port {self.port} is not a port")
        if self.socket_dir and not self.socket_dir.startswith("/"):
            raise SpecError(f"{w}.socket_dir {self.socket_dir!r} is not an absolute path")
        if self.how not in DOOR_WAYS:
            raise SpecError(f"{w}.how {self.how!r} is not one of {', '.join(DOOR_WAYS)}")


class Environment:
    """An image (docker) or a private directory (process), with its limits."""

    __slots__ = (
        "cap_drop", "cpus", "door", "env", "files", "image", "memory_bytes", "mounts", "network", "no_new_privileges",
        "pids", "services", "setup", "shared", "tmpfs", "user", "volumes", "workdir",
    )  # fmt: skip

    def __init__(self, raw: dict[str, Any]) -> None:
        w = "environment"
        self.image: str = _take(raw, "image", str, w, "")
        self.user: str = _take(raw, "user", str, w, "")
        self.workdir: str = _take(raw, "workdir", str, w, "/")
        self.env: dict[str, str] = _take(raw, "env", dict, w, {})
        self.files = [Placed(item, f"{w}.files") for item in _take(raw, "files", list, w, [])]
        self.mounts: list[dict[str, Any]] = _take(raw, "mounts", list, w, [])
        """Read-only host paths: {source, target}."""
        self.tmpfs: list[str] = _take(raw, "tmpfs", list, w, [])
        """Memory-backed directories, owned by the user of the session; never captured."""
        self.shared: list[str] = _take(raw, "shared", list, w, [])
        """Directories that a verifier beside the session reads at the same place."""
        self.services = services(raw, w)
        """Containers beside the session's, in the order in which they start and are waited for."""
        self.volumes = volumes(raw, w)
        door = _take(raw, "door", (dict, type(None)), w, None)
        self.door = Door(door) if door is not None else None
        self.network: str = _take(raw, "network", str, w, "none")
        if self.door is not None and self.network == "host":
            raise SpecError(f"{w}.door needs a network of the environment's own, not that of the host")
        self.cpus: float = float(_take(raw, "cpus", (int, float), w, 0))
        self.memory_bytes: int = _take(raw, "memory_bytes", int, w, 0)
        self.pids: int = _take(raw, "pids", int, w, 4096)
        self.cap_drop: list[str] = _take(raw, "cap_drop", list, w, [])
        self.no_new_privileges: bool = _take(raw, "no_new_privileges", bool, w, False)
        setup = _take(raw, "setup", (dict, type(None)), w, None)
        self.setup = Setup(setup) if setup is not None else None

    def in_memory(self, dest: str) -> bool:
        """Whether a place is one of the memory-backed directories or below one."""
        return any(is_below(dest.rstrip("/") + "/x", top) for top in self.tmpfs)


class Verifier:
    """A check that is repeated beside a step from a place of its own: exit code 0 is success, the first seen counts.

    It polls from the release on and once more after the last step; it never ends a step.
    """

    __slots__ = ("argv", "cwd", "env", "files", "image", "interval_ms", "timeout_ms")

    def __init__(self, raw: dict[str, Any], where: str) -> None:
        w = f"{where}.verifier"
        self.files = [Placed(item, f"{w}.files") for item in _take(raw, "files", list, w, [])]
        self.argv: list[str] = _take(raw, "argv", list, w)
        self.cwd: str = _take(raw, "cwd", str, w, "/")
        self.env: dict[str, str] = _take(raw, "env", dict, w, {})
        self.image: str = _take(raw, "image", str, w, "")
        """Image of the container it runs in; empty: that of the session."""
        self.interval_ms: int = _take(raw, "interval_ms", int, w, 2000)
        self.timeout_ms: int = _take(raw, "timeout_ms", int, w, 30_000)
        """Of one poll; a poll that does not end in time is a failing one."""


class Before:
    """What is put in and run, as an ordinary user, before a step; when it fails, the step is not begun."""

    __slots__ = ("argv", "cwd", "files", "timeout_ms", "user")

    def __init__(self, raw: dict[str, Any], where: str) -> None:
        w = f"{where}.before"
        self.files = [Placed(item, f"{w}.files") for item in _take(raw, "files", list, w, [])]
        self.argv: list[str] = _take(raw, "argv", list, w, [])
        """Empty: nothing is run."""
        self.cwd: str = _take(raw, "cwd", str, w, "/")
        self.user: str = _take(raw, "user", str, w, "")
        self.timeout_ms: int = _take(raw, "timeout_ms", int, w, 600_000)


class Step:
    """One command of a run, gated and, when `timed`, measured."""

    __slots__ = (
        "after_success", "argv", "before", "cutoff_ms", "cwd", "env", "grace_ms", "grade", "name", "requested_ms",
        "result", "seal", "secret_env", "secret_files", "stdin", "timed", "user", "verifier",
    )  # fmt: skip

    def __init__(self, raw: dict[str, Any], where: str) -> None:
        self.name: str = _take(raw, "name", str, where)
        self.argv: list[str] = _take(raw, "argv", list, where)
        self.env: dict[str, str] = _take(raw, "env", dict, where, {})
        self.secret_env: list[str] = _take(raw, "secret_env", list, where, [])
        """Names of variables whose values came on the supervisor's stdin."""
        self.cwd: str = _take(raw, "cwd", str, where, "")
        self.user: str = _take(raw, "user", str, where, "")
        self.stdin: str | None = _take(raw, "stdin", (str, type(None)), where, None)
        """The prompt delivered on stdin after the release, or None for an empty stdin."""
        self.timed: bool = _take(raw, "timed", bool, where, True)
        self.requested_ms: int | None = _take(raw, "requested_ms", (int, type(None)), where, None)
        self.cutoff_ms: int | None = _take(raw, "cutoff_ms", (int, type(None)), where, None)
        self.grace_ms: int = _take(raw, "grace_ms", int, where, 5000)
        """From TERM to KILL."""
        self.result: dict[str, Any] | None = _take(raw, "result", (dict, type(None)), where, None)
        """Top-level keys and values of the JSON line by which this CLI says it is done."""
        self.after_success: bool = _take(raw, "after_success", bool, where, False)
        """Not begun unless the step before ended by itself with code 0; the run then goes on to its aftermath."""
        self.secret_files: dict[str, str] = _take(raw, "secret_files", dict, where, {})
        """Name of a secret -> place of the file (0600, the step's user) that holds its value while the step runs.

        The place must lie below one of `environment.tmpfs`; whether it changed meanwhile is recorded, its content
        never.
        """
        self.seal: dict[str, Any] | None = _take(raw, "seal", (dict, type(None)), where, None)
        """What is sealed of this step's output before the next step is armed: {match, path, label}. The last line
        whose JSON has the keys and values of `match` (nested) gives the text at `path` (keys and list positions, as a
        list or joined by dots); without `match` the text is all of the output. The last number that follows `label`
        and "=" in it is the value, null where there is none."""
        before = _take(raw, "before", (dict, type(None)), where, None)
        self.before = Before(before, where) if before is not None else None
        grade = _take(raw, "grade", (dict, type(None)), where, None)
        self.grade = Grade(grade, f"{where}.grade") if grade is not None else None
        """Judges what this step left, before the next one; without a score the steps after it do not begin."""
        verifier = _take(raw, "verifier", (dict, type(None)), where, None)
        self.verifier = Verifier(verifier, where) if verifier is not None else None
        if not self.argv or not all(isinstance(item, str) for item in self.argv):
            raise SpecError(f"{where}.argv must be a list of strings with at least one element")
        if self.seal is not None and not isinstance(self.seal.get("label", ""), str):
            raise SpecError(f"{where}.seal.label must be text")


class Grade:
    """How the session's leftovers are judged; tests enter the environment only after the settle."""

    __slots__ = ("argv", "artifacts", "collect", "combine", "cwd", "env", "files", "image", "least", "reward",
                 "session", "timeout_ms")  # fmt: skip

    def __init__(self, raw: dict[str, Any], w: str = "grade") -> None:
        self.files = [Placed(item, f"{w}.files") for item in _take(raw, "files", list, w, [])]
        self.argv: list[str] = _take(raw, "argv", list, w)
        self.cwd: str = _take(raw, "cwd", str, w, "/")
        self.env: dict[str, str] = _take(raw, "env", dict, w, {})
        self.timeout_ms: int = _take(raw, "timeout_ms", int, w, 600_000)
        self.reward: str = _take(raw, "reward", str, w, "/logs/verifier")
        """Directory made after the settle in which the grader leaves reward.json or reward.txt."""
        self.image: str = _take(raw, "image", str, w, "")
        """Image of a fresh container to grade in; empty: where the session was."""
        self.collect = _each(raw, "collect", "command", {"service": "", "timeout_ms": 600_000, "user": ""})
        """Shell commands that run where the session was or in a service, so that the artifacts exist: a text, or
        {command, service, timeout_ms, user}; the user is root, in a service that of its image."""
        self.artifacts = _each(raw, "artifacts", "path", {"service": "", "exclude": []})
        """Absolute paths that are taken from there into the fresh container, at the same place: a text, or {path,
        service, exclude}; what matches a pattern of `exclude` is left out by the tar of the image."""
        self.session: dict[str, Any] | None = _take(raw, "session", (dict, type(None)), w, None)
        """Where the session's own output is put for the grader: {dir, match, path}, the last two as in Step.seal."""
        if self.session is not None and not str(self.session.get("dir", "")).startswith("/"):
            raise SpecError(f"{w}.session.dir must be an absolute path")
        self.least: dict[str, float] = _take(raw, "least", dict, w, {})
        """Of a step: key of its reward -> the number below which the steps after it do not begin."""
        self.combine: str = _take(raw, "combine", str, w, "")
        """Of a step: how the reader makes one grade of those of all steps; recorded as it is."""


class RunSpec:
    """The whole of one attempt, as `spec.json` in the run directory holds it."""

    __slots__ = ("collect", "cutoff_ms", "engine", "environment", "grade", "hold", "id", "keep_environment", "origin",
                 "raw", "settle", "steps")  # fmt: skip

    def __init__(self, raw: dict[str, Any]) -> None:
        if raw.get("schema") != SCHEMA:
            raise SpecError(f"run spec has schema {raw.get('schema')!r}; this agent reads {SCHEMA}")
        self.raw = raw
        self.id: str = _take(raw, "id", str, "spec")
        self.origin: dict[str, Any] = _take(raw, "origin", dict, "spec", {})
        """What rebuilds the campaign: plan hash, cell, agent configuration, request, prompt hash. Not read here."""
        self.engine: str = _take(raw, "engine", str, "spec")
        self.environment = Environment(_take(raw, "environment", dict, "spec"))
        self.steps = [Step(item, f"steps[{n}]") for n, item in enumerate(_take(raw, "steps", list, "spec"))]
        self.settle: str = _take(raw, "settle", str, "spec", "stop")
        self.collect: list[str] = _take(raw, "collect", list, "spec", [])
        """Absolute paths inside the environment that are copied out after the settle."""
        grade = _take(raw, "grade", (dict, type(None)), "spec", None)
        self.grade = Grade(grade) if grade is not None else None
        self.cutoff_ms: int | None = _take(raw, "cutoff_ms", (int, type(None)), "spec", None)
        """Of all timed steps together: each has what those before it left of it."""
        self.hold: dict[str, Any] | None = _take(raw, "hold", (dict, type(None)), "spec", None)
        """{key}: the environment is kept after the aftermath until the grader left a number under `key`, or an
        operator lets it go; needs settle "keep"."""
        self.keep_environment: bool = _take(raw, "keep_environment", bool, "spec", False)
        if not self.id or not self.id.isalnum():
            raise SpecError(f"spec.id {self.id!r} must be letters and digits only")
        if self.engine not in ENGINES:
            raise SpecError(f"spec.engine {self.engine!r} is not one of {', '.join(ENGINES)}")
        if self.settle not in SETTLES:
            raise SpecError(f"spec.settle {self.settle!r} is not one of {', '.join(SETTLES)}")
        if self.hold is not None and self.settle != "keep":
            raise SpecError(f'spec.hold needs spec.settle "keep", not {self.settle!r}: what is held must live')
        if not self.steps:
            raise SpecError("spec.steps is empty: there is nothing to run")
        self._check_steps()
        self._check_services()

    def placed(self) -> list[Placed]:
        """Every blob that the run needs on its machine."""
        setup, grade = self.environment.setup, self.grade
        beside = [step.verifier.files for step in self.steps if step.verifier]
        beside += [one.files for step in self.steps for one in (step.before, step.grade) if one]
        beside += [service.files for service in self.environment.services]
        more = [setup.files if setup else [], grade.files if grade else [], *beside]
        return [*self.environment.files, *(one for files in more for one in files)]

    def verified(self) -> Step | None:
        """The step that has a verifier beside it."""
        return next((step for step in self.steps if step.verifier is not None), None)

    def _check_steps(self) -> None:
        names = [step.name for step in self.steps]
        if len(set(names)) < len(names):
            raise SpecError("spec.steps has two steps of one name: their records could not be told apart")
        for number, step in enumerate(self.steps):
            for place in step.secret_files.values():
                if not any(is_below(place, top) for top in self.environment.tmpfs):
                    raise SpecError(f"steps[{number}].secret_files: {place} does not lie below environment.tmpfs")
        if sum(step.verifier is not None for step in self.steps) > 1:
            raise SpecError("spec.steps has more than one verifier")
        if self.grade is not None and any(step.grade for step in self.steps):
            raise SpecError("spec.grade and the grades of steps exclude each other")
        for step in self.steps:
            if step.grade is not None and (step.grade.image or step.grade.session):
                raise SpecError(f"step {step.name} can only be graded where the session was, by what it left there")
        if self.verified() and self.engine == "docker" and self.environment.network not in OWN:
            raise SpecError('a step with a verifier needs environment.network = "own": it looks from beside')

    def _check_services(self) -> None:
        """They need containers and a network of the run's own, which a copy of the session's does not have."""
        around, grade = self.environment, self.grade
        if (around.services or around.volumes) and self.engine != "docker":
            raise SpecError(f'environment.services and volumes need engine "docker", not {self.engine!r}')
        if around.services and around.network not in OWN:
            raise SpecError(f"environment.services need environment.network {' or '.join(OWN)}")
        if (around.services or around.volumes) and self.settle == "snapshot":
            raise SpecError(
                'environment.services and volumes are not in a "snapshot": spec.settle must be stop or keep'
            )
        names = ["", *(one.name for one in around.services)]
        for one in [*grade.collect, *grade.artifacts] if grade else []:
            if one["service"] not in names:
                raise SpecError(f"grade names service {one['service']!r}, which environment.services does not have")


def is_below(path: str, top: str) -> bool:
    """Whether an absolute path without `.` and `..` lies below `top` (not `top` itself)."""
    path, top = path.replace("{root}", "", 1), top.replace("{root}", "", 1).rstrip("/") + "/"
    return path.startswith(top) and not {"", ".", ".."} & set(path[len(top) :].split("/"))


def _each(raw: dict[str, Any], key: str, only: str, more: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of `grade.KEY`, each with all its keys; a text is the one that must be there."""
    w, made = f"grade.{key}", []
    for item in _take(raw, key, list, "grade", []):
        full = {only: item} if isinstance(item, str) else item
        one = {only: _take(full, only, str, w), **{name: _take(full, name, type(v), w, v) for name, v in more.items()}}
        one["service"] = "" if one["service"] == MAIN else one["service"]
        made.append(one)
    return made
