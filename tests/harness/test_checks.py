from __future__ import annotations

import pytest

from agenttime_tui.harness.checks import RULES, Expected, checks_of, expected_of, failed
from agenttime_tui.harness.outcome import outcome_of
from agenttime_tui.harness.view import Facts

HASH = "9c" * 32
AGREED = Expected("claude-fable-5-1", "max", "2.1.259", HASH, frozenset(("Bash", "Edit")), False, ("shelf", "a.b-c"))


def seen() -> Facts:
    return Facts(
        models=("claude-fable-5-1",), effort="max", version="2.1.259", prompt_sha256=HASH, result="success",
        tools=("Edit", "Bash", "mcp__shelf__count_books", "mcp__a_b-c__look_up"),
        servers={"shelf": "connected", "a.b-c": "connected"},
    )  # fmt: skip


def test_a_run_as_agreed_passes_every_rule() -> None:
    checks = checks_of(seen(), AGREED, whole=True, ended_well=True, harness="claude-code")
    assert [check.rule for check in checks] == list(RULES)
    assert all(check.passed for check in checks)


@pytest.mark.parametrize(
    ("rule", "name", "value"),
    [
        ("tools", "tools", ("Bash", "Edit", "Task")),
        ("tools", "tools", ("Bash",)),
        ("tools", "tools", ("Bash", "Edit", "mcp__other__shelf")),
        ("servers", "servers", {"shelf": "connected", "a.b-c": "failed"}),
        ("tools_alive", "tools_dead", True),
        ("no_subagents", "subagents", 1),
        ("prompt", "prompt_sha256", "0" * 64),
        ("model", "models", ("claude-fable-5-1", "claude-opus-4-8")),
        ("effort", "effort", "medium"),
        ("version", "version", "2.1.260"),
        ("transcript", "result", None),
    ],
)
def test_each_difference_fails_its_own_rule(rule: str, name: str, value: object) -> None:
    facts = seen()
    setattr(facts, name, value)
    assert failed(checks_of(facts, AGREED, whole=True, ended_well=True, harness="claude-code")) == (rule,)


def test_what_is_not_known_is_not_failed() -> None:
    checks = checks_of(Facts(), AGREED, whole=None)
    assert failed(checks) == ()
    assert [check.rule for check in checks if check.passed is None] == [
        "tools", "servers", "prompt", "model", "effort", "version", "transcript",
    ]  # fmt: skip


def test_missing_bytes_fail_the_transcript_and_nothing_else() -> None:
    assert failed(checks_of(seen(), AGREED, whole=False)) == ("transcript",)


@pytest.mark.parametrize("name", ["openai/gpt-6-astra", "gpt-6-astra-2026-09-01", "GPT-6-astra", "gpt-6-astra"])
def test_a_route_may_name_the_model_in_its_own_way(name: str) -> None:
    assert failed(checks_of(Facts(models=(name,)), Expected("gpt-6-astra"), None)) == ()
    assert failed(checks_of(Facts(models=("gpt-6-astra-mini",)), Expected("gpt-6-astra"), None)) == ("model",)


def test_the_plan_is_read_from_the_spec() -> None:
    options = {"tools": ["Bash"], "subagents": False}
    agent = {"harness": "claude-code", "model": "m", "effort": "max", "version": "1", "options": options}
    found = expected_of({"origin": {"agent": agent, "prompt_sha256": HASH}})
    assert found == Expected("m", "max", "1", HASH, frozenset(("Bash",)), subagents=False)
    assert expected_of(None) == Expected()


def test_an_exit_without_a_final_event_is_an_error_only_where_all_was_read() -> None:
    silent = Facts()
    assert outcome_of("claude-code", silent, 0, whole=True) == "error"
    assert outcome_of("claude-code", silent, 0, whole=False) is None
    assert outcome_of("claude-code", silent, None, whole=True) is None
    assert outcome_of("command", silent, 0, whole=True) is None


@pytest.mark.parametrize(
    ("turn", "expected"), [(None, frozenset(("Bash",))), ("none", frozenset()), ("clock", None), ("oracle", None)]
)
def test_a_session_without_tools_is_held_to_that(turn: str | None, expected: frozenset[str] | None) -> None:
    origin = {"agent": {"options": {"tools": ["Bash"]}}, **({"tools": turn} if turn else {})}
    assert expected_of({"origin": origin}).tools == expected
