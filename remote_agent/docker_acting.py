"""What a run's containers are acted in with: the session's own, its copy after a snapshot, a fresh one that grades."""

from __future__ import annotations

from remote_agent import docker_container, docker_exec, docker_services, docker_shape
from remote_agent.docker_files import Files
from remote_agent.docker_http import query
from remote_agent.docker_kill import Tree
from remote_agent.docker_shape import in_container
from remote_agent.engine import CLEAN_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.docker_http import Api
    from remote_agent.spec import RunSpec

ROOT = "0:0"


class Acting:
    """The half of the docker engine that starts nothing of the task's own."""

    def __init__(self, api: Api, attempt: str) -> None:
        self.api = api
        self._attempt = attempt
        self._copy = attempt + "-c"
        self._fresh = attempt + "-f"
        self.container = ""
        """Full id of the container the session runs in."""
        self._acting = ""
        """Full id of the container that `put`, `run` and `fetch` act in: the same, or its copy after a snapshot."""
        self._apart = ""
        """Full id of the fresh container that grades; empty while there is none."""
        self._spec: RunSpec | None = None
        self._trees: dict[str, Tree] = {}

    def networked(self) -> tuple[str, str, int]:
        """The attempt, its container and the pid of the container's init: whose network a door is placed in."""
        return self._attempt, self.container, self._trees[self.container].init_pid

    def settle(self, mode: str) -> None:
        """`snapshot`: pauses, commits, and acts from now on in a fresh copy without network or capture."""
        if mode != "snapshot":
            return
        assert self._spec is not None
        copy = docker_container.labelled(self.api, self._copy)
        if copy is None:
            if docker_container.status(self.api, self.container) == "running":
                self.api.call("POST", f"/containers/{self.container}/pause")
            path = "/commit" + query(container=self.container, pause="1")
            image = self.api.call("POST", path, {}, timeout_s=3600)["Id"]
            body = docker_shape.body(self._spec, image, self._copy, None)
            copy = docker_container.create(self.api, f"x-{self._copy}", body)
        self._act_in(copy)

    def fresh(self, image: str) -> str:
        """A new container of `image` without network, capture or anything of the session; acts in it from now on."""
        assert self._spec is not None
        image_id = str(docker_container.image(self.api, image)["Id"])
        found = docker_container.labelled(self.api, self._fresh)
        if found is None:
            body = docker_shape.body(self._spec, image_id, self._fresh, None)
            found = docker_container.create(self.api, f"x-{self._fresh}", body)
        self._apart = found
        self._act_in(found)
        return image_id

    def put(self, tar_path: str, dest: str) -> None:
        """Extracts a tar as root under `dest` (made if absent, 0700 root)."""
        Files(self.api, self._acting).put(tar_path, in_container(dest), 0o700)

    def remake(self, path: str) -> None:
        """Removes `path` whatever it is and makes an empty 0700 directory of root there."""
        Files(self.api, self._acting).remake(in_container(path))

    def services(self) -> list[dict[str, Any]]:
        """How each of the services beside the session is: {name, status, code, oom}."""
        assert self._spec is not None
        return docker_services.states(self.api, self._spec.environment, self._attempt)

    def run(
        self, argv: list[str], cwd: str, env: dict[str, str], timeout_s: float, user: str = "", service: str = ""
    ) -> tuple[int | None, bytes, bytes]:
        """Runs a helper as root with a clean environment; on timeout everything it started is killed, code None.

        The fixed PATH holds where the session was; a fresh container has its image's, which no session could change.
        A user's own has the image's, as a session does. In a service it runs as the image's user, where it works.
        """
        if service:
            return docker_services.run(self.api, self._service(service), argv, timeout_s, user)
        acting = self._acting
        if docker_container.status(self.api, acting) not in ("running", "paused"):
            self._restart(acting)
        filled = [in_container(item) for item in argv]
        clean = {name: in_container(value) for name, value in env.items()}
        if acting == self._apart or user not in ("", ROOT):
            clean = {"PATH": docker_container.path_of(self.api, acting) or CLEAN_PATH, **clean}
        return self._helper(acting, filled, in_container(cwd) or "/", clean, timeout_s, user or ROOT, None)

    def _helper(
        self, container: str, argv: list[str], cwd: str, env: dict[str, str], timeout_s: float, user: str,
        data: bytes | None,
    ) -> tuple[int | None, bytes, bytes]:  # fmt: skip
        tree = self._trees[container]
        before = {(entry["pid"], entry["start_ticks"]) for entry in tree.entries()}

        def end_helper() -> None:
            if not tree.kill(before, [ROOT, user])[1]:
                self._restart(container)

        return docker_exec.run(self.api, container, argv, cwd, env, timeout_s, end_helper, user, data)

    def fetch(self, path: str, tar_path: str, cap_bytes: int, service: str = "") -> int:
        """Copies `path` out as a tar file; returns its bytes; EngineError when absent or over the cap."""
        place = self._service(service) if service else self._acting
        return Files(self.api, place).fetch(in_container(path), tar_path, cap_bytes)

    def read_file(self, path: str, cap_bytes: int) -> bytes | None:
        """The bytes of one regular file; None for anything else; EngineError when it is longer than the cap."""
        return Files(self.api, self._acting).read(in_container(path), cap_bytes)

    def _service(self, name: str) -> str:
        assert self._spec is not None
        return docker_services.container(self.api, self._spec.environment, self._attempt, name)

    def _act_in(self, container: str) -> None:
        self._acting = container
        self._trees[container] = Tree(self.api, container, docker_container.start(self.api, container))
        self._trees[container].find_idle()

    def _restart(self, container: str) -> None:
        self._trees[container] = Tree(self.api, container, docker_container.restart(self.api, container))
        self._trees[container].find_idle()
