"""What a machine is told of a task's services, variables, health checks and artifacts; and what stops a launch."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.campaign.cells import TaskInfo, make_cells
from agenttime_tui.campaign.placement import Offer, misfit, wants_of
from agenttime_tui.campaign.plan import AgentConfig, make_plan
from agenttime_tui.errors import UserError
from agenttime_tui.protocols.access import access_for, hosts_of
from agenttime_tui.protocols.staging import Staged, stage
from remote_agent.spec import RunSpec
from task_packs.load import load_pack
from task_packs.set_up import SET_UP, set_up_argv
from task_packs.task import Task
from tests.packs.copies import files, in_tar
from tests.packs.packfile import PACK, write_pack

COMPOSE = """\
services:
  main:
    depends_on: {api: {condition: service_healthy}}
    environment: {URL: "http://api:80", WORD: theirs}
    volumes: ["./api/seed.txt:/etc/seed.txt:ro", "kept:/kept:ro"]
    tmpfs: /scratch
  api:
    image: api:1
    command: serve --all
    environment: [WHO=you]
    user: nobody
    volumes: ["./api:/srv/api:ro", "kept:/data"]
    tmpfs: [/run]
    cpus: 0.5
    mem_limit: 64m
    shm_size: 1m
    healthcheck: {test: "true", interval: 2s}
  web:
    image: web:1
volumes: {kept: {}}
"""
POLICY = PACK.replace("[grade]", '[network]\nagent = "task"\n[grade]')


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERATORS_WORD", "please")
    monkeypatch.setenv("OPERATORS_API_KEY", "secret-of-the-operator")
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)


def task_of(top: Path, toml: str = "", compose: str = "", pack: str = POLICY, **more: str) -> Task:
    folder = write_pack(top, pack)
    task = folder / "tasks/one"
    (task / "task.toml").write_text('schema_version = "1.4"\n' + toml)
    files(task, {name.replace("__", "/"): text for name, text in more.items()})
    if compose:
        files(task, {"environment/docker-compose.yaml": compose, "environment/api/seed.txt": "seed\n"})
    return load_pack(folder).tasks[0]


def staged(task: Task, engine: str = "docker", study: str = "natural", grader: str = "") -> Staged:
    plan = make_plan(
        {
            "name": "p", "studies": [study], "agent": [{"id": "a", "harness": "scripted", "model": "m-1"}],
            "tasks": [{"pack": "small", "include": ["one"]}],
        }
    )  # fmt: skip
    (cell, *_) = make_cells(plan, {"small": [TaskInfo(task.id, task.requests_ms, task.pack.family)]})
    agent: AgentConfig = plan.agents[0]
    access = access_for(agent, None, engine, "a1", hosts=hosts_of(task))
    images = {"api": "built:1", "web": "web:1"}
    found = stage("a1", cell, task, agent, engine, "x", {}, grader, access, services=images)
    RunSpec(found.spec)
    return found


def spec_of(task: Task, **how: str) -> dict[str, Any]:
    return staged(task, **how).spec


def test_services_are_told_in_their_order_with_their_files_and_limits(tmp_path: Path) -> None:
    made = staged(task_of(tmp_path, '[environment]\nnetwork_mode = "no-network"\n', COMPOSE))
    around = made.spec["environment"]
    api, web = around["services"]
    assert (web["name"], web["argv"], web["health"], web["ready"]) == ("web", None, None, "started")
    (put,) = api.pop("files")
    assert put["dest"] == "/srv"
    assert in_tar(made.blobs[put["blob"]])["api/seed.txt"] == b"seed\n"
    assert api == {
        "name": "api", "image": "built:1", "argv": ["serve", "--all"], "entrypoint": None, "env": {"WHO": "you"},
        "user": "nobody", "workdir": "", "volumes": [{"name": "kept", "target": "/data", "read_only": False}],
        "tmpfs": ["/run"], "cpus": 0.5, "memory_bytes": 64 << 20, "shm_bytes": 1 << 20, "init": False,
        "health": {
            "test": ["CMD-SHELL", "true"], "interval_ms": 2000, "timeout_ms": 0, "start_period_ms": 0, "retries": 0,
        },
        "ready": "healthy",
    }  # fmt: skip
    assert around["volumes"] == [{"name": "kept", "target": "/kept", "read_only": True}]
    assert around["env"] == {"URL": "http://api:80", "WORD": "theirs"}
    assert around["tmpfs"] == ["/scratch"]
    (seed,) = (put for put in around["files"] if put["dest"] == "/etc")
    assert in_tar(made.blobs[seed["blob"]]) == {"seed.txt": b"seed\n"}


@pytest.mark.parametrize(
    ("toml", "network"),
    [
        ('[environment]\nnetwork_mode = "no-network"\n', "own"),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.example"]\n', "own"),
        ("", "own-public"),
    ],
)
def test_services_take_a_network_of_the_runs_own(tmp_path: Path, toml: str, network: str) -> None:
    around = spec_of(task_of(tmp_path, toml, COMPOSE))["environment"]
    assert around["network"] == network
    past = around["env"].get("NO_PROXY", "").split(",")
    assert ("api" in past and "web" in past) is ("allowlist" in toml)


def test_a_forecast_has_neither_services_nor_variables(tmp_path: Path) -> None:
    around = spec_of(task_of(tmp_path, "", COMPOSE), study="forecast")["environment"]
    assert not {"services", "volumes", "env", "setup"} & around.keys()
    assert around["network"] == "bridge"


def test_services_take_a_container_engine(tmp_path: Path) -> None:
    task = task_of(tmp_path, "", COMPOSE)
    assert misfit(wants_of(task), Offer("m", engine="process")) == (
        "has no container engine for the services that it brings"
    )
    assert misfit(wants_of(task), Offer("m", engine="docker")) == ""
    with pytest.raises(UserError, match=r'task "one" of pack "small" brings 2 services: api, web, and they take'):
        staged(task, "process")


def test_variables_of_the_container_reach_session_preparation_and_grader(tmp_path: Path) -> None:
    toml = '[environment]\nenv = { WORD = "${OPERATORS_WORD}", OTHER = "${NOT_SET_ANYWHERE:-d}" }\n'
    toml += '[verifier]\nenv = { V = "1" }\n'
    spec = spec_of(task_of(tmp_path, toml, COMPOSE, **{"prepare__prepare.sh": "#!/bin/sh\n"}))
    env = {"WORD": "please", "OTHER": "d", "URL": "http://api:80"}
    assert spec["environment"]["env"] == env
    assert env.items() <= spec["grade"]["env"].items()
    assert spec["grade"]["env"]["V"] == "1"
    setup = spec["environment"]["setup"]["argv"]
    assert setup[2] == SET_UP
    assert {f"{name}={value}" for name, value in env.items()} < set(setup)
    assert setup[-1] == "{root}/prepare/prepare.sh"


def test_a_separate_graders_place_is_its_own(tmp_path: Path) -> None:
    toml = """
        artifacts = [{ source = "/out/db", service = "api", exclude = ["*.tmp"] }, "/app/x", "/logs/artifacts/y"]
        [environment]
        env = { WORD = "session" }
        [verifier]
        collect = [{ command = "dump", service = "api", timeout_sec = 5, user = "db" }, { command = "git diff" }]
        [verifier.environment]
        docker_image = "judge:1"
        workdir = "/judge"
        env = { WORD = "grader" }
    """
    task = task_of(tmp_path, toml, COMPOSE)
    assert task.separate
    grade = spec_of(task, grader="judge:1")["grade"]
    assert (grade["image"], grade["cwd"], grade["env"]["WORD"]) == ("judge:1", "/judge", "grader")
    assert "URL" not in grade["env"]
    assert grade["artifacts"] == [
        "/logs/artifacts", {"path": "/out/db", "service": "api", "exclude": ["*.tmp"]}, "/app/x",
    ]  # fmt: skip
    beside, own = grade["collect"]
    assert beside == {"command": "dump", "service": "api", "timeout_ms": 5000, "user": "db"}
    assert own["command"] == "export URL=http://api:80; export WORD=session; cd /app || exit; git diff"
    assert (own["service"], own["timeout_ms"], own["user"]) == ("main", 60_000, "")


def test_a_grader_in_the_sessions_place_comes_after_the_commands_that_collect(tmp_path: Path) -> None:
    task = task_of(
        tmp_path, '[[verifier.collect]]\ncommand = "echo a >>log"\n[[verifier.collect]]\ncommand = "echo b >>log"\n'
    )
    argv = spec_of(task)["grade"]["argv"]
    (script,) = (tmp_path / "tasks/one/tests").iterdir()
    script.write_text("#!/bin/sh\necho graded >>log\n")
    at = [str(script) if word.endswith("/tests/test.sh") else word for word in argv]
    subprocess.run(at, cwd=tmp_path, check=True)
    assert (tmp_path / "log").read_text() == "a\nb\ngraded\n"


@pytest.mark.parametrize(
    ("toml", "compose", "said"),
    [
        ('[environment]\nskills_dir = "/skills"\n', "", "brings skills (environment.skills_dir in task.toml), which"),
        ('[environment]\ntpu = { type = "v4", topology = "2x2" }\n', "", "needs a TPU"),
        ('[environment]\nos = "Windows"\n', "", "needs windows"),
        ('[environment]\nenv = { A = "${NOT_SET_ANYWHERE}" }\n', "",
         "cannot be set up: task.toml: environment.env.A: takes NOT_SET_ANYWHERE from your environment, where it"),
        ('[environment]\nenv = { A = "${OPERATORS_API_KEY}" }\n', "",
         "cannot be set up: task.toml: environment.env.A: takes OPERATORS_API_KEY from your environment: keys do not"),
        ("", "services: {a: {image: x, privileged: true}}",
         "cannot be set up: environment/docker-compose.yaml: services.a.privileged: is not supported"),
        ("", "services: {a: {image: x, environment: [OPERATORS_API_KEY]}}",
         "cannot be set up: environment/docker-compose.yaml: services.a.environment: takes OPERATORS_API_KEY from"),
        ('artifacts = [{ source = "/x", service = "db" }]\n', COMPOSE,
         "names service db in artifacts of task.toml, which is not among its services"),
        ('[[verifier.collect]]\ncommand = "x"\nservice = "db"\n', "",
         "names service db in verifier.collect of task.toml, which is not among its services"),
        ('[verifier]\nuser = "judge"\n', "", "wants its grader run as judge (verifier.user in task.toml), and graders"),
        ('[verifier]\nenv = { K = "${OPERATORS_API_KEY}" }\n', "",
         "cannot be graded: task.toml: verifier.env.K: takes OPERATORS_API_KEY from your environment: keys do not"),
        ("[verifier.environment.healthcheck]\ncommand = 'x'\n", "", "wants healthcheck for its grader alone"),
        ("[verifier.environment]\ngpus = 1\n", "", "wants gpus = 1 for its grader alone"),
        ("[environment]\nmemory_mb = 64\n[verifier.environment]\nmemory_mb = 128\n", "",
         "wants memory of 128 MiB for its grader alone"),
        ('[verifier.environment]\nnetwork_mode = "public"\n', "", "wants a network for its grader (verifier: public"),
        ('[verifier]\nnetwork_mode = "no-network"\n', "", "wants its grader without a network"),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["*.a.example", "10.0.0.0/8"]\n', "",
         "allows 10.0.0.0/8 (allowed_hosts), and only hosts can be let through, not ranges"),
        ('[environment]\nnetwork_mode = "no-network"\n[verifier]\nnetwork_mode = "public"\n', "",
         "wants a network for its grader"),
    ],
)  # fmt: skip
def test_what_cannot_be_honoured_stops_the_launch_in_one_sentence(
    tmp_path: Path, toml: str, compose: str, said: str
) -> None:
    task = task_of(tmp_path, toml, compose)
    assert task.hindrance.startswith(said)
    assert "\n" not in task.hindrance
    with pytest.raises(UserError, match='task "one" of pack "small" cannot be launched: it '):
        staged(task)
    assert wants_of(task).hindrance == task.hindrance


@pytest.mark.parametrize(
    "toml",
    [
        '[verifier]\nuser = "root"\nnetwork_mode = "public"\n',
        '[environment]\nnetwork_mode = "no-network"\n[verifier]\nnetwork_mode = "no-network"\n',
        "[verifier.environment]\nmemory_mb = 64\nstorage_mb = 9\n[metadata]\na = 1\n[new]\nb = 2\n",
        '[environment]\nstorage_mb = 10\ngpu_types = ["H100"]\n[verifier]\nenv = { K = "${SOME_API_KEY:-none}" }\n',
    ],
)
def test_what_is_honoured_or_known_to_be_of_no_matter_does_not(tmp_path: Path, toml: str) -> None:
    task = task_of(tmp_path, toml)
    assert task.hindrance == ""
    spec_of(task)


def test_services_are_not_in_a_snapshot(tmp_path: Path) -> None:
    task = task_of(tmp_path, "", COMPOSE, 'settle = "snapshot"\n' + POLICY)
    assert task.hindrance.startswith('brings services, and settle = "snapshot" of its pack grades in a copy')


def test_a_file_of_variables_beside_the_compose_file_is_read(tmp_path: Path) -> None:
    compose = "services: {api: {image: '${IMAGE}', environment: ['A=$A', 'K=$A_KEY', 'W=$OPERATORS_WORD', 'B=$B']}}"
    kept = '# no\nIMAGE=api:2\nexport A="a b" # c\nA_KEY=dummy\nOPERATORS_WORD=theirs\nB=it\'s\nnothing\n'
    (api,) = task_of(tmp_path, "", compose, **{"environment/.env": kept}).composed.services
    assert (api.image, dict(api.env)) == ("api:2", {"A": "a b", "K": "dummy", "W": "please", "B": "it's"})


def set_up(task: Task, place: str = "") -> list[str]:
    return set_up_argv(task, place, {})


def test_nothing_is_set_up_where_nothing_need_be(tmp_path: Path) -> None:
    assert set_up(task_of(tmp_path, '[environment]\nenv = { A = "1" }\n')) == []


def test_health_is_asked_for_until_it_is_good_after_the_preparation(tmp_path: Path) -> None:
    check = 'echo "$A b" >>log; test -f ready && test $(wc -l <log) -gt 3'
    health = f"{{ command = '{check}', interval_sec = 0.05, retries = 9 }}"
    toml = f"[environment]\nenv = {{ A = 'a' }}\nhealthcheck = {health}\n"
    task = task_of(tmp_path, toml, **{"prepare__prepare.sh": '#!/bin/sh\necho "prepared for $A" >log; touch ready\n'})
    folder = str(task.path / "prepare")
    subprocess.run(set_up(task, folder), cwd=tmp_path, check=True)
    assert (tmp_path / "log").read_text() == "prepared for a\n" + "a b\n" * 3


def test_health_that_stays_bad_is_told_with_what_was_said(tmp_path: Path) -> None:
    toml = "[environment.healthcheck]\ncommand = 'echo x >>log; echo not yet >&2; exit 3'\n"
    toml += "interval_sec = 0.01\nretries = 2\n"
    done = subprocess.run(set_up(task_of(tmp_path, toml)), cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, (tmp_path / "log").read_text()) == (1, "x\nx\n")
    assert done.stderr.startswith("the task's health check failed 2 times: echo x")
    assert done.stderr.endswith(": not yet\n")


def test_failures_of_the_start_do_not_count(tmp_path: Path) -> None:
    toml = (
        "[environment.healthcheck]\ncommand = 'echo x >>log; test $(wc -l <log) -gt 4'\nretries = 1\n"
        "start_period_sec = 30\nstart_interval_sec = 0.01\n"
    )
    subprocess.run(set_up(task_of(tmp_path, toml)), cwd=tmp_path, check=True)
    assert len((tmp_path / "log").read_text().split()) == 5


def test_health_of_the_compose_file_is_asked_for_too(tmp_path: Path) -> None:
    compose = 'services: {main: {healthcheck: {test: [CMD, touch, "a b"], interval: 1s}}}'
    task = task_of(tmp_path, "[environment.healthcheck]\ncommand = 'touch own'\n", compose)
    subprocess.run(set_up(task), cwd=tmp_path, check=True)
    assert {"own", "a b"} <= {path.name for path in tmp_path.iterdir()}


def test_what_an_image_starts_by_itself_is_started(tmp_path: Path) -> None:
    recipe = 'FROM x\nENTRYPOINT ["no"]\nFROM y\n# ENTRYPOINT no\nENTRYPOINT \\\n  echo "$A" >started\n'
    task = task_of(tmp_path, "[environment]\nenv = { A = 'a' }\n", environment__Dockerfile=recipe)
    subprocess.run([word if word != "2" else "0.2" for word in set_up(task)], cwd=tmp_path, check=True)
    assert (tmp_path / "started").read_text() == "a\n"
    bad = task_of(tmp_path / "bad", "", environment__Dockerfile='FROM x\nENTRYPOINT ["sh", "-c", "exit 4"]\n')
    argv = [word if word != "2" else "0.2" for word in set_up(bad)]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.partition(":")[0]) == (1, "the image's ENTRYPOINT ended")
