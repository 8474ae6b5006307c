"""The check of what users brought, in containers of the real engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest

from task_packs.checking import containers as container_check
from task_packs.checking.containers import container_grader
from task_packs.checking.pack import verify_pack
from task_packs.grading import Outcome
from task_packs.images.recipes import ensure_image
from task_packs.lock import read_lock
from task_packs.manifest import Recipe
from task_packs.task import Task
from tests.cli.app import App
from tests.packs.copies import HARBOR_TOML, files, harbor_task, imported

pytestmark = pytest.mark.engine
TASK = "074-apa-references-review"
DEEP = "ipython-session-bundle-replay"
Grader = Callable[[Task, bool], Outcome]


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    found = docker.from_env()
    yield found
    found.close()


@pytest.fixture
def base(engine: docker.DockerClient, tmp_path: Path) -> str:
    return ensure_image(engine, Recipe(kind="busybox"), tmp_path / "cache", lambda line: None)


@pytest.fixture
def grader(engine: docker.DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grader:
    monkeypatch.setattr(container_check, "SOLVED_TIMES", 2)
    return container_grader(engine, tmp_path / "cache", lambda line: None)


@pytest.mark.slow
def test_a_task_of_ones_own_image_is_ready_after_its_check(tmp_path: Path, base: str, grader: Grader) -> None:
    harbor_task(tmp_path / "copy" / TASK, environment__Dockerfile=f"FROM {base}\nWORKDIR /app\n")
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    assert verify_pack(pack, grader) == []
    locked = read_lock(pack.path)[TASK]
    assert (locked.untouched, locked.reference, locked.ready) == ("scored 0", "scored 1", True)


@pytest.mark.slow
def test_what_follows_a_hook_that_took_too_long_finds_the_container_again(
    tmp_path: Path, base: str, grader: Grader
) -> None:
    hook = '[[verifier.collect]]\ncommand = "sleep 100"\ntimeout_sec = 0\n'
    dockerfile = f"FROM {base}\nWORKDIR /app\n"
    harbor_task(tmp_path / "copy" / TASK, f"{HARBOR_TOML}{hook}", environment__Dockerfile=dockerfile)
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    assert grader(pack.task(TASK), True).value == 1


def test_nothing_can_be_reached_and_nothing_hidden_is_seen(tmp_path: Path, base: str, grader: Grader) -> None:
    harbor_task(tmp_path / "copy" / TASK, environment__Dockerfile=f"FROM {base}\nWORKDIR /app\n")
    look = "#!/bin/sh\n[ -e /tests ] && exit 3\n[ $(ls /sys/class/net | wc -l) = 1 ] && touch done\n"
    files(tmp_path / "copy" / TASK, {"solution/solve.sh": look})
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    found = grader(pack.task(TASK), True)
    assert (found.status, found.value, found.detail) == ("scored", 1.0, "")


def test_an_image_that_shows_the_agent_hidden_files_is_found(tmp_path: Path, base: str, grader: Grader) -> None:
    shows = f"FROM {base}\nRUN mkdir /solution /tests\nWORKDIR /app\n"
    harbor_task(tmp_path / "copy" / TASK, environment__Dockerfile=shows)
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    found = grader(pack.task(TASK), False)
    assert (found.status, found.detail) == (
        "grader_error", "the agent would see /tests and /solution of its image",
    )  # fmt: skip


SEPARATE = """\
schema_version = "1.3"
[verifier]
environment_mode = "separate"
[[verifier.collect]]
command = "cp /app/work.txt /logs/artifacts/work.txt"
"""
JUDGED = """\
#!/bin/sh
if [ -e /app/work.txt ] || [ -e /solution ]; then exit 3; fi
[ -f /used ] && exit 4
touch /used
judge /logs/artifacts/work.txt >"$VERIFIER_DIR/reward.txt"
"""
"""Can be used once in one place, and needs a program that is only on its own image's PATH."""
JUDGE = '#!/bin/sh\n[ -f /pristine ] && [ "$(cat $1)" = good ] && echo 1 || echo 0\n'
OWN_IMAGE = """\
FROM {base}
COPY reference.txt /pristine
COPY judge /opt/own/judge
ENV PATH=/opt/own:/bin
WORKDIR /app
"""
PLAN = """\
name = "separate"
studies = ["duration"]
[[agent]]
id = "good"
harness = "command"
options = {{ argv = ["sh", "-c", "echo good >work.txt; touch /used"] }}
[[agent]]
id = "idle"
harness = "command"
options = {{ argv = ["true"] }}
[[tasks]]
pack = "deepswe"
include = ["{task}"]
requests = ["4s"]
[machine.local]
engine = "docker"
"""


def separate(copy: Path, base: str) -> None:
    """A task whose grader has an image of its own."""
    image = OWN_IMAGE.format(base=base)
    harbor_task(
        copy / DEEP, SEPARATE, environment__Dockerfile=f"FROM {base}\nWORKDIR /app\n", tests__Dockerfile=image,
    )  # fmt: skip
    solve = "#!/bin/sh\necho good >work.txt\n"
    files(copy / DEEP, {"tests/test.sh": JUDGED, "tests/judge": JUDGE, "solution/solve.sh": solve})
    (copy / DEEP / "tests/judge").chmod(0o755)


@pytest.mark.slow
def test_a_separate_grader_gets_the_artifacts_and_nothing_else(tmp_path: Path, base: str, grader: Grader) -> None:
    separate(tmp_path / "copy", base)
    pack, _ = imported("deepswe", tmp_path / "copy", tmp_path)
    assert verify_pack(pack, grader) == []


def test_a_run_is_graded_by_a_separate_grader_as_the_check_was(tmp_path: Path, base: str) -> None:
    separate(tmp_path / "copy", base)
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    imported("deepswe", tmp_path / "copy", app.home)
    app("run", app.file("p.toml", PLAN.format(task=DEEP)), "--plain").ok()
    graded = {run["agent"]: (run["grade"]["status"], run["grade"]["value"]) for run in app.runs()}
    assert graded == {"good": ("scored", 1.0), "idle": ("scored", 0.0)}
    prints = [app.events(run["id"], "graded")[0]["data"]["grader"] for run in app.runs()]
    assert prints[0] == prints[1]
    assert prints[0]["image_id"].startswith("sha256:")
    assert len(prints[0]["files"]) == 1


def test_what_hangs_is_ended(tmp_path: Path, base: str, grader: Grader) -> None:
    toml = 'schema_version = "1.3"\n[verifier]\ntimeout_sec = 1.0\n'
    harbor_task(tmp_path / "copy" / TASK, toml, environment__Dockerfile=f"FROM {base}\nWORKDIR /app\n")
    files(tmp_path / "copy" / TASK, {"tests/test.sh": "#!/bin/sh\nsleep 600\n"})
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    found = grader(pack.task(TASK), False)
    assert (found.status, found.detail) == ("grader_error", "the grader did not end in time")


@pytest.mark.slow
def test_preparation_comes_before_the_solution(tmp_path: Path, base: str, grader: Grader) -> None:
    harbor_task(tmp_path / "copy" / TASK, environment__Dockerfile=f"FROM {base}\nWORKDIR /app\n")
    files(
        tmp_path / "copy" / TASK,
        {"prepare/prepare.sh": "#!/bin/sh\ntouch made\n", "solution/solve.sh": "#!/bin/sh\nmv made done\n"},
    )
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    assert verify_pack(pack, grader) == []


def test_an_image_that_cannot_be_had_is_an_error_of_the_grader(tmp_path: Path, grader: Grader) -> None:
    harbor_task(tmp_path / "copy" / TASK, '[environment]\ndocker_image = "127.0.0.1:9/none:1"\n')
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    found = grader(pack.task(TASK), False)
    assert found.status == "grader_error"
    assert found.detail.startswith("image 127.0.0.1:9/none:1 cannot be had")
