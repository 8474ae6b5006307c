"""Containers for the engine tests: one per test, on the engine that answers, gone at the end."""

from __future__ import annotations

import os
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from remote_agent.docker_engine import DockerEngine
from remote_agent.engine import Armed, Capture
from remote_agent.spec import RunSpec, Step
from tests.engine import images

VARIANTS: dict[str, dict[str, Any]] = {
    "root": {"user": "0"},
    "uid1000": {"user": "1000"},
    "hardened": {"user": "1000", "cap_drop": ["ALL"], "no_new_privileges": True},
}


def socket_path() -> str:
    """Where the engine of these tests listens."""
    return os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")


def wait_until(condition: Callable[[], object], what: str, within_s: float = 20) -> None:
    """Waits for a condition, never for a time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {within_s} s"
        time.sleep(0.005)


def step(argv: list[str], **more: Any) -> Step:
    """A step that runs `argv`."""
    return Step({"name": "s", "argv": argv, **more}, "step")


def shell(text: str, **more: Any) -> Step:
    """A step that runs shell text."""
    return step(["sh", "-c", text], **more)


class Run:
    """A prepared container with its capture files, as a supervisor would hold it."""

    def __init__(self, engine: DockerEngine, spec: RunSpec, capture: Capture, blobs: Path) -> None:
        self.engine = engine
        self.spec = spec
        self.capture = capture
        self.blobs = blobs
        self.facts: dict[str, Any] = {}

    def prepare(self) -> Run:
        self.facts = self.engine.prepare(self.spec, self.capture, str(self.blobs))
        return self

    def started(self, what: Step, secret: dict[str, str] | None = None) -> Armed:
        """Arms and releases."""
        armed = self.engine.arm(what, secret or {})
        self.engine.release(armed)
        return armed

    def finished(self, what: Step, secret: dict[str, str] | None = None) -> int | None:
        """Arms, releases, waits for the end; the exit code."""
        armed = self.started(what, secret)
        ended(armed)
        return self.engine.exit_code(armed, 2)

    @property
    def out(self) -> bytes:
        return Path(self.capture.out).read_bytes()

    @property
    def err(self) -> bytes:
        return Path(self.capture.err).read_bytes()

    def another(self) -> Run:
        """The same run in the hands of a new supervisor."""
        return Run(DockerEngine(self.engine.api.path, self.spec.id), self.spec, self.capture, self.blobs)


def ended(armed: Armed, within_s: float = 20) -> None:
    """Waits for the end of a session by whichever clock it has."""
    deadline = time.monotonic() + within_s
    fd = armed.pidfd if armed.pidfd is not None else armed.event_fd
    assert fd is not None
    while True:
        assert time.monotonic() < deadline, "the session did not end"
        if select.select([fd], [], [], 0.5)[0] and (armed.read_event is None or armed.read_event()):
            return


@pytest.fixture(scope="session")
def client() -> Iterator[docker.DockerClient]:
    """The SDK: makes images, and is the oracle."""
    made = docker.DockerClient(base_url=socket_path())
    yield made
    made.close()


@pytest.fixture(scope="session")
def busybox(client: docker.DockerClient) -> str:
    return images.busybox(client)


@pytest.fixture(params=["busybox", pytest.param("debian", marks=pytest.mark.slow)])
def image(request: pytest.FixtureRequest, client: docker.DockerClient) -> str:
    """Each of the two images; Debian's takes half a minute to make the first time."""
    return images.busybox(client) if request.param == "busybox" else images.debian(client)


@pytest.fixture(params=list(VARIANTS))
def variant(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Who the session is: root, an ordinary user, an ordinary user with everything dropped."""
    return VARIANTS[request.param]


@pytest.fixture
def new_run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Makes runs: new_run(image, settle=..., user=...); not yet prepared."""
    made: list[Run] = []

    def make(image: str, files: list[dict[str, str]] | None = None, **environment: Any) -> Run:
        attempt = secrets.token_hex(8)
        directory = tmp_path / attempt
        directory.mkdir(mode=0o700)
        capture = Capture(str(directory))
        for path in (capture.out, capture.err):
            Path(path).touch()
            Path(path).chmod(0o666)
        raw = {"image": image, "files": files or [], **environment}
        spec = RunSpec(
            {
                "schema": 1,
                "id": attempt,
                "engine": "docker",
                "environment": raw,
                "steps": [{"name": "s", "argv": ["x"]}],
            }
        )
        run = Run(DockerEngine(socket_path(), attempt), spec, capture, directory)
        made.append(run)
        return run

    yield make
    for run in made:
        run.engine.destroy()


@pytest.fixture
def listener() -> Iterator[int]:
    """A port that greets on every address of this machine."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        server.settimeout(0.1)
        done = threading.Event()

        def greet() -> None:
            while not done.is_set():
                try:
                    with server.accept()[0] as there:
                        there.sendall(b"greeting")
                except TimeoutError:
                    continue

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        done.set()
        thread.join()


def own_address() -> str:
    """An address of this machine on its way out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.99", 9))
        return str(probe.getsockname()[0])
