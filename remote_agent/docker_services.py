"""The services of a task: containers beside the session's, made in order, waited for, looked at when it is over."""

from __future__ import annotations

import time

from remote_agent import clock, docker_container, docker_exec, docker_shape, docker_shared
from remote_agent.docker_beside import HOME_LABEL
from remote_agent.docker_files import Files
from remote_agent.docker_http import query
from remote_agent.docker_shape import LABEL, in_container
from remote_agent.engine import CLEAN_PATH, EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.docker_http import Api
    from remote_agent.spec import Environment
    from remote_agent.spec_parts import Service

AT_MOST_S = 600.0
"""For all services of a run together."""
MARGIN_S = 10.0
POLL_S = 0.05
_LOG = {"Type": "json-file", "Config": {"max-size": "16m"}}
_TAIL_CHARS = 800


def stand(
    api: Api, around: Environment, attempt: str, network: str, blobs: str, home: str
) -> list[dict[str, Any]]:  # fmt: skip
    """Makes, fills and starts each service, or finds it, and waits until it is ready; their facts."""
    images = [docker_container.image(api, service.image) for service in around.services]
    until, facts = time.monotonic() + AT_MOST_S, []
    for number, (service, image) in enumerate(zip(around.services, images)):
        label = _label(attempt, number)
        made = docker_container.labelled(api, label)
        if made is None:
            body = _body(service, image["Id"], label, home, network, around.network)
            body["HostConfig"]["Mounts"] = docker_shared.mounts(api, attempt, home, service.volumes)
            made = docker_container.create(api, f"x-{label}", body)
        began_ns = None
        try:
            if docker_container.status(api, made) == "created":
                for placed in service.files:
                    Files(api, made).put(f"{blobs}/{placed.blob}", in_container(placed.dest), 0o755)
                began_ns = clock.boottime_ns()
                api.call("POST", f"/containers/{made}/start", timeout_s=300)
            _wait(api, service, made, until)
        except EngineError as error:
            raise EngineError(f"service {service.name} of the task (image {service.image}): {error}") from None
        ready_s = None if began_ns is None else (clock.boottime_ns() - began_ns) / 1e9
        digest = (image.get("RepoDigests") or [None])[0]
        found = {"image": service.image, "image_id": image["Id"], "image_digest": digest, "container": made}
        facts.append({"name": service.name, **found, "ready_s": ready_s})
    return facts


def states(api: Api, around: Environment, attempt: str) -> list[dict[str, Any]]:
    """How each service is: {name, status, code, oom}; status "gone" where its container is not there."""
    found = []
    for number, service in enumerate(around.services):
        made = docker_container.labelled(api, _label(attempt, number))
        state = docker_container.inspect(api, made)["State"] if made else {"Status": "gone"}
        status = state["Status"]
        code = state["ExitCode"] if status in ("exited", "dead") else None
        found.append({"name": service.name, "status": status, "code": code, "oom": bool(state.get("OOMKilled"))})
    return found


def run(api: Api, made: str, argv: list[str], timeout_s: float, user: str) -> tuple[int | None, bytes, bytes]:
    """Runs a command in a service, as its image's user and in its directory; what does not end in time is left to the
    end of its container, which goes soon: who could tell it from what serves there?"""
    env = {"PATH": docker_container.path_of(api, made) or CLEAN_PATH}
    return docker_exec.run(api, made, argv, "", env, timeout_s, lambda: None, user)


def container(api: Api, around: Environment, attempt: str, name: str) -> str:
    """Full id of a service's container."""
    number = [service.name for service in around.services].index(name)
    made = docker_container.labelled(api, _label(attempt, number))
    if made is None:
        raise EngineError(f"the container of service {name} is no longer on the engine at {api.path}")
    return made


def remove(api: Api, attempt: str) -> None:
    """Removes every service of an attempt."""
    for one in api.call("GET", "/containers/json" + query(all="1", filters={"label": [LABEL]})):
        label = str(one["Labels"][LABEL])
        if label.startswith(_label(attempt, "")):
            docker_container.remove(api, label)


def _label(attempt: str, number: int | str) -> str:
    return f"{attempt}-s{number}"


def _body(service: Service, image_id: str, label: str, home: str, network: str, kind: str) -> dict[str, Any]:
    host: dict[str, Any] = {
        "Init": service.init, "NetworkMode": network, "RestartPolicy": {"Name": "no"}, "LogConfig": _LOG,
        "SecurityOpt": ["no-new-privileges:true"], "Tmpfs": dict(one.partition(":")[::2] for one in service.tmpfs),
        **docker_shape.bounds(service),
    }  # fmt: skip
    if service.shm_bytes:
        host["ShmSize"] = service.shm_bytes
    body = {
        "Image": image_id, "Hostname": service.name, "User": service.user, "WorkingDir": service.workdir,
        "Env": [f"{name}={in_container(value)}" for name, value in service.env.items()],
        "Healthcheck": _health(service.health), "Labels": {LABEL: label, HOME_LABEL: home}, "HostConfig": host,
        **docker_shape.named(host, network, kind, service.name),
    }  # fmt: skip
    for key, argv in (("Cmd", service.argv), ("Entrypoint", service.entrypoint)):
        if argv is not None:
            body[key] = [in_container(item) for item in argv]
    return body


def _health(health: dict[str, Any] | None) -> dict[str, Any]:
    if health is None:
        return {"Test": ["NONE"]}
    keys = (("Interval", "interval_ms"), ("Timeout", "timeout_ms"), ("StartPeriod", "start_period_ms"))
    times = {name: health.get(key, 0) * 10**6 for name, key in keys}
    return {"Test": health["test"], "Retries": health.get("retries", 0), **times}


def _allowed_s(health: dict[str, Any] | None) -> float:
    """How long a check may take to turn good, with the engine's own values for those that are not given."""
    if not health or not health["test"]:
        return AT_MOST_S
    each_ms = (health.get("interval_ms") or 30_000) + (health.get("timeout_ms") or 30_000)
    return float(health.get("start_period_ms", 0) + (health.get("retries") or 3) * each_ms) / 1000 + MARGIN_S


def _wait(api: Api, service: Service, made: str, until: float) -> None:
    """Returns when a service is as its `ready` says; EngineError with its last words when it cannot be any more.

    One that need only be started may have ended already, if all went well.
    """
    if service.ready == "healthy":
        until = min(until, time.monotonic() + _allowed_s(service.health))
    while True:
        state = docker_container.inspect(api, made)["State"]
        runs, health = state["Status"] == "running", state.get("Health") or {}
        if service.ready == "completed":
            done = state["Status"] == "exited" and state["ExitCode"] == 0
            why = "" if runs else _ended(state)
        elif not runs:
            done = service.ready == "started" and state["Status"] == "exited" and state["ExitCode"] == 0
            why = "" if done else _ended(state)
        else:
            done = service.ready == "started" or health.get("Status") == "healthy"
            why = "its health check goes on failing" if health.get("Status") == "unhealthy" else ""
            if not done and health.get("Status", "none") == "none":
                why = "its image has no health check"
        if done:
            return
        if why or time.monotonic() > until:
            why = why or f"it was not {service.ready} in the time that it had"
            raise EngineError(f"{why}; it said: {_last_words(api, made, health)}; look at its command and its check")
        time.sleep(POLL_S)


def _ended(state: dict[str, Any]) -> str:
    return f"it ended with code {state['ExitCode']}" + (" (out of memory)" if state.get("OOMKilled") else "")


def _last_words(api: Api, made: str, health: dict[str, Any]) -> str:
    answer = api.open("GET", f"/containers/{made}/logs" + query(stdout="1", stderr="1", tail="20"))
    try:
        frames = docker_exec.Frames().feed(b"".join(answer.pieces()))
    finally:
        answer.close()
    looks = [str(one.get("Output")) for one in (health.get("Log") or [])[-1:]]
    texts = [b"".join(text for _, text in frames).decode("utf-8", "replace"), *looks]
    return " | ".join(" ".join(text.split())[-_TAIL_CHARS:] for text in texts if text.strip()) or "nothing"
