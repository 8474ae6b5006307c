"""Runs commands in a container through the engine: the gate, the killer's one-liners, the grader."""

from __future__ import annotations

import select
import socket
import time

from remote_agent.docker_http import Refused
from remote_agent.engine import CLEAN_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from remote_agent.docker_http import Api

OUTPUT_CAP_BYTES = 4 * 1024 * 1024
"""Of a helper's stdout and of its stderr the last 4 MiB are kept: a score stands at the end."""

POLL_S = 0.004
_QUIET_S = 0.1
_LAST_READS = 64


def create(
    api: Api, container: str, argv: list[str], user: str, cwd: str = "/", env: dict[str, str] | None = None,
    stdin: bool = False, output: bool = False,
) -> str:  # fmt: skip
    """The id of a new exec that has not started."""
    body = {
        "AttachStdin": stdin,
        "AttachStdout": output,
        "AttachStderr": output,
        "Tty": False,
        "Cmd": argv,
        "User": user,
        "WorkingDir": cwd,
        "Env": [f"{name}={value}" for name, value in (env or {}).items()],
    }
    return str(api.call("POST", f"/containers/{container}/exec", body)["Id"])


def inspect(api: Api, exec_id: str) -> dict[str, Any] | None:
    """What the engine knows of an exec; None once it has forgotten it."""
    try:
        told: dict[str, Any] = api.call("GET", f"/exec/{exec_id}/json", timeout_s=20)
        return told
    except Refused as refusal:
        if refusal.status == 404:
            return None
        raise


def ended(told: dict[str, Any] | None) -> bool:
    """Whether an exec is over, or forgotten because it is."""
    return told is None or (not told.get("Running") and told.get("ExitCode") is not None)


def quietly(api: Api, container: str, script: str, args: list[str], user: str, timeout_s: float = 2.0) -> None:
    """Runs shell text with nothing attached and waits for its end; refusals are the caller's to see in the effect."""
    try:
        exec_id = create(api, container, ["/bin/sh", "-c", script, "sh", *args], user)
        api.call("POST", f"/exec/{exec_id}/start", {"Detach": True, "Tty": False}, timeout_s=20)
        deadline = time.monotonic() + timeout_s
        while not ended(inspect(api, exec_id)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
    except Refused:
        pass


def run(
    api: Api, container: str, argv: list[str], cwd: str, env: dict[str, str], timeout_s: float,
    kill: Callable[[], None], user: str = "0:0", data: bytes | None = None, cap_bytes: int = OUTPUT_CAP_BYTES,
) -> tuple[int | None, bytes, bytes]:  # fmt: skip
    """Runs a helper, streams apart, `data` on its stdin; on timeout calls `kill` and returns None for the code."""
    clean = {"PATH": CLEAN_PATH, **({"HOME": "/root"} if user == "0:0" else {}), **env}
    exec_id = create(api, container, argv, user, cwd, clean, stdin=data is not None, output=True)
    sock, held = api.upgrade(f"/exec/{exec_id}/start", {"Detach": False, "Tty": False})
    frames, texts = Frames(), {1: bytearray(), 2: bytearray()}
    deadline = time.monotonic() + timeout_s
    try:
        if data is not None:
            _send(sock, data)
        _keep(texts, frames.feed(held), cap_bytes)
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        while True:
            if poll.poll(_QUIET_S * 1000):
                piece = sock.recv(65536)
                if piece:
                    _keep(texts, frames.feed(piece), cap_bytes)
                    if time.monotonic() < deadline:
                        continue
            # Quiet or closed: a background child may hold the streams open after the end.
            told = inspect(api, exec_id)
            if ended(told):
                for _ in range(_LAST_READS):  # what came between the look at the stream and at the exec
                    if not poll.poll(0) or not (piece := sock.recv(65536)):
                        break
                    _keep(texts, frames.feed(piece), cap_bytes)
                return (told or {}).get("ExitCode"), bytes(texts[1]), bytes(texts[2])
            if time.monotonic() >= deadline:
                kill()
                return None, bytes(texts[1]), bytes(texts[2])
            time.sleep(POLL_S)
    finally:
        sock.close()


def _send(sock: socket.socket, data: bytes) -> None:
    """Writes the whole input and its end; one that ends before it has read everything says so by its code."""
    try:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
    except ConnectionError:
        pass


def _keep(texts: dict[int, bytearray], frames: list[tuple[int, bytes]], cap_bytes: int) -> None:
    for stream, piece in frames:
        text = texts[2 if stream == 2 else 1]
        text += piece
        if len(text) > cap_bytes:
            del text[:-cap_bytes]


class Frames:
    """Takes apart the engine's multiplexed stream: 8 bytes of header, then a piece of stdout or stderr."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """(stream, bytes) of every frame that `data` completes."""
        held, out = self._held, []
        held += data
        while len(held) >= 8:
            size = int.from_bytes(held[4:8], "big")
            if len(held) < 8 + size:
                break
            out.append((held[0], bytes(held[8 : 8 + size])))
            del held[: 8 + size]
        return out
