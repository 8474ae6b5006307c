"""A model as the judge, behind a real endpoint of our own: what it says becomes a grade, what it does not say never."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agenttime_tui import judge
from agenttime_tui.answering import grade_answer
from agenttime_tui.campaign.run import GradeFact
from agenttime_tui.library import graded_by
from task_packs.load import load_pack
from task_packs.task import Task
from tests.campaign.journal import CELL
from tests.packs.copies import imported, json_lines

KEY = "sk-judge-secret-9"
RUN = "0123abcd4567ef89"
SAID = b'{"type": "result", "result": "Answer: B"}\n'


class Endpoint(ThreadingHTTPServer):
    """Answers chat completions with `reply` and keeps what was asked."""

    reply: Any = ""
    refusal: str | None = None
    status = 200
    busy = 0
    """So many times more it answers with 503."""
    moved = ""
    endless = b""
    """What it says on and on in the place of an answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Completions)
        self.meanwhile: list[Callable[[], object]] = []
        """What happens before it answers."""
        self.asked: list[tuple[str, str, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Completions(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        """One completion."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, str(self.headers["Authorization"]), body))
        message = {"role": "assistant", "content": self.server.reply, "refusal": self.server.refusal}
        data = json.dumps({"choices": [{"message": message}]}).encode()
        if self.server.meanwhile:
            self.server.meanwhile.pop()()
        if self.server.endless:
            with suppress(OSError):
                self.send_response(200)
                self.end_headers()
                while True:
                    self.wfile.write(self.server.endless)
        self.server.busy -= 1
        self.send_response(503 if self.server.busy >= 0 else self.server.status)
        if self.server.moved:
            self.send_header("Location", self.server.moved)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits before asking again."""
    monkeypatch.setattr(judge, "PAUSES_S", (0.0, 0.0))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served() as server:
        yield server


@contextmanager
def served() -> Iterator[Endpoint]:
    """A judge that answers while the block lasts."""
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    roster = load_pack("humanitys-last-exam").tasks[0].id
    row = {"id": roster, "question": "Which?", "answer": "B", "answer_type": "multipleChoice"}
    return imported("humanitys-last-exam", json_lines(tmp_path / "h.jsonl", [row]), tmp_path)[0].tasks[0]


def judged(task: Task, env: dict[str, str], out: bytes = SAID) -> tuple[GradeFact, dict[str, Any]]:
    """The grade as a run shows it, and the record that is kept."""
    data = grade_answer(task, out, env, RUN)
    assert KEY not in json.dumps(data)
    cell = replace(CELL, pack=task.pack.name)
    rule = task.grade.model_dump(mode="json", by_alias=True)
    found: GradeFact = graded_by({task.pack.name: rule})(cell, data)
    return found, data


@pytest.mark.parametrize(("verdict", "passed"), [("yes", True), ("No", False)])
def test_the_judges_word_is_the_grade(endpoint: Endpoint, task: Task, verdict: str, passed: bool) -> None:
    endpoint.reply = json.dumps({"extracted_final_answer": "B", "reasoning": "", "correct": verdict, "confidence": 9})
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})
    assert (found.status, found.passed, found.percent) == ("scored", passed, 100.0 * passed)
    ((path, authorization, body),) = endpoint.asked
    assert (path, authorization) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert body["model"] == "o3-mini-2025-01-31" == task.grade.judge
    prompt = body["messages"][0]["content"]
    assert all(part in prompt for part in ("Which?", "Answer: B"))
    assert data["where"] == "operator"
    assert data["stdout"].startswith("judge o3-mini-2025-01-31: ")


@pytest.mark.parametrize(
    ("reply", "status", "grade", "detail"),
    [
        ('{"correct": "perhaps"}', 200, "grader_error", "said neither yes nor no"),
        ('["yes"]', 200, "grader_error", "said neither yes nor no"),
        ('{"correct": NaN}', 200, "grader_error", "said neither yes nor no"),
        ("no JSON", 200, "grader_error", "gave no JSON object"),
        (None, 200, "grader_error", "gave no JSON object"),
        ("{}", 401, "not_graded", "answered with HTTP 401; look at OPENAI_API_KEY, then: agenttime grade 0123abcd"),
        ("{}", 404, "not_graded", "answered with HTTP 404; later: agenttime grade 0123abcd"),
        ("{}", 429, "not_graded", "answered with HTTP 429; it may be busy, then: agenttime grade 0123abcd"),
        ("{}", 500, "not_graded", "answered with HTTP 500"),
    ],
)  # fmt: skip
def test_what_is_no_verdict_is_no_score(
    endpoint: Endpoint, task: Task, reply: Any, status: int, grade: str, detail: str
) -> None:
    endpoint.reply, endpoint.status = reply, status
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})
    assert (found.status, found.value) == (grade, None)
    assert detail in data["detail"]
    assert len(endpoint.asked) == (3 if status in (429, 500) else 1)


def test_a_judge_that_is_busy_for_a_moment_is_asked_again(endpoint: Endpoint, task: Task) -> None:
    endpoint.reply, endpoint.busy = '{"correct": "yes"}', 2
    assert judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})[0].passed is True
    assert len(endpoint.asked) == 3


def test_a_judge_that_will_not_say_has_refused(endpoint: Endpoint, task: Task) -> None:
    endpoint.refusal = "I cannot judge this."
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})
    assert (found.status, found.value) == ("refused", None)
    assert "refused to judge it" in data["detail"]


def test_an_answer_without_an_end_is_not_read_for_ever(endpoint: Endpoint, task: Task) -> None:
    endpoint.endless = b" " * 100_000
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})
    assert (found.status, len(endpoint.asked)) == ("grader_error", 1)
    assert "gave no JSON object: its answer has no end" in data["detail"]


def test_an_answer_that_only_keeps_the_line_open_is_given_up(
    endpoint: Endpoint, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "ANSWER_CAP_BYTES", 10**12)
    monkeypatch.setattr(judge, "JUDGE_S", 0.2)
    endpoint.endless = b" "
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})
    assert found.status == "not_graded"
    assert "cannot be reached" in data["detail"]


def test_the_key_follows_no_redirect(endpoint: Endpoint, task: Task) -> None:
    endpoint.status, endpoint.moved = 302, endpoint.url + "/elsewhere"
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})
    assert (found.status, len(endpoint.asked)) == ("not_graded", 1)
    assert "HTTP 302" in data["detail"]


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"OPENAI_API_KEY": f"{KEY}\nnext"}, "what OPENAI_API_KEY holds is no key"),
        ({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "nowhere"}, "OPENAI_BASE_URL is no address (nowhere)"),
        (
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://me:hidden-2@127.0.0.1:9/v1"},
            "cannot be reached at http://127.0.0.1:9/v1",
        ),
    ],
)
def test_a_wrong_setting_is_named_and_no_secret_with_it(task: Task, env: dict[str, str], said: str) -> None:
    found, data = judged(task, env)
    assert found.status == "not_graded"
    assert said in data["detail"]
    assert "hidden-2" not in str(data)


def test_an_endpoint_that_says_the_key_back_is_not_quoted(endpoint: Endpoint, task: Task) -> None:
    endpoint.reply = json.dumps({"correct": "no", "extracted_final_answer": KEY})
    assert judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url})[0].passed is False


def test_without_a_key_or_an_endpoint_it_is_not_graded_and_says_why(task: Task) -> None:
    found, data = judged(task, {})
    assert found.status == "not_graded"
    assert data["detail"].endswith(" has no key: set OPENAI_API_KEY, then: agenttime grade 0123abcd")
    found, data = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert found.status == "not_graded"
    assert "cannot be reached at http://127.0.0.1:9/v1" in data["detail"]


def test_no_answer_is_empty_and_nobody_is_asked(endpoint: Endpoint, task: Task) -> None:
    found, _ = judged(task, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.url}, b"")
    assert (found.status, found.value, endpoint.asked) == ("empty", 0.0, [])
