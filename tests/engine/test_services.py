"""The services of a task beside its session: reached by name, waited for, looked at, asked for what they hold, gone."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
import pytest

from remote_agent import home, orphans, run
from remote_agent.engine import EngineError
from tests.agent.runs import RunHome, kill, text_of
from tests.engine.conftest import Run, own_address, shell
from tests.engine.test_lifecycle import tar_of

pytestmark = pytest.mark.engine
NewRun = Callable[..., Run]
NewHome = Callable[..., RunHome]
SERVE = "while :; do nc -l -p 80 </srv/said; done"
NOW = {"interval_ms": 100, "timeout_ms": 2000, "retries": 2}


def service(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "", "argv": ["sh", "-c", text], **more}


def checked(name: str, text: str, test: str, **more: Any) -> dict[str, Any]:
    health = {**NOW, "test": ["CMD-SHELL", test], **more}
    return service(name, text, health=health, ready="healthy")


@pytest.fixture
def with_services(new_run: NewRun, busybox: str) -> NewRun:
    """Makes runs with services of the small image; one blob, `b`, holds /srv/said."""

    def make(*services: dict[str, Any], **environment: Any) -> Run:
        given = [{**one, "image": one["image"] or busybox} for one in services]
        made = new_run(busybox, services=given, **{"network": "own", **environment})
        (made.blobs / "b").write_bytes(tar_of({"said": "hello\n"}))
        return made

    return make


def said(made: Run, script: str) -> bytes:
    """What a helper in the session's container prints."""
    return made.engine.run(["sh", "-c", script], "/", {}, 20)[1]


def remains(client: docker.DockerClient, attempt: str) -> set[str]:
    """Ids of what the engine holds of an attempt: containers, networks, volumes."""
    found = client.api.containers(all=True, filters={"label": "x.id"})
    mine = [one["Id"] for one in found if one["Labels"]["x.id"].startswith(attempt)]
    label = {"label": f"x.id={attempt}"}
    nets, volumes = client.api.networks(filters=label), client.api.volumes(filters=label)["Volumes"] or []
    return {*mine, *(one["Id"] for one in nets), *(one["Name"] for one in volumes)}


def test_a_service_answers_under_its_name_and_nothing_else_is_reached(
    with_services: NewRun, client: docker.DockerClient, listener: int
) -> None:
    files = [{"blob": "b", "dest": "/srv"}]
    volume = [{"name": "data", "target": "/data"}]
    seen = [{"name": "data", "target": "/mnt/data", "read_only": True}]
    db = checked("db", f"hostname >/data/h; echo $KEY >>/data/h; {SERVE}", "test -s /data/h") | {"workdir": "/tmp"}
    db |= {"env": {"KEY": "k"}, "files": files, "volumes": volume, "tmpfs": ["/scratch"], "memory_bytes": 2**26}
    made = with_services(db, volumes=seen).prepare()
    assert (
        said(made, "nc -w 2 db 80 </dev/null; cat /mnt/data/h; touch /mnt/data/x || echo no") == b"hello\ndb\nk\nno\n"
    )
    (facts,) = made.facts["services"]
    assert (facts["name"], facts["image_digest"]) == ("db", None)
    assert 0 < facts["ready_s"] < 10
    assert made.engine.services() == [{"name": "db", "status": "running", "code": None, "oom": False}]
    again = made.another().prepare()
    assert [one["container"] for one in again.facts["services"]] == [facts["container"]]
    made_as = client.api.inspect_container(facts["container"])
    assert made_as["Config"]["Labels"] == {"x.id": f"{made.spec.id}-s0", "x.h": ""}
    host = made_as["HostConfig"]
    assert (host["Memory"], host["PidsLimit"], host["RestartPolicy"]["Name"]) == (2**26, 4096, "no")
    assert (host["SecurityOpt"], host["CapAdd"], host["Privileged"]) == (["no-new-privileges:true"], None, False)
    (net,) = client.networks.list(filters={"label": f"x.id={made.spec.id}"})
    assert net.attrs["Internal"]
    gateway = net.attrs["IPAM"]["Config"][0]["Gateway"]
    reach = f"for a in {own_address()} {gateway}; do nc -w 1 $a {listener} </dev/null & done; wait"
    made.started(shell(f"{reach}; echo main | nc -l -p 81"))
    asked = f"{reach}; while ! nc main 81 </dev/null; do sleep 0.02; done; pwd"
    assert made.engine.run(["sh", "-c", asked], "", {}, 20, "", "db")[1] == b"main\n/tmp\n"
    assert made.out == b""
    made.engine.destroy()
    assert remains(client, made.spec.id) == set()


def test_each_is_waited_for_before_the_next(with_services: NewRun) -> None:
    volume = {"volumes": [{"name": "v", "target": "/v"}]}
    first = checked("first", "sleep 0.4; touch /v/first; sleep 300", "test -e /v/first", retries=20) | volume
    job = service("job", "test -e /v/first && touch /v/job", ready="completed") | volume
    last = service("last", "test -e /v/job && sleep 300") | volume
    made = with_services(first, job, last).prepare()
    assert made.facts["services"][0]["ready_s"] >= 0.4
    assert [(one["status"], one["code"]) for one in made.engine.services()] == [
        ("running", None), ("exited", 0), ("running", None),
    ]  # fmt: skip


def test_one_that_need_only_be_started_may_have_ended_well(served_home: NewHome) -> None:
    served = served_home("echo ran", service("seed", "exit 0"))
    assert text_of(served.finish()) == "ran\n"
    assert not served.records("fault")
    assert [one.data["when"] for one in served.records("services")] == ["before", "over"]


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (checked("db", "echo up; sleep 300", "echo not yet; exit 1"), "health check goes on failing.*up | not yet"),
        (checked("db", "echo no disk >&2; exit 3", "true"), "ended with code 3; it said: no disk"),
        (service("db", "exit 4", ready="completed"), "ended with code 4; it said: nothing"),
        (service("db", "", entrypoint=["/absent"], init=False), "/absent"),
        (service("db", "sleep 300", health={"test": []}, ready="healthy"), "has no health check"),
        (service("db", "", image="x-none:1"), "image x-none:1 is not on the engine"),
    ],
    ids=["never good", "dies", "fails", "no program", "no check", "no image"],
)
def test_one_that_does_not_get_ready_is_named_with_its_last_words(
    with_services: NewRun, wrong: dict[str, Any], what: str
) -> None:
    with pytest.raises(EngineError, match=what) as caught:
        with_services(wrong).prepare()
    assert "db" in str(caught.value) or "x-none" in str(caught.value)


def test_a_public_network_has_the_machine_on_it(with_services: NewRun, client: docker.DockerClient) -> None:
    made = with_services(service("db", "sleep 300"), network="own-public").prepare()
    (net,) = client.networks.list(filters={"label": f"x.id={made.spec.id}"})
    assert not net.attrs["Internal"]
    assert b"1 packets received" in said(made, f"ping -c 1 -w 2 {net.attrs['IPAM']['Config'][0]['Gateway']}")


@pytest.fixture
def served_home(busybox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NewHome:
    """Makes runs of one step with services, under a real supervisor."""
    monkeypatch.setattr(run, "DEFAULT_SOCKET", "/absent")

    def make(work: str, *services: dict[str, Any], **more: Any) -> RunHome:
        given = [{**one, "image": busybox} for one in services]
        around = {"image": busybox, "network": "own", "user": "1000", "services": given, **more.pop("environment", {})}
        grade = {**more.pop("grade"), "image": more.pop("grader", "")} if "grade" in more else None
        step = {"argv": ["sh", "-c", work], "cwd": "/"}
        attempt = secrets.token_hex(8)
        return RunHome(tmp_path, step, engine="docker", environment=around, id=attempt, grade=grade, **more)

    return make


def attempt_of(served: RunHome) -> str:
    return str(json.loads((served.directory / "spec.json").read_text())["id"])


def test_one_that_dies_under_the_session_is_a_failed_check_and_is_not_started_again(
    served_home: NewHome, client: docker.DockerClient
) -> None:
    fragile = service("fragile", "nc -l -p 80 >/dev/null; exit 7")
    served = served_home("echo | nc -w 1 fragile 80; sleep 0.5; nc -w 1 fragile 80 || echo gone", fragile)
    records = served.finish()
    assert text_of(records).endswith("gone\n")
    assert served.one("services").data == {
        "when": "over", "services": [{"name": "fragile", "status": "exited", "code": 7, "oom": False}],
    }  # fmt: skip
    fault = served.one("fault")
    assert (fault.data["where"], fault.data["typed"]) == ("service", "service")
    assert fault.data["detail"] == "service fragile of the task was down: exited, code 7"
    assert served.one("exited").seq < served.one("services").seq < fault.seq < served.one("settled").seq
    assert remains(client, attempt_of(served)) == set()


def test_nothing_is_released_without_them(served_home: NewHome, client: docker.DockerClient) -> None:
    setup = {"argv": ["sh", "-c", "echo | nc -w 1 fragile 80; sleep 0.5"]}
    served = served_home("echo ran", service("fragile", "nc -l -p 80; exit 7"), environment={"setup": setup})
    records = served.finish()
    assert [one.kind for one in records][-3:] == ["services", "fault", "ended"]
    assert not served.records("released")
    served.directory.joinpath("journal.jsonl").unlink()
    assert remains(client, attempt_of(served)) == set()


def test_what_a_service_holds_is_taken_into_a_separate_grader(served_home: NewHome, busybox: str) -> None:
    say = f"mkdir -p /out/keep/sub; touch /out/keep/big.log /out/keep/sub/b.log /out/keep/sub/c; {SERVE}"
    db = service(
        "db",
        say,
        files=[{"blob": "b", "dest": "/srv"}],
        health={"test": ["CMD", "test", "-e", "/out/keep/sub/c"], **NOW},
        ready="healthy",
    )
    look = "cat /out/dump /pub/two; cd /out/keep; find . -type f | sort; nc -w 1 db 80 </dev/null || echo apart"
    grade = {
        "argv": ["sh", "-c", f"({look}) >/logs/verifier/reward.txt 2>/dev/null"],
        "collect": [
            {"command": "cp /srv/said /out/dump; echo x >/out/keep/x", "service": "db"},
            {"command": "id -u >/pub/two; nc -w 1 db 80 </dev/null >>/pub/two", "user": "1000"},
            {"command": "exit 9", "service": "db", "timeout_ms": 5000},
        ],
        "artifacts": [
            "/pub", {"path": "/out/dump", "service": "db"}, {"path": "/out/absent", "service": "db"},
            {"path": "/out/keep", "service": "db", "exclude": ["*.log"]},
        ],
    }  # fmt: skip
    around = {"setup": {"argv": ["sh", "-c", "mkdir -p /pub; chmod 777 /pub"]}}
    served = served_home("true", db, environment=around, grade=grade, grader=busybox)
    blob = tar_of({"said": "hello\n"})
    (served.home / "blobs" / "b").write_bytes(blob)
    served.finish()
    graded = served.one("graded").data
    assert graded["reward"]["text"] == "hello\n1000\nhello\n./sub/c\n./x\napart\n"
    assert graded["flags"] == ["a collect command in service db ended with 9"]
    assert not served.records("fault")


def test_a_grader_where_the_session_was_reaches_them_after_a_supervisor_was_lost(
    served_home: NewHome, client: docker.DockerClient
) -> None:
    grade = {"argv": ["sh", "-c", "nc -w 1 db 80 </dev/null >/logs/verifier/reward.txt"]}
    db = service("db", "echo 1 >/said; while :; do nc -l -p 80 </said; done")
    served = served_home("sleep 0.8", db, grade=grade)
    first = served.start()
    served.wait_for("released")
    kill(first)
    served.finish()
    assert served.one("graded").data["reward"]["text"] == "1\n"
    assert served.one("services").data["services"][0]["status"] == "running"
    assert not served.records("fault")
    assert remains(client, attempt_of(served)) == set()


@pytest.mark.slow
def test_one_that_is_gone_when_a_supervisor_comes_back_is_told_and_not_started_again(
    served_home: NewHome, client: docker.DockerClient
) -> None:
    served = served_home("sleep 1.2", service("db", "exec sleep 300", init=False))
    first = served.start()
    served.wait_for("released")
    kill(first)
    (mine,) = client.containers.list(filters={"label": f"x.id={attempt_of(served)}-s0"})
    mine.kill()
    served.finish()
    told = served.records("services")
    assert [one.data["when"] for one in told] == ["adopted", "over"]
    assert [one.data["services"][0]["code"] for one in told] == [137, 137]
    assert served.one("fault").seq > served.one("exited").seq


def test_without_a_run_they_and_their_volumes_are_orphans(
    with_services: NewRun, client: docker.DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTTIME_AGENT_HOME", str(tmp_path))
    made = with_services(service("db", "sleep 300", volumes=[{"name": "v", "target": "/v"}]))
    (made.blobs / "h").write_text(home.mark())
    made.prepare()
    ours = remains(client, made.spec.id)
    found = orphans.find(str(tmp_path), 0)
    named = {*found["environments"], *found["networks"], *found["volumes"]}
    assert len(ours) == 4
    assert ours == named
    orphans.remove(str(tmp_path))
    assert remains(client, made.spec.id) == set()
