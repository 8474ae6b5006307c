"""A verifier's container beside the session's: reaches it, is reached by nothing else, and is gone at the end."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
import pytest

from remote_agent import docker_beside, home, orphans, run
from remote_agent.docker_http import Api
from remote_agent.spec import Verifier
from tests.agent.runs import RunHome, kill
from tests.agent.test_steps import shell as shell_step
from tests.engine.conftest import Run, own_address, shell, socket_path, wait_until
from tests.engine.test_lifecycle import tar_of

pytestmark = pytest.mark.engine
NewRun = Callable[..., Run]
SERVICE = "echo hi >/tmp/i; while :; do nc -l -p 8080 </tmp/i; done"
ASK = 'test "$(nc -w 1 $SUBJECT 8080 </dev/null 2>/dev/null)" = hi'


def verifier(text: str, **more: Any) -> Verifier:
    return Verifier({"argv": ["sh", "-c", text], "timeout_ms": 5000, **more}, "step")


def test_it_reaches_the_session_and_neither_reaches_anything_else(
    new_run: NewRun, busybox: str, client: docker.DockerClient, listener: int
) -> None:
    made = new_run(busybox, network="own", files=[]).prepare()
    (made.blobs / "b").write_bytes(tar_of({"check.sh": ASK + "; echo $?:$KEY; pwd; id -u"}))
    asked = verifier("sh ./check.sh", cwd="/opt/v", files=[{"blob": "b", "dest": "/opt/v"}], env={"KEY": "k"})
    facts = made.engine.beside(asked, str(made.blobs))
    assert made.engine.check() == (0, b"1:k\n/opt/v\n0\n")
    made.started(shell(SERVICE))
    wait_until(lambda: made.engine.check() == (0, b"0:k\n/opt/v\n0\n"), "the service")
    again = made.another()
    again.engine.bind(made.spec, made.capture)
    assert again.engine.beside(asked, str(made.blobs)) == facts
    assert again.engine.check()[0] == 0
    gateway = docker_beside.networks(made.engine.api, f"x.id={made.spec.id}")[0]["IPAM"]["Config"][0]["Gateway"]
    reach = f"for a in {own_address()} {gateway}; do nc -w 1 $a {listener} </dev/null; done; true"
    made.engine.beside(verifier(reach), str(made.blobs))
    assert b"greeting" not in made.engine.check()[1]
    assert b"greeting" not in made.engine.run(["sh", "-c", reach], "/", {}, 20)[1]
    with socket.create_connection((own_address(), listener)) as there:
        assert there.recv(20) == b"greeting", "the port is open to whoever can reach it"
    told = client.api.inspect_container(facts["container"])
    assert told["Config"]["Labels"] == {"x.id": f"{made.spec.id}-v", "x.h": ""}
    assert told["HostConfig"]["Memory"] > 0
    assert told["HostConfig"]["NanoCpus"] > 0
    assert facts["isolated"] is True
    made.engine.destroy()
    assert not client.containers.list(all=True, filters={"label": f"x.id={made.spec.id}-v"})
    assert not client.networks.list(filters={"label": f"x.id={made.spec.id}"})


def test_a_look_that_hangs_is_ended_and_the_next_one_works(new_run: NewRun, busybox: str) -> None:
    made = new_run(busybox, network="own").prepare()
    made.engine.beside(verifier("test -e /once && exit 7; touch /once; sleep 300", timeout_ms=300), str(made.blobs))
    assert made.engine.check()[0] is None
    assert made.engine.check()[0] == 7


def test_the_networks_name_says_nothing_and_two_attempts_do_not_meet(new_run: NewRun, busybox: str) -> None:
    one, two = (new_run(busybox, network="own").prepare() for _ in range(2))
    names = [docker_beside.network(one.engine.api, made.spec.id, "") for made in (one, two)]
    assert names[0] != names[1]
    assert all(name.startswith("x-") and len(name) == 18 and made.spec.id not in name
               for name, made in zip(names, (one, two), strict=True))  # fmt: skip
    address = docker_beside.address(one.engine.api, one.facts["container"], names[0])
    one.started(shell(SERVICE))
    ask = f'test "$(nc -w 1 {address} 8080 </dev/null)" = hi'
    one.engine.beside(verifier(ask), str(one.blobs))
    wait_until(lambda: one.engine.check()[0] == 0, "the service")
    two.engine.beside(verifier(ask), str(two.blobs))
    assert two.engine.check()[0] == 1


def test_a_network_and_a_verifier_whose_run_is_gone_are_orphans_of_their_home(
    busybox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTTIME_AGENT_HOME", str(tmp_path))
    api = Api(socket_path())
    attempt = "dead" + tmp_path.name.encode().hex()[-8:]
    net = docker_beside.network(api, attempt, home.mark())
    beside = docker_beside.Beside(api, attempt)
    try:
        facts = beside.stand(verifier("true"), busybox, _self(api, beside, busybox, net), net, "", home.mark(), [])
        found = orphans.find(str(tmp_path), 0)
        assert facts["container"] in found["environments"]
        assert docker_beside.networks(api, f"x.id={attempt}")[0]["Id"] in found["networks"]
        orphans.remove(str(tmp_path))
        assert not docker_beside.networks(api, f"x.id={attempt}")
    finally:
        beside.remove()
        for one in docker_beside.networks(api, f"x.id={attempt}"):
            docker_beside.remove_network(api, one["Id"])


def _self(api: Api, beside: docker_beside.Beside, image: str, net: str) -> str:
    """A container that stands for the session: the verifier's own."""
    from remote_agent import docker_container

    body = beside._body(docker_container.image(api, image)["Id"], net, home.mark(), [])
    return docker_container.create(api, f"x-{beside._label}", body)


@pytest.fixture
def docker_home(busybox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., RunHome]:
    """Makes runs in containers with a verifier beside the second of two steps."""
    monkeypatch.setattr(run, "DEFAULT_SOCKET", "/absent")

    def make(work: str, **more: Any) -> RunHome:
        check = {"argv": ["sh", "-c", ASK], "interval_ms": 100, "timeout_ms": 3000}
        first = shell_step("echo 'minutes = 5'", "estimate", timed=False, seal={"label": "minutes"})
        second = {**shell_step(work, "begin", after_success=True), "verifier": check}
        where = {"image": busybox, "network": "own", "user": "1000", "cap_drop": ["ALL"]}
        attempt = secrets.token_hex(8)
        return RunHome(tmp_path, first, second, engine="docker", environment=where, id=attempt, **more)

    return make


def test_an_estimate_is_sealed_and_the_first_success_is_seen_from_beside(
    docker_home: Callable[..., RunHome], client: docker.DockerClient
) -> None:
    forge = "printf 'minutes = 9\\n' | dd of=/var/lib/x/o conv=notrunc 2>/dev/null; echo minutes = 9; sleep 0.3"
    home_of = docker_home(f"{forge}; ({SERVICE}) >/dev/null 2>&1 & sleep 1.2")
    home_of.finish()
    sealed, passed = home_of.one("sealed"), home_of.one("passed")
    assert (sealed.data["number"], sealed.data["text"]) == (5, "minutes = 5\n")
    assert sealed.seq < home_of.one("armed", "begin").seq
    assert [r.data["step"] for r in home_of.records("integrity") if "step" in r.data] == ["estimate"]
    released = home_of.one("released", "begin").t_boot_ns
    assert released + 300_000_000 < passed.t_boot_ns < home_of.one("exited", "begin").t_boot_ns
    assert passed.data["failed_began_ns"] is not None
    assert home_of.one("verified_again").data["verdict"] == "passed"
    assert home_of.one("settled").data["killed"] >= 1
    assert home_of.records()[-1].kind == "ended"
    assert not home_of.records("fault")
    attempt = json.loads((home_of.directory / "spec.json").read_text())["id"]
    assert not client.networks.list(filters={"label": f"x.id={attempt}"})


def test_a_supervisor_lost_in_the_verified_step_is_followed_by_one_that_goes_on_looking(
    docker_home: Callable[..., RunHome],
) -> None:
    home_of = docker_home(f"sleep 1.2; ({SERVICE}) >/dev/null 2>&1 & sleep 2; exit 4")
    first = home_of.start()
    failing = home_of.wait_for("poll")
    kill(first)
    home_of.finish()
    assert len(home_of.records("released")) == 2
    assert home_of.one("exited", "begin").data["code"] == 4
    assert home_of.one("passed").data["failed_began_ns"] >= failing.data["began_ns"]
    assert home_of.one("verified_again").data["verdict"] == "passed"
    assert len(home_of.records("sealed")) == 1


def test_a_shared_directory_is_read_at_the_same_place_and_gone_at_the_end(
    new_run: NewRun, busybox: str, client: docker.DockerClient
) -> None:
    made = new_run(busybox, network="own", shared=["/home/agent"], user="1000").prepare()
    made.engine.beside(verifier("cat /home/agent/made; touch /home/agent/x"), str(made.blobs))
    assert made.engine.check()[0] == 1
    assert made.finished(shell("echo words >/home/agent/made")) == 0
    code, said = made.engine.check()
    assert (code, said.startswith(b"words\n")) == (1, True)
    assert made.finished(shell("test -e /home/agent/x")) == 1
    made.engine.destroy()
    assert not client.volumes.list(filters={"label": f"x.id={made.spec.id}"})
