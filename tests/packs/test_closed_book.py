"""Question families on their way to a CLI: a clock as the only tool, the family's system prompt, the grade."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from agenttime_tui.campaign.cells import Cell, TaskInfo, make_cells
from agenttime_tui.campaign.plan import AgentConfig, make_plan
from agenttime_tui.harness.protocol import Launch
from agenttime_tui.protocols.staging import command_of, stage
from task_packs.load import load_pack
from task_packs.task import Task
from tests.cli.app import App
from tests.harness.launches import shipped
from tests.packs.copies import gpqa_csv, imported, json_lines

HLE_SYSTEM = load_pack("humanitys-last-exam").manifest.prompt.system
PLAN = """\
name = "questions"
studies = ["duration"]
[[agent]]
id = "punctual"
harness = "scripted"
options = { persona = "early" }
[[tasks]]
pack = "gpqa-diamond"
include = ["%s"]
requests = ["4s"]
[machine.local]
engine = "docker"
"""


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Task]:
    """A made-up question of each family."""
    home = tmp_path_factory.mktemp("home")
    gpqa = load_pack("gpqa-diamond").tasks[0].id
    hle = load_pack("humanitys-last-exam").tasks[0].id
    row = {"id": hle, "question": "Which?\n\nA. one\nB. two", "answer": "B", "answer_type": "multipleChoice"}
    return {
        "gpqa-diamond": imported("gpqa-diamond", gpqa_csv(home / "q.csv", [gpqa]), home)[0].tasks[0],
        "humanitys-last-exam": imported("humanitys-last-exam", json_lines(home / "h.jsonl", [row]), home)[0].tasks[0],
    }


def launched(task: Task, harness: str) -> tuple[Cell, AgentConfig, Launch]:
    plan = make_plan(
        {
            "name": "p", "studies": ["duration"], "agent": [{"id": "a", "harness": harness, "model": "m-1"}],
            "tasks": [{"pack": task.pack.name, "include": [task.id]}],
        }
    )  # fmt: skip
    info = TaskInfo(task.id, task.requests_ms, task.pack.family)
    cell = make_cells(plan, {task.pack.name: [info]})[0]
    return cell, plan.agents[0], command_of(cell, task, plan.agents[0])


def after(launch: Launch, flag: str) -> str:
    return launch.argv[launch.argv.index(flag) + 1]


@pytest.mark.parametrize(("family", "system"), [("gpqa-diamond", ""), ("humanitys-last-exam", HLE_SYSTEM)])
def test_claude_code_gets_the_familys_system_prompt_and_a_clock(
    questions: dict[str, Task], family: str, system: str
) -> None:
    _, _, made = launched(questions[family], "claude-code")
    assert made.stdin is not None
    assert made.stdin.startswith(questions[family].instruction())
    place = after(made, "--system-prompt-file").replace("{root}", "")
    assert shipped(made)[place].decode() == system
    assert after(made, "--tools") == after(made, "--allowedTools") == "mcp__agenttime_clock__current_time"


@pytest.mark.parametrize(("family", "system"), [("gpqa-diamond", None), ("humanitys-last-exam", HLE_SYSTEM)])
def test_codex_gets_it_as_its_developers_instructions(
    questions: dict[str, Task], family: str, system: str | None
) -> None:
    _, _, made = launched(questions[family], "codex")
    (config,) = (data for place, data in shipped(made).items() if place.endswith(".toml"))
    read = tomllib.loads(config.decode())
    assert read.get("developer_instructions") == system
    assert read["features"]["shell_tool"] is False
    assert made.argv[3] == "clock"


@pytest.mark.parametrize(("family", "system"), [("gpqa-diamond", None), ("humanitys-last-exam", HLE_SYSTEM)])
def test_the_scripted_agent_gets_it_too(questions: dict[str, Task], family: str, system: str | None) -> None:
    cell, agent, made = launched(questions[family], "scripted")
    found = [data.decode() for place, data in shipped(made).items() if place.endswith("-system.txt")]
    assert found == ([system] if system else [])
    spec = stage("a1", cell, questions[family], agent, "docker", "x", {}).spec
    assert spec["grade"] is None
    assert spec["environment"]["network"] == "none"
    assert "right" not in json.dumps(spec["origin"])


@pytest.mark.engine
def test_a_made_up_question_through_prompt_container_and_grade(tmp_path: Path) -> None:
    app = App(tmp_path, os.environ["DOCKER_HOST"])
    roster = [task.id for task in load_pack("gpqa-diamond").tasks]
    gpqa_csv(tmp_path / "gpqa_diamond.csv", roster[:2])
    app.call("packs", "import", "gpqa-diamond", "--from", tmp_path).ok()
    app.call("packs", "check", "gpqa-diamond").ok()
    app("run", app.file("p.toml", PLAN % roster[0]), "--plain").ok()
    run = app.run()
    assert (run["engine"], run["ending"], run["capture"]) == ("docker", "own", "complete")
    assert run["grade"]["status"] == "scored"
    assert run["grade"]["value"] in (0.0, 1.0)
    assert run["grade"]["percent"] == 100 * run["grade"]["value"]
