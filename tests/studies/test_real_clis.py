"""Every study with Codex and Claude Code in containers without a network: what was sent, and what the report says."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui import cli
from agenttime_tui.campaign.plan import load_plan
from agenttime_tui.protocols import duration, eta, forecast, same_turn
from agenttime_tui.protocols.retrospection.question import ASK_AGAIN, QUESTION, SELF_SCORE
from task_packs.eta import disclosure
from task_packs.load import load_pack
from task_packs.task import Task
from tests.model_server import Request
from tests.studies.campaign import Finished
from tests.studies.real_plans import HARNESSES, KEYS, MODELS, SYSTEM, go_through
from tests.studies.real_plans import QUESTION as WHICH
from tests.studies.talking import Talking, kind_of, spoken

pytestmark = [
    pytest.mark.slow, pytest.mark.cli, pytest.mark.engine, pytest.mark.timeout(600), pytest.mark.xdist_group("studies"),
]  # fmt: skip
BY_BOTH = pytest.mark.parametrize("harness", HARNESSES)
APIS = {"codex": "responses", "claude-code": "messages"}
CLOCK = {"codex": ["curr_time"], "claude-code": ["mcp__agenttime_clock__current_time"]}
SHELL = {"codex": "exec", "claude-code": "Bash"}
CONDITIONS = ["oracle", "native", "context-only", "replay", "scrubbed"]


@dataclass(frozen=True)
class Studied:
    """The finished campaigns and what the server was asked in them."""

    finished: Finished
    server: Talking

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """Every run with its extras."""
        return [said(self.finished, "show", one["id"])["run"] for one in said(self.finished, "runs")["runs"]]

    @cached_property
    def _names(self) -> dict[str, str]:
        return {one["id"]: one["name"] for one in said(self.finished, "status")["campaigns"]}

    def of(self, plan: str, harness: str, study: str) -> list[dict[str, Any]]:
        """The runs of a study in a plan."""
        found = [run for run in self.runs if (run["agent"], run["study"]) == (harness, study)]
        return [run for run in found if self._names[run["campaign"]] == plan]

    def sent(self, plan: str, harness: str, kind: str) -> list[Request]:
        """What an agent's CLI asked about one question."""
        found = self.server.of(f"{plan}-{harness}", APIS[harness])
        return [one for one in found if kind_of(one) == kind]

    def replayed(self, plan: str, kind: str = "asked") -> list[Request]:
        """What was asked from outside."""
        return [one for one in self.server.of(f"{plan}-replay", "chat") if kind_of(one) == kind]

    @cached_property
    def task(self) -> Task:
        """The task of all studies."""
        return load_pack(self.finished.home / "packs" / "seven").tasks[0]


def said(finished: Finished, *words: str) -> Any:
    """The JSON answer of a verb, read in this process."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.main(["--home", str(finished.home), *words, "--json"]) == 0
    return json.loads(out.getvalue())


def events(studied: Studied, run: str, *kinds: str) -> list[dict[str, Any]]:
    """The journal records of a run, of these kinds."""
    return [one for one in said(studied.finished, "events", run)["events"] if one["kind"] in kinds]


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studied]:
    folder = tmp_path_factory.mktemp("real-studies")
    with Talking({"any": [[{"final": "Nothing was to be done."}]]}) as server:
        yield Studied(go_through(server, folder), server)


def test_every_run_ended_by_itself_and_counts(studied: Studied) -> None:
    assert len(studied.runs) == 2 * (16 + 3 + 1 + 1 + 3)
    assert {(run["ending"], run["counts"]) for run in studied.runs} == {("own", "yes")}
    assert {run["engine"] for run in studied.runs if run["machine"] == "local"} == {"docker"}
    assert {tuple(run["checks_failed"]) for run in studied.runs} == {()}


@BY_BOTH
def test_model_and_effort_are_the_planned_ones_everywhere(studied: Studied, harness: str) -> None:
    asked = [one for one in studied.server.requests if one.scenario.endswith(f"-{harness}")]
    assert {(one.model, one.effort, one.ended) for one in asked} == {(MODELS[harness], "max", "answered")}
    assert {(one.model, one.effort) for one in studied.server.requests if one.api == "chat"} == {("fake-model", "max")}


@BY_BOTH
def test_each_session_is_opened_with_exactly_the_studys_prompt(studied: Studied, harness: str) -> None:
    native = studied.task.instruction()
    for plan, kind, prompt in (
        ("all", "natural", native.decode()),
        ("all", "duration", duration.prompt(native, 2_000, 2_000).text),
        ("all", "forecast", forecast.prompt(native).text),
        ("p1", "forecast", forecast.prompt(native, "p1").text),
        ("p2", "forecast", forecast.prompt(native, "p2").text),
        ("p3", "forecast", forecast.prompt(native, "p3").text),
        ("human", "referent", forecast.prompt(native, "human").text),
        ("all", "same-turn", same_turn.prompt(native).text),
        ("all", "estimate", eta.estimate_prompt(disclosure(studied.task)).text),
        ("question", "question", WHICH),
    ):
        sent = studied.sent(plan, harness, kind)
        assert sent, (plan, kind)
        assert [spoken(one) for one in sent] == [[prompt]] * len(sent), (plan, kind)


@BY_BOTH
def test_a_question_about_a_run_is_one_more_turn_after_its_parents_prompt(studied: Studied, harness: str) -> None:
    native = studied.task.instruction().decode()
    for kind, question, count in (("asked", QUESTION, 6), ("self-score", SELF_SCORE, 1)):
        sent = [one for one in studied.sent("all", harness, kind) if one.step == 0]
        assert [spoken(one) for one in sent] == [[native, question]] * count


@BY_BOTH
@pytest.mark.parametrize(("plan", "seen"), [("all", 0), ("p1", 1), ("p2", 2), ("p3", 3)])
def test_a_forecast_finds_its_evidence_and_no_more(studied: Studied, harness: str, plan: str, seen: int) -> None:
    (run,) = studied.of(plan, harness, "forecast")
    assert run["grade"]["status"] == "not_graded"
    whole = json.dumps(studied.sent(plan, harness, "forecast")[-1].body)
    found = [sign in whole for sign in ("TASK.md", "Six, then seven.", "observed probe six")]
    assert found == [True] * seen + [False] * (3 - seen)
    assert "hint.txt" not in whole


@BY_BOTH
def test_a_referents_answer_keeps_its_reason(studied: Studied, harness: str) -> None:
    (run,) = studied.of("human", harness, "forecast")
    assert run["extra"]["answer"] == "MINUTES=7.5\nREASON=It is one small file."


@BY_BOTH
def test_an_estimate_is_made_without_any_tool_and_sealed_before_they_come(studied: Studied, harness: str) -> None:
    (estimate,) = studied.sent("all", harness, "estimate")
    assert estimate.tools == []
    begun = studied.sent("all", harness, "begin")
    assert [spoken(one)[1:] for one in begun] == [[eta.BEGIN]] * len(begun)
    assert all(SHELL[harness] in one.tools for one in begun)
    assert {one.turn for one in begun} == {1}, "the same session goes on"
    (run,) = studied.of("all", harness, "eta")
    told = events(studied, run["id"], "sealed", "armed")
    kinds = [one["kind"] for one in told]
    assert kinds.index("sealed") < [n for n, kind in enumerate(kinds) if kind == "armed"][1]
    (sealed,) = (one["data"] for one in told if one["kind"] == "sealed")
    assert (sealed["text"], sealed["number"]) == ("minutes = 4", 4)
    out = [one["data"] for one in events(studied, run["id"], "transcript")]
    raw = "".join(part["text"] for part in out if part["stream"] == "out").encode()[: sealed["bytes"]]
    assert hashlib.sha256(raw).hexdigest() == sealed["sha256"]


@BY_BOTH
def test_the_first_success_is_observed_and_lies_within_the_session(studied: Studied, harness: str) -> None:
    (run,) = studied.of("all", harness, "eta")
    extra = run["extra"]
    assert (extra["estimate_min"], extra["verdict"], extra["track"]) == (4, "passed", "debugging")
    assert 0 <= extra["last_fail_s"] < extra["passed_s"]
    assert run["worked_s"] > 0
    assert run["grade"]["passed"] is True


@BY_BOTH
def test_each_condition_offers_its_own_tools(studied: Studied, harness: str) -> None:
    first = [one for one in studied.sent("all", harness, "asked") if one.step == 0]
    native = studied.sent("all", harness, "natural")[0].tools
    bare = [one for one in first if one.tools == []]
    told = [one for one in first if any("elapsed_seconds" in name for name in one.tools) or _in_code(one)]
    rest = [one for one in first if one not in bare and one not in told]
    assert (len(bare), len(told), len(rest)) == (2, 2, 2)
    assert [set(one.tools) for one in rest] == [set(native)] * 2
    assert [one.tools for one in studied.sent("all", harness, "self-score")] == [[]]


def _in_code(request: Request) -> bool:
    """Whether code mode is told of the oracle's tool."""
    return "mcp__elapsed" in json.dumps(request.body)


@BY_BOTH
def test_a_closed_question_has_a_clock_and_nothing_else(studied: Studied, harness: str) -> None:
    sent = studied.sent("question", harness, "question")
    assert [one.tools for one in sent] == [CLOCK[harness]] * 2
    assert all(SYSTEM in one.system for one in sent)
    assert not any(SYSTEM in one.system for one in studied.sent("all", harness, "natural"))
    (run,) = studied.of("question", harness, "natural")
    assert run["extra"]["observed"]["facts"]["clock_reads"] == 1


def test_a_replay_shows_the_reasoning_and_a_scrubbed_one_neither_that_nor_a_time(studied: Studied) -> None:
    asked = studied.replayed("all")
    assert len(asked) == 8
    shown = [one for one in asked if "[reasoning]" in json.dumps(one.body)]
    assert len(shown) == 4
    for one in asked:
        said = [message["content"] for message in (one.body or {})["messages"]]
        assert said[-1] == QUESTION
        assert any("Write the number after six" in text for text in said)
        assert any(text.startswith("[tool_call name=") for text in said)
        assert one.tools == []
    again = studied.replayed("all", "again")
    assert len(again) == 4
    for one in again:
        said = [message["content"] for message in (one.body or {})["messages"]]
        assert said[-3:] == [QUESTION, "I would have to look at a clock.", ASK_AGAIN]
        assert "[reasoning]" not in json.dumps(one.body)


@BY_BOTH
def test_one_second_question_keeps_the_first_reply(studied: Studied, harness: str) -> None:
    runs = studied.of("all", harness, "retrospection")
    assert sorted(run["extra"]["condition"] for run in runs) == sorted(CONDITIONS * 2)
    for run in runs:
        extra = run["extra"]
        scrubbed = extra["condition"] == "scrubbed"
        assert bool(extra.get("asked_again")) == scrubbed
        assert extra.get("first_answer") == ("I would have to look at a clock." if scrubbed else None)
        assert extra["parents"] == "natural"
        assert extra["reasoning"] is not scrubbed
    (natural,) = studied.of("all", harness, "natural")
    assert {run["extra"]["parent"] for run in runs} == {natural["id"]}
    assert {run["extra"]["truth_s"] for run in runs} == {natural["worked_s"]}
    assert len({run["extra"]["session_sha256"] for run in runs}) == 1


@BY_BOTH
def test_a_fork_of_a_duration_run_knows_neither_request_nor_reasoning(studied: Studied, harness: str) -> None:
    sent = [one for one in studied.sent("after-duration", harness, "asked") if one.step == 0]
    assert [spoken(one) for one in sent] == [[studied.task.instruction().decode().rstrip(), QUESTION]]
    for one in [*sent, *studied.replayed("after-duration")]:
        whole = json.dumps(one.body)
        assert not re.search(r"(?<![\d.])2 seconds", whole)  # a tool's own "Wall time 0.2 seconds" stays
        assert "They give me" not in whole
        assert "Your goal over that period" not in whole
        assert "I write it down." in whole
        assert "The file is there." in whole
    (duration_run,) = studied.of("after-duration", harness, "duration")
    for run in studied.of("after-duration", harness, "retrospection"):
        assert run["extra"]["parent"] == duration_run["id"]
        assert (run["extra"]["parents"], run["extra"]["reasoning"]) == ("duration", False)
        assert run["extra"]["request_removed"]["instruction"] >= 1
        assert run["extra"]["request_removed"]["mention"] >= 1


@BY_BOTH
def test_the_report_of_the_campaign_fills_all_three_panels(studied: Studied, harness: str) -> None:
    report = said(studied.finished, "report", "all")
    held = report["forecast"][harness]
    assert (held["n"], held["missing"], held["without_runtime"], held["miss"]["n"]) == (1, 0, 0, 1)
    assert held["median_forecast_s"] == 420
    conditions = report["retrospection"][harness]
    assert list(conditions) == CONDITIONS
    assert [(row["n"], row["of"]) for row in conditions.values()] == [(2, 2)] * 5
    assert conditions["oracle"]["miss"]["value"] == pytest.approx(1, abs=0.01)
    assert conditions["scrubbed"]["asked_again"] == 2
    assert report["self_score"][harness]["bias"] == -20
    same = report["same_turn"][harness]
    assert [same[said]["n"] for said in ("estimate", "perceived", "self_score")] == [1, 1, 1]
    row = report["eta"][harness]
    assert (row["n"], row["never_passed"], row["no_estimate"]) == (1, 0, 0)
    assert row["prediction_ratio_actual_over_estimate"]["value"] > 0


def test_the_keys_stay_where_they_belong(studied: Studied) -> None:
    for path in sorted(Path(studied.finished.home).rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            assert not any(key.encode() in data for key in KEYS.values()), path
    planted, replay = (studied.server.key_hash(KEYS[name]) for name in ("PLANTED_KEY", "REPLAY_KEY"))
    for one in studied.server.requests:
        assert one.key_hash == (replay if one.api == "chat" else planted)
        assert not one.key_in_body


def test_plans_are_as_they_were_written(studied: Studied) -> None:
    folder = studied.finished.home.parent
    assert load_plan(folder / "after-duration.toml").study.retrospection.shows_reasoning is False
    assert load_plan(folder / "all.toml").study.retrospection.shows_reasoning is True
