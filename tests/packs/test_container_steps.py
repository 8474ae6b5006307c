"""Tasks with steps in containers: the check walks through them, and a run hides each step's files from the next."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from task_packs.checking import containers as container_check
from task_packs.checking.containers import container_grader
from task_packs.checking.pack import verify_pack
from task_packs.grading import Outcome
from task_packs.load import load_pack
from task_packs.task import Task
from tests.cli.app import App
from tests.cli.test_stepped_runs import PLAN
from tests.packs.stepped import FILES, PACK, write_stepped

pytestmark = [pytest.mark.engine, pytest.mark.slow]
IN_BUSYBOX = PACK.replace('user = "root"', 'user = "agent"') + '[image]\nkind = "busybox"\n'
SETUP = '#!/bin/sh\nid -un >who\necho "$HOME" >>who\necho >>name\nrm -- "$0"\n'
WORKER = """\
prompt=$(cat)
ls -d /tests /logs/verifier /solution name who 2>/dev/null
case $prompt in
*executable*) printf '#!/bin/sh\\necho hello\\n' >greet; chmod +x greet; (sleep 300 &) ;;
*name*) cat who; stat -c %U name; ps -o args | grep -c '^sleep 300'
  printf '#!/bin/sh\\necho hello $(cat name)\\n' >greet ;;
*README*) echo 'greet greets' >README ;;
esac
"""


@pytest.fixture
def grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Task, bool], Outcome]]:
    monkeypatch.setattr(container_check, "SOLVED_TIMES", 2)
    engine = docker.from_env()
    yield container_grader(engine, tmp_path / "cache", lambda line: None)
    engine.close()


def test_the_check_in_containers_proves_it(tmp_path: Path, grader: Callable[[Task, bool], Outcome]) -> None:
    said: list[str] = []
    look = "#!/bin/sh\n[ -e /tests ] && exit 3\n[ -e /logs/verifier ] && exit 4\n" + "".join(
        FILES["steps/tell/solution/solve.sh"].splitlines(True)[1:]
    )
    pack = load_pack(write_stepped(tmp_path / "p", IN_BUSYBOX, **{"steps/tell/solution/solve.sh": look}))
    assert verify_pack(pack, grader, said.append) == []
    assert said == ["greeter: untouched scored 0, solved scored 1"]


def test_a_run_in_a_container(tmp_path: Path) -> None:
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    write_stepped(app.home / "packs" / "stepped", IN_BUSYBOX, **{"steps/teach/workdir/setup.sh": SETUP})
    plan = PLAN.format(worker=WORKER, cutoff="60s", study="natural").replace('"process"', '"docker"')
    try:
        app("run", app.file("p.toml", plan), "--plain").ok()
        (run,) = app.runs()
        shown: dict[str, Any] = app.json("show", run["id"])["run"]
        assert (run["engine"], run["ending"], run["grade"]["value"]) == ("docker", "own", 1.0)
        assert [one["grade"]["value"] for one in shown["extra"]["steps"]] == [1.0, 1.0, 1.0]
        lines = app.json("transcript", run["id"])["transcript"]
        said = "".join(one["text"] for one in lines if one["stream"] == "out").splitlines()
        assert said == ["name", "who", "agent", "/home/agent", "agent", "0", "name", "who"]
    finally:
        app.end_processes()
    client = docker.from_env()
    try:
        assert client.containers.list(all=True, filters={"label": f"x.id={run['id']}"}) == []
    finally:
        client.close()
