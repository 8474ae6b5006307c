"""The engine `docker`: a run's container, its gated steps and its end, over the engine's unix socket."""

from __future__ import annotations

import os
import threading
import time

from remote_agent import (
    cgroups,
    clock,
    docker_beside,
    docker_container,
    docker_exec,
    docker_gate,
    docker_memory,
    docker_services,
    docker_shape,
    docker_shared,
    procs,
)
from remote_agent.docker_acting import ROOT, Acting
from remote_agent.docker_event import EndWatch, replayed_code
from remote_agent.docker_files import Files
from remote_agent.docker_http import Api
from remote_agent.docker_kill import Tree, Unlisted
from remote_agent.docker_shape import in_container
from remote_agent.engine import Armed, EngineError, StartFailed, gate_script, owner
from remote_agent.spec import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.engine import Capture
    from remote_agent.spec import RunSpec, Step, Verifier

_BEFORE_NS = 2 * 10**9


class DockerEngine(Acting):
    """One attempt's container on the engine at `socket_path`. Every method may be called again after a crash."""

    name = "docker"

    def __init__(self, socket_path: str, attempt: str) -> None:
        super().__init__(Api(socket_path), attempt)
        self._daemon = ""
        self._image_user = ""
        self._home = ""
        self._beside = docker_beside.Beside(self.api, attempt)
        self._gates: dict[str, docker_gate.Gate] = {}
        self._watches: dict[str, EndWatch] = {}
        self._users = [ROOT]
        """Who may have started processes inside: an exec as root lacks the right to kill where it was dropped."""

    def facts(self) -> dict[str, Any]:
        """Engine and API version, daemon id, control groups, live-restore."""
        version, info = self.api.call("GET", "/version"), self.api.call("GET", "/info")
        self._daemon = info.get("ID") or ""
        return {
            "isolated": True,
            "engine_version": version.get("Version"),
            "api_version": self.api.version(),
            "daemon_id": self._daemon,
            "cgroup_version": info.get("CgroupVersion") or "1",
            "cgroup_driver": info.get("CgroupDriver"),
            "live_restore": bool(info.get("LiveRestoreEnabled")),
        }

    def prepare(self, spec: RunSpec, capture: Capture, blobs: str) -> dict[str, Any]:
        """Creates, fills and starts the container, or finds the one of this attempt and goes on from where it is."""
        facts = self.facts()
        image = docker_container.image(self.api, spec.environment.image)
        container = docker_container.labelled(self.api, self._attempt)
        self._image_user = (image.get("Config") or {}).get("User") or ""
        user = self._user(spec, spec.steps[0])
        around, home = spec.environment, owner(capture)
        own = around.network in OWN
        network = docker_beside.network(self.api, self._attempt, home, around.network) if own else ""
        services = docker_services.stand(self.api, around, self._attempt, network, blobs, home)
        if container is None:
            memory = docker_memory.mounts(self.api, image["Id"], self._attempt, around.tmpfs, user)
            wanted = docker_shared.places(around.shared, False) + around.volumes
            shared = docker_shared.mounts(self.api, self._attempt, home, wanted)
            body = docker_shape.body(spec, image["Id"], self._attempt, capture, memory, network, shared)
            container = docker_container.create(self.api, f"x-{self._attempt}", body)
        if docker_container.status(self.api, container) == "created":
            files = Files(self.api, container)
            for placed in around.files:
                if not around.in_memory(placed.dest):
                    files.put(f"{blobs}/{placed.blob}", in_container(placed.dest), 0o755)
        self._home = home
        self._take(spec, container)
        for placed in around.files:
            if around.in_memory(placed.dest):
                docker_memory.unpack(self._inside, f"{blobs}/{placed.blob}", in_container(placed.dest), user)
        digests = image.get("RepoDigests") or []
        return {
            **facts,
            "container": container,
            "image": around.image,
            "image_id": image["Id"],
            "image_digest": digests[0] if digests else None,
            "network": around.network,
            "limits": docker_shape.limits(around),
            **({"services": services} if services else {}),
        }

    def bind(self, spec: RunSpec, capture: Capture) -> None:
        """Finds the container that an earlier supervisor made, and the copy if it was settled into one."""
        self.facts()
        container = docker_container.labelled(self.api, self._attempt)
        if container is None:
            raise EngineError(f"the container of this run is no longer on the engine at {self.api.path}")
        self._home = owner(capture)
        self._take(spec, container)
        copy = docker_container.labelled(self.api, self._copy)
        if copy is not None:
            self._act_in(copy)
        fresh = docker_container.labelled(self.api, self._fresh)
        if fresh is not None:
            self._apart = fresh
            self._act_in(fresh)

    def arm(self, step: Step, secrets: dict[str, str]) -> Armed:
        """Starts the gate and proves whose pid it is; where that cannot be, the engine's event is the clock.

        Whatever goes wrong on the way closes the gate, so nothing has run: StartFailed.
        """
        try:
            return self._arm(step, secrets)
        except StartFailed:
            raise
        except EngineError as error:
            raise StartFailed(str(error)) from None

    def _arm(self, step: Step, secrets: dict[str, str]) -> Armed:
        assert self._spec is not None
        environment = self._spec.environment
        user = self._user(self._spec, step)
        env = {name: in_container(value) for name, value in {**environment.env, **step.env}.items()}
        env.update({name: secrets[name] for name in step.secret_env if name in secrets})
        script = gate_script(docker_shape.OUT, docker_shape.ERR, step.stdin is not None)
        argv = ["/bin/sh", "-c", script, "sh", *map(in_container, step.argv)]
        saved: dict[str, Any] = {
            "pid": 0, "start_ticks": 0, "group_inside": 0, "container": self.container, "daemon": self._daemon,
            "user": user, "armed_utc_ns": clock.now().t_utc_ns,
            "baseline": sorted([entry["pid"], entry["start_ticks"]] for entry in self._tree().entries()),
        }  # fmt: skip
        cwd = in_container(step.cwd or environment.workdir) or "/"
        gate = docker_gate.start(self.api, self.container, argv, user, cwd, env)
        saved["exec"] = gate.exec_id
        self._gates[gate.exec_id] = gate
        self._know(user)
        try:
            pidfd = gate.prove(self.container)
            if pidfd is None:
                return self._armed_by_event(step, gate, saved)
            found, inside = procs.stat(gate.pid), cgroups.inside(gate.pid)
            if found is None or inside is None:
                os.close(pidfd)
                raise gate.failed(None)
            saved.update(pid=gate.pid, start_ticks=found["start_ticks"], group_inside=inside)
            return Armed(step, gate.pid, pidfd, "session", saved)
        except EngineError:
            self._forget(gate.exec_id)
            raise

    def release(self, armed: Armed) -> None:
        """Writes `go` and the prompt, half-closes and closes. A prompt the program is slow to read goes by thread."""
        exec_id = armed.saved["exec"]
        gate = self._gates.get(exec_id)
        if gate is None:
            raise EngineError("this gate was armed by another supervisor and cannot be released")
        if armed.pidfd is not None and docker_gate.ready(armed.pidfd):
            self._forget(exec_id)
            raise StartFailed("the gate ended before the release; nothing has run")
        prompt = (armed.step.stdin or "").encode("utf-8", "surrogateescape")
        try:
            rest = gate.send(b"go\n" + prompt)
            if not rest:
                gate.finish()
                del self._gates[exec_id]
                return
        except OSError as error:
            raise EngineError(f"the engine at {self.api.path} lost the gate at the release: {error}") from None
        threading.Thread(target=gate.send_rest, args=(rest,), daemon=True).start()

    def disarm(self, armed: Armed) -> None:
        """Closes the gate; one that an engine's restart left without an end of input is killed."""
        saved = armed.saved
        self._forget(saved["exec"])
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline and not docker_exec.ended(docker_exec.inspect(self.api, saved["exec"])):
            time.sleep(docker_exec.POLL_S)
        self._tree().kill(_baseline(saved), self._users)

    def program_seen(self, armed: Armed) -> bool:
        """Whether the gate's shell has been replaced by the program; False where its pid is not ours to see."""
        return bool(armed.pid) and procs.gate_gone(armed.pid)

    def exit_code(self, armed: Armed, within_s: float) -> int | None:
        """From inspect (it lags the pidfd by milliseconds), else from the event, else None."""
        exec_id = armed.saved["exec"]
        deadline = time.monotonic() + within_s
        code = armed.event_code
        while code is None:
            told = docker_exec.inspect(self.api, exec_id)
            if told is None or time.monotonic() >= deadline:
                break
            if docker_exec.ended(told):
                code = int(told["ExitCode"])
            else:
                time.sleep(docker_exec.POLL_S)
        self._forget(exec_id)
        return code if code is not None else self._replayed(armed.saved)

    def missed_code(self, saved: dict[str, Any]) -> int | None:
        """What the engine still knows of a step that ended while nobody watched; None when it forgot."""
        told = docker_exec.inspect(self.api, saved["exec"])
        if told is not None and docker_exec.ended(told):
            return int(told["ExitCode"])
        return self._replayed(saved)

    def terminate(self, armed: Armed) -> int:
        """TERM to the session's process group, or one by one where its number is not known; how many were told."""
        saved, tree = armed.saved, self._tree()
        if saved["group_inside"]:
            return tree.terminate_group(armed.pid, saved["group_inside"], saved["user"])
        return tree.terminate(_baseline(saved), self._users)

    def leftovers(self) -> tuple[list[dict[str, Any]], int]:
        """Living processes that are not the container's own, and zombies counted apart."""
        if docker_container.status(self.api, self.container) not in ("running", "paused"):
            return [], 0
        tree = self._tree()
        try:
            alive, zombies = tree.beyond(tree.idle), tree.zombies()
        except Unlisted:
            return [{"pid": 0, "start_ticks": 0, "comm": "unknown"}], 0
        return [{key: entry[key] for key in ("pid", "start_ticks", "comm")} for entry in alive], zombies

    def kill_leftovers(self) -> tuple[int, bool]:
        """KILLs them in rounds; as the last resort the container, which is started again with its files."""
        if docker_container.status(self.api, self.container) not in ("running", "paused"):
            self._restart(self.container)
            return 0, True
        tree = self._tree()
        count, clear = tree.kill(tree.idle, self._users)
        if not clear:
            self._restart(self.container)
        return count, not clear

    def adopt(self, saved: dict[str, Any], step: Step) -> Armed | None:
        """Finds the process of `saved` by container, pid, start time and control group; None when it has ended."""
        if saved["container"] != self.container or saved["daemon"] != self._daemon:
            return None
        self._know(saved["user"])
        pid, ticks = saved["pid"], saved["start_ticks"]
        if not pid:
            return self._adopt_by_event(step, saved)
        if not procs.same(pid, ticks) or not cgroups.names(pid, self.container):
            return None
        try:
            pidfd = procs.pidfd_open(pid)
        except ProcessLookupError:
            return None
        if pidfd is None:
            return self._adopt_by_event(step, saved)
        if not procs.same(pid, ticks):
            os.close(pidfd)
            return None
        return Armed(step, pid, pidfd, "session", saved)

    def lost_with_engine(self, saved: dict[str, Any]) -> str | None:
        """A container that is down and whose exec is forgotten: only a restart of the engine forgets it at once."""
        if docker_container.status(self.api, self.container) in ("running", "paused"):
            return None
        if docker_exec.inspect(self.api, saved["exec"]) is not None:
            return None
        return "the container went down when the engine was restarted; live-restore would have kept it"

    def destroy(self) -> None:
        """Removes the container, those of its door and services, its copy with its image, the fresh one that graded."""
        for exec_id in [*self._gates, *self._watches]:
            self._forget(exec_id)
        for label in (self._copy, self._fresh, self._attempt + docker_shape.DOOR, self._attempt):
            docker_container.remove(self.api, label)
        self._beside.remove()
        docker_services.remove(self.api, self._attempt)
        for network in docker_beside.networks(self.api, f"{docker_shape.LABEL}={self._attempt}"):
            docker_beside.remove_network(self.api, network["Id"])
        for volume in docker_shared.volumes(self.api, f"{docker_shape.LABEL}={self._attempt}"):
            docker_shared.remove(self.api, volume["Name"])
        self._trees.clear()

    def _take(self, spec: RunSpec, container: str) -> None:
        self._spec = spec
        self.container = container
        image = docker_container.inspect(self.api, container)["Image"]
        self._image_user = (docker_container.image(self.api, image).get("Config") or {}).get("User") or ""
        self._act_in(container)

    def hand(self, step: Step, place: str, content: bytes) -> None:
        """Writes a private file of the step's user; the content travels on an exec's standard input only."""
        assert self._spec is not None
        docker_memory.hand(self._inside, in_container(place), content, self._user(self._spec, step))

    def look_at(self, step: Step, place: str, cap_bytes: int, remove: bool) -> bytes | None:
        """What a private file holds now, and its end; None when it is no file any more."""
        assert self._spec is not None
        if docker_container.status(self.api, self.container) != "running":
            return None  # memory does not outlive the container
        return docker_memory.look_at(self._inside, in_container(place), cap_bytes, remove, self._user(self._spec, step))

    def beside(self, verifier: Verifier, blobs: str) -> dict[str, Any]:
        """A container on the run's own network, bounded and labelled as ours."""
        assert self._spec is not None
        environment = self._spec.environment
        network = docker_beside.network(self.api, self._attempt, self._home)
        image = verifier.image or environment.image
        wanted = docker_shared.places(environment.shared, True)
        shared = docker_shared.mounts(self.api, self._attempt, self._home, wanted)
        return self._beside.stand(verifier, image, self.container, network, blobs, self._home, shared)

    def check(self) -> tuple[int | None, bytes]:
        """One look from beside; touches nothing that another thread uses."""
        return self._beside.check()

    def _inside(self, argv: list[str], user: str, data: bytes) -> tuple[int | None, bytes, bytes]:
        return self._helper(self.container, argv, "/", {}, docker_memory.TIMEOUT_S, user, data)

    def _user(self, spec: RunSpec, step: Step) -> str:
        return step.user or spec.environment.user or self._image_user or ROOT

    def _tree(self) -> Tree:
        return self._trees[self.container]

    def _know(self, user: str) -> None:
        if user not in self._users:
            self._users.insert(0, user)

    def _armed_by_event(self, step: Step, gate: docker_gate.Gate, saved: dict[str, Any]) -> Armed:
        armed = Armed(step, 0, None, "engine_event", saved)
        self._watch(armed)
        gate.must_wait()
        return armed

    def _adopt_by_event(self, step: Step, saved: dict[str, Any]) -> Armed | None:
        """An exec that a restarted engine has forgotten is taken to live while anything new lives."""
        armed = Armed(step, 0, None, "engine_event", saved)
        told = docker_exec.inspect(self.api, saved["exec"])
        self._watch(armed, known=told is not None)
        if told is None:
            over = not self._tree().beyond(_baseline(saved))
        else:
            over = docker_exec.ended(docker_exec.inspect(self.api, saved["exec"]))
        if over:
            self._forget(saved["exec"])
            return None
        return armed

    def _watch(self, armed: Armed, known: bool = True) -> None:
        saved = armed.saved

        def alive() -> bool:
            return bool(self._tree().beyond(_baseline(saved)))

        since_ns = saved["armed_utc_ns"] - _BEFORE_NS
        watch = EndWatch(self.api, self.container, saved["exec"], since_ns, alive, known)
        self._watches[saved["exec"]] = watch
        watch.attach(armed)

    def _forget(self, exec_id: str) -> None:
        """Gives back what was held for a step: the gate's connection, the event stream."""
        gate, watch = self._gates.pop(exec_id, None), self._watches.pop(exec_id, None)
        if gate is not None:
            gate.close()
        if watch is not None:
            watch.close()

    def _replayed(self, saved: dict[str, Any]) -> int | None:
        since_ns = saved["armed_utc_ns"] - _BEFORE_NS
        return replayed_code(self.api, self.container, saved["exec"], since_ns, clock.now().t_utc_ns)


def _baseline(saved: dict[str, Any]) -> set[tuple[int, int]]:
    """(pid, start_ticks) of what was there before the step was armed."""
    return {(pid, ticks) for pid, ticks in saved["baseline"]}
