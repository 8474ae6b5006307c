"""Tasks that bring services, in containers of the real engine: checked, and run through the application."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from task_packs.checking import containers as container_check
from task_packs.checking.containers import container_grader
from task_packs.checking.pack import verify_pack
from task_packs.images.of_tasks import ensure_service_image
from task_packs.images.recipes import ensure_image
from task_packs.load import Pack, load_pack
from task_packs.lock import read_lock
from task_packs.manifest import Recipe
from tests.cli.app import App
from tests.packs.copies import files, harbor_task, imported

pytestmark = pytest.mark.engine
TASK = "074-apa-references-review"
TOML = """\
schema_version = "1.4"
artifacts = [{ source = "/seen/asked", service = "api" }, "/tmp/began"]
[environment]
workdir = "/app"
network_mode = "no-network"
env = { WORD = "${NO_SUCH_WORD:-please}" }
healthcheck = { command = "test -f /shared/up", interval_sec = 0.1, retries = 50 }
[verifier]
environment_mode = "separate"
[[verifier.collect]]
service = "api"
command = "cp /tmp/asked /seen/asked"
[[verifier.collect]]
command = "cp answer /logs/artifacts/answer"
"""
COMPOSE = """\
services:
  main:
    command: sleep infinity
    depends_on: {api: {condition: service_healthy}}
    volumes: ["shared:/shared:ro"]
  once:
    image: ${BASE_IMAGE:-%s}
    command: touch /shared/up
    volumes: ["shared:/shared"]
  api:
    build: ./api
    depends_on: {once: {condition: service_completed_successfully}}
    environment: {SAYS: "$$5 more"}
    volumes: ["./api/words:/www/words:ro"]
    healthcheck:
      test: wget -qO /dev/null http://localhost:8000/words/health
      interval: 1s
      retries: 20
volumes: {shared: {}}
"""
ASKED = '#!/bin/sh\nprintf "Content-type: text/plain\\n\\n"; echo "$QUERY_STRING" >>/tmp/asked; echo "$SAYS"\n'
TEST_SH = """\
#!/bin/sh
exec 2>/dev/null
[ "$(cat /logs/artifacts/answer)" = '$5 more' ] && [ "$(cat /seen/asked)" = please ] && [ ! -e /shared ] &&
  [ "$(cat /tmp/began)" = please ] && won=1
echo ${won:-0} >"$VERIFIER_DIR/reward.txt"
"""
BEGINS = """ENTRYPOINT ["sh", "-c", "echo $WORD >/tmp/began; exec \\"$@\\"", "sh"]"""
ASKS = 'wget -qO answer "http://api:8000/cgi-bin/ask?$WORD"'
PLAN = """\
name = "served"
studies = ["duration"]
[[agent]]
id = "good"
harness = "command"
options = {{ argv = ["sh", "-c", '''{asks}'''] }}
[[agent]]
id = "idle"
harness = "command"
options = {{ argv = ["true"] }}
[[tasks]]
pack = "tua-bench"
include = ["{task}"]
requests = ["4s"]
[machine.local]
engine = "docker"
"""


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    found = docker.from_env()
    yield found
    found.close()


@pytest.fixture
def base(engine: docker.DockerClient, tmp_path: Path) -> str:
    return ensure_image(engine, Recipe(kind="busybox"), tmp_path / "cache", lambda line: None)


def served(tmp_path: Path, base: str, home: Path) -> Pack:
    """A pack with a task that asks a service a question, and is graded by what the service saw as well."""
    top = tmp_path / "copy" / TASK
    harbor_task(top, TOML, environment__Dockerfile=f"FROM {base}\nWORKDIR /app\n{BEGINS}\n")
    httpd = 'CMD ["httpd", "-f", "-p", "8000", "-h", "/www"]'
    files(
        top,
        {
            "environment/docker-compose.yaml": COMPOSE % base,
            "environment/api/Dockerfile": f"FROM {base}\nCOPY ask /www/cgi-bin/ask\nRUN mkdir /seen\n{httpd}\n",
            "environment/api/ask": ASKED,
            "environment/api/words/health": "good\n",
            "tests/test.sh": TEST_SH,
            "solution/solve.sh": f"#!/bin/sh\n{ASKS}\n",
        },
    )
    (top / "environment/api/ask").chmod(0o755)
    pack, brought = imported("tua-bench", tmp_path / "copy", home)
    assert not brought.refused
    return pack


def test_an_image_of_a_service_is_built_from_its_own_context(
    engine: docker.DockerClient, tmp_path: Path, base: str
) -> None:
    task = served(tmp_path, base, tmp_path).task(TASK)
    said: list[str] = []
    once, api = task.composed.services
    assert (once.name, ensure_service_image(engine, task, once, said.append)) == ("once", base)
    tag = ensure_service_image(engine, task, api, said.append)
    assert said in ([], [f"image of service api of task {TASK}: building {tag}"])
    assert ensure_service_image(engine, task, api, said.append) == tag
    command = engine.images.get(tag).attrs["Config"]["Cmd"]
    assert command[:2] == ["httpd", "-f"]


@pytest.mark.slow
def test_a_task_with_services_is_ready_after_its_check(
    engine: docker.DockerClient, tmp_path: Path, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_check, "SOLVED_TIMES", 1)
    token = secrets.token_hex(6)
    monkeypatch.setattr(secrets, "token_hex", lambda size: token)
    pack = served(tmp_path, base, tmp_path)
    assert verify_pack(pack, container_grader(engine, tmp_path / "cache", lambda line: None)) == []
    locked = read_lock(pack.path)[TASK]
    assert (locked.untouched, locked.reference, locked.ready) == ("scored 0", "scored 1", True)
    assert engine.networks.list(filters={"name": token}) == engine.volumes.list(filters={"name": token}) == []


@pytest.mark.slow
def test_a_service_that_does_not_come_up_is_named_with_what_it_said(
    engine: docker.DockerClient, tmp_path: Path, base: str
) -> None:
    pack = served(tmp_path, base, tmp_path)
    path = pack.task(TASK).path / "environment/docker-compose.yaml"
    body = f"image: '{base}', command: 'sh -c \"echo no words; exit 3\"', healthcheck: {{test: x}}"
    path.write_text(f"services: {{a: {{{body}}}}}")
    found = container_grader(engine, tmp_path / "cache", lambda line: None)(load_pack(pack.path).task(TASK), False)
    assert found.status == "grader_error"
    assert found.detail == "service a did not become healthy: it ended with 3: no words"


@pytest.mark.slow
def test_a_run_asks_the_service_by_its_name_and_is_graded_by_what_it_saw(
    engine: docker.DockerClient, tmp_path: Path, base: str
) -> None:
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    served(tmp_path, base, app.home)
    app("run", app.file("p.toml", PLAN.format(task=TASK, asks=ASKS)), "--plain").ok()
    graded = {run["agent"]: (run["grade"]["status"], run["grade"]["value"]) for run in app.runs()}
    assert graded == {"good": ("scored", 1.0), "idle": ("scored", 0.0)}
    prepared = app.events(app.runs()[0]["id"], "prepared")[0]["data"]
    assert [one["name"] for one in prepared["services"]] == ["once", "api"]
    assert all(one["image_id"].startswith("sha256:") for one in prepared["services"])
    ended = {"label": [f"x.id={app.runs()[0]['id']}"]}
    assert engine.networks.list(filters=ended) == engine.volumes.list(filters=ended) == []
