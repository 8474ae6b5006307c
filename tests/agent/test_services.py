"""The services of a run spec: what is refused, by which key, and which blobs they need."""

from __future__ import annotations

from typing import Any

import pytest

from remote_agent.spec import RunSpec, SpecError

DB = {"name": "db", "image": "x"}


def spec(*services: Any, engine: str = "docker", network: str = "own", **more: Any) -> RunSpec:
    environment = {"image": "x", "network": network, "services": list(services), **more.pop("environment", {})}
    steps = [{"name": "s", "argv": ["true"]}]
    return RunSpec({"schema": 1, "id": "a", "engine": engine, "environment": environment, "steps": steps, **more})


def test_what_is_not_said_is_left_to_the_image() -> None:
    made = spec(DB).environment.services[0]
    assert (made.argv, made.entrypoint, made.user, made.workdir, made.health) == (None, None, "", "", None)
    assert (made.ready, made.init, made.env, made.volumes) == ("started", True, {}, [])
    assert spec(DB, network="own-public").environment.network == "own-public"


def test_its_files_are_blobs_that_the_run_needs() -> None:
    assert [one.blob for one in spec({**DB, "files": [{"blob": "b", "dest": "/etc/db"}]}).placed()] == ["b"]


@pytest.mark.parametrize(
    ("services", "more", "said"),
    [
        ([{**DB, "ready": "soon"}], {}, r"environment.services\[0\].ready 'soon' is not one of started, healthy"),
        ([{**DB, "ready": "healthy"}], {}, r'services\[0\].ready is "healthy" and .*health is missing'),
        ([DB, DB], {}, "environment.services has two services of one name"),
        ([{**DB, "name": "main"}], {}, r"services\[0\].name 'main' is not a host name of its own"),
        ([{**DB, "name": "a b"}], {}, "name 'a b' is not a host name"),
        ([{"name": "db"}], {}, r"services\[0\].image is missing"),
        ([{**DB, "argv": "x"}], {}, r"services\[0\].argv has the wrong type"),
        ([{**DB, "tmpfs": ["tmp"]}], {}, r"services\[0\]: 'tmp' is not an absolute path"),
        ([{**DB, "volumes": [{"name": "d", "target": "d"}]}], {}, r"services\[0\].volumes: 'd' is not an absolute"),
        ([{**DB, "volumes": [{"name": "/d", "target": "/d"}]}], {}, "volumes.name '/d' is not the name of a volume"),
        ([{**DB, "health": {"test": ["true"]}}], {}, r"health.test must be \[\"CMD\""),
        ([{**DB, "health": {"test": [], "retries": "3"}}], {}, "health.retries has the wrong type"),
        (["db"], {}, r"environment.services\[0\] has the wrong type: str"),
        ([DB], {"network": "none"}, "environment.services need environment.network own or own-public"),
        ([DB], {"engine": "process"}, "need engine \"docker\", not 'process'"),
        (
            [],
            {"engine": "process", "environment": {"volumes": [{"name": "d", "target": "/d"}]}},
            'need engine "docker"',
        ),
        ([DB], {"settle": "snapshot"}, "spec.settle must be stop or keep"),
        (
            [DB],
            {"grade": {"argv": ["x"], "collect": [{"command": "x", "service": "web"}]}},
            "grade names service 'web'",
        ),
        ([DB], {"grade": {"argv": ["x"], "artifacts": [{"service": "db"}]}}, "grade.artifacts.path is missing"),
    ],
)
def test_a_wrong_one_is_refused_by_its_key(services: list[Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        spec(*services, **more)


def test_a_text_and_main_stand_for_where_the_session_was() -> None:
    collect: list[Any] = ["true", {"command": "x", "service": "main"}, {"command": "y", "service": "db", "user": "1"}]
    grade = spec(DB, grade={"argv": ["x"], "collect": collect, "artifacts": ["/a"]}).grade
    assert grade is not None
    assert [(one["command"], one["service"], one["user"]) for one in grade.collect] == [
        ("true", "", ""), ("x", "", ""), ("y", "db", "1"),
    ]  # fmt: skip
    assert grade.artifacts == [{"path": "/a", "service": "", "exclude": []}]
