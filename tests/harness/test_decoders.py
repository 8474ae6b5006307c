from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttime_tui.harness.decoders import DECODERS, decoder
from agenttime_tui.harness.shell import purpose
from agenttime_tui.harness.view import Decoder, Item

CAPTURES = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "harness-captures"


def read(harness: str, lines: list[bytes], step_s: float = 1.0) -> tuple[list[Item], Decoder]:
    reader, items = decoder(harness), {}
    for number, line in enumerate(lines):
        items.update(dict(reader.feed(number + 1, number * step_s, "out", line)))
    return [items[index] for index in sorted(items)], reader


def captured(harness: str, folder: str, case: str) -> tuple[list[Item], Decoder]:
    path = CAPTURES / folder / case / "stdout.jsonl"
    if not path.exists():
        pytest.skip(f"the captures of the real command lines are not beside this checkout ({folder}/{case})")
    return read(harness, path.read_bytes().splitlines(keepends=True))


@pytest.mark.parametrize("harness", [*DECODERS, "command"])
@settings(max_examples=80, deadline=None)
@given(lines=st.lists(st.binary(max_size=120), max_size=6))
def test_no_bytes_make_a_decoder_fall_over_or_vanish(harness: str, lines: list[bytes]) -> None:
    items, _ = read(harness, lines)
    assert len(items) == sum(bool(line.decode("utf-8", "replace").rstrip("\r\n")) for line in lines)


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: (
    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "item", "message", "content", "id", "text", "usage", "subtype", "command", "name", "input"]
    ), inner, max_size=4)), max_leaves=8)  # fmt: skip
TYPES = st.sampled_from(
    ["assistant", "user", "system", "result", "item.started", "item.completed", "turn.completed", "turn.failed",
     "error", "start", "tool", "output", "edit", "clock", "rate_limit_event"]
)  # fmt: skip


@pytest.mark.parametrize("harness", list(DECODERS))
@settings(max_examples=120, deadline=None)
@given(
    kind=TYPES, more=st.dictionaries(st.sampled_from(["item", "message", "subtype", "text", "usage", "error"]), VALUES)
)
def test_events_of_a_strange_shape_are_kept_raw(harness: str, kind: str, more: dict[str, object]) -> None:
    read(harness, [json.dumps({"type": kind, **more}).encode()])


def test_a_call_of_the_scripted_agent_is_completed_by_its_output() -> None:
    lines = [
        b'{"type":"start","persona":"late","version":"1.0","asked":"2 seconds","uptime":1.0}\n',
        b'{"type":"tool","name":"shell","command":"sh total.sh"}\n',
        b'{"type":"output","text":"12.00","exit":0}\n',
        b'{"type":"tool","name":"shell","command":"false"}\n',
        b'{"type":"output","text":"","exit":1}\n',
        b'{"type":"edit","path":"total.sh","text":"a\\nb"}\n',
        b'{"type":"clock","uptime":3.0,"text":"2.00 s of 2 seconds"}\n',
        b'{"type":"sleep","seconds":1.5}\n',
        b'{"type":"result","status":"done","text":"Finished."}\n',
    ]
    items, reader = read("scripted", lines)
    assert [item.kind for item in items] == ["note", "tool", "out", "tool", "error", "edit", "clock", "sleep", "say"]
    assert (items[1].took_s, items[1].running) == (1.0, False)
    assert items[4].text == "exit 1"
    assert items[5].note == "+2"
    facts = reader.facts
    assert (facts.clock_reads, facts.first_clock_s, facts.sleeps, facts.result) == (1, 6.0, 1, "done")


def test_a_call_without_a_result_stays_running() -> None:
    items, _ = read("scripted", [b'{"type":"tool","name":"shell","command":"make"}\n'])
    assert items[0].running


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("date", "clock"), ("date -u +%FT%TZ", "clock"), ("cat /proc/uptime", "clock"), ("sleep 30", "sleep"),
        ("make && sleep 5", "tool"), ("python -c 'import time; print(time.time())'", "clock"), ("update.sh", "tool"),
        ("cat candidates.txt", "tool"), ("git log --date=iso", "tool"), ("ls sleepers", "tool"), ("validate 3", "tool"),
    ],
)  # fmt: skip
def test_clock_readings_and_sleeps_are_told_from_other_commands(command: str, kind: str) -> None:
    assert purpose(command).kind == kind


def test_codex_calls_messages_and_usage() -> None:
    items, reader = captured("codex", "codex", "tools")
    kinds = [item.kind for item in items]
    assert kinds.count("clock") >= 1
    assert kinds.count("sleep") == 1
    assert [item.text for item in items if item.kind == "say"] == ["I will check the clock.", "Done. Wrote answer.txt."]
    assert not any(item.running for item in items)
    facts = reader.facts
    assert (facts.tokens_in, facts.tokens_out, facts.tokens_cached) == (8000, 270, 5200)
    assert facts.result == "success"
    assert facts.errors == []


def test_codex_limit_and_failures_are_seen() -> None:
    _, limited = captured("codex", "codex", "usagelimit")
    assert limited.facts.limit
    assert limited.facts.result == "error"
    _, failed = captured("codex", "codex", "err500")
    assert failed.facts.errors
    items, _ = captured("codex", "codex", "toolfail")
    assert any(item.kind == "error" for item in items)


def test_claude_calls_messages_and_the_last_result() -> None:
    items, reader = captured("claude-code", "claude", "tools")
    kinds = [item.kind for item in items]
    assert kinds.count("sleep") == 1
    assert kinds.count("clock") >= 1
    assert not any(item.running for item in items)
    facts = reader.facts
    assert facts.model == "claude-opus-5-5"
    assert facts.tools is not None
    assert "Bash" in facts.tools
    assert (facts.tokens_in, facts.tokens_out, facts.tokens_cached) == (8000, 270, 5200)
    assert facts.cost_usd == pytest.approx(0.03999)
    assert facts.result == "success"


def test_claude_refusals_retries_and_dead_ends_are_seen() -> None:
    _, refused = captured("claude-code", "claude", "refusal_nofallback")
    assert refused.facts.refusal or refused.facts.errors
    _, overloaded = captured("claude-code", "claude", "err529")
    assert overloaded.facts.result not in (None, "success")
    _, turns = captured("claude-code", "claude", "maxturns")
    assert turns.facts.result not in (None, "success")
    items, _ = captured("claude-code", "claude", "kill_tool_TERM")
    assert any(item.running for item in items) or any(item.kind == "error" for item in items)


@pytest.mark.parametrize(("harness", "folder"), [("codex", "codex"), ("claude-code", "claude")])
def test_every_capture_is_read_with_hardly_a_raw_line(harness: str, folder: str) -> None:
    paths = sorted((CAPTURES / folder).glob("*/stdout.jsonl"))
    if not paths:
        pytest.skip("the captures of the real command lines are not beside this checkout")
    for path in paths:
        items, _ = read(harness, path.read_bytes().splitlines(keepends=True))
        raw = [item.text[:160] for item in items if item.kind == "raw"]
        assert not [text for text in raw if text.startswith("{")], f"{path.parent.name}: {raw}"


def test_of_errors_without_end_the_last_few_are_kept() -> None:
    reader = decoder("codex")
    for number in range(50):
        line = json.dumps({"type": "error", "message": f"fault {number}"})
        reader.feed(number, float(number), "out", line.encode() + b"\n")
    assert reader.facts.errors == [f"fault {number}" for number in range(40, 50)]
