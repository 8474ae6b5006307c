"""Reads the JSON lines of `codex exec --json`; what they leave out comes from the rollout file (codex_rollout.py)."""

from __future__ import annotations

from typing import Any

from agenttime_tui.harness.codex_rollout import Rollout
from agenttime_tui.harness.codex_words import DEAD_TOOLS, HARMLESS, OWN_LOG, RETRIED, failure_of, servers_failed
from agenttime_tui.harness.lines import table, whole
from agenttime_tui.harness.shell import bare
from agenttime_tui.harness.tools import starts_agent, tool_purpose
from agenttime_tui.harness.view import Item

CALLS = ("command_execution", "mcp_tool_call", "collab_tool_call")


class CodexDecoder(Rollout):
    """Threads, turns and items; a call comes as started and completed with the same id, in any order with others."""

    def read(self, event: dict[str, Any], seq: int, at_s: float | None) -> bool:
        """Puts the items of one event."""
        self.live = True
        kind = event["type"]
        if kind in ("item.started", "item.updated", "item.completed"):
            return self._item(event["item"], kind == "item.completed", seq, at_s)
        if kind == "thread.started":
            self.facts.session = str(event["thread_id"])
        elif kind == "turn.completed":
            self._completed(table(event.get("usage")), seq, at_s)
        elif kind == "turn.failed":
            self._failed(str(table(event.get("error")).get("message", "the turn failed")), seq, at_s)
        elif kind == "error":
            self._error(str(event.get("message", "error")), seq, at_s)
        else:
            return bool(kind == "turn.started")
        return True

    def remark(self, text: str, seq: int, at_s: float | None) -> None:
        """Takes in a line of the error output; most are the program's own log."""
        for name in servers_failed(text):
            self.server(name, "failed")
        self.put(Item("note" if OWN_LOG.search(text) else "error", text, at_s, seq))

    def _item(self, item: dict[str, Any], done: bool, seq: int, at_s: float | None) -> bool:
        what = item["type"]
        if what in CALLS:
            self._call(item, what, done, seq, at_s)
        elif what in ("agent_message", "reasoning"):
            if done:
                self.facts.steps += what == "agent_message"
                self.put(Item("say" if what == "agent_message" else "think", str(item["text"]), at_s, seq))
        elif what == "file_change":
            for change in item.get("changes") or () if done else ():
                self.put(Item("edit", str(change.get("path")), at_s, seq, note=str(change.get("kind", ""))))
        elif what == "error":
            message = str(item.get("message", ""))
            self.facts.tools_dead = self.facts.tools_dead or DEAD_TOOLS.search(message) is not None
            self.put(Item("note" if HARMLESS.search(message) else "error", message, at_s, seq))
        elif what in ("todo_list", "web_search", "plan_update"):
            if done:
                self.put(Item("note", str(item.get("query") or what.replace("_", " ")), at_s, seq))
        else:
            return False
        return True

    def _call(self, item: dict[str, Any], what: str, done: bool, seq: int, at_s: float | None) -> None:
        call = str(item["id"])
        if call not in self._open and call not in self._answered:
            if what == "command_execution":
                self.facts.steps += 1
                self.call(call, bare(str(item["command"])), seq, at_s, tool="shell")
            else:
                name = ".".join(str(item[key]) for key in ("server", "tool") if item.get(key)) or what
                self.facts.subagents += what == "collab_tool_call" or starts_agent(name)
                self.facts.steps += 1
                shown = f"{name} {item.get('arguments') or ''}".strip()
                self.call(call, shown, seq, at_s, tool=name, why=tool_purpose(name))
        if not done or call in self._answered:
            return
        self._answered.add(call)
        if what == "command_execution":
            code, text = whole(item.get("exit_code")), str(item.get("aggregated_output") or "")
            self.answer(call, f"exit {code}  {text}".rstrip() if code else text, bool(code), seq, at_s)
        else:
            failed = item.get("status") == "failed" or item.get("error") is not None
            self.answer(call, _result_text(item), failed, seq, at_s)

    def _completed(self, usage: dict[str, Any], seq: int, at_s: float | None) -> None:
        self.thread_usage(usage)
        self.facts.results += 1
        self.facts.result, self.facts.failure = "success", None
        self.stall_ends(at_s)
        self.put(Item("result", "the turn is completed", at_s, seq))

    def _failed(self, message: str, seq: int, at_s: float | None) -> None:
        self.facts.results += 1
        self.facts.result = "error"
        self.judge(message)
        self.stall_ends(at_s)
        if message not in self.facts.errors[-1:]:
            self._show(message, seq, at_s)

    def _error(self, message: str, seq: int, at_s: float | None) -> None:
        if RETRIED.search(message):
            self.put(Item("retry", message, at_s, seq))
        else:
            self._show(message, seq, at_s)

    def _show(self, message: str, seq: int, at_s: float | None) -> None:
        failure = failure_of(message, None)
        if failure == "provider_limit":
            self.facts.limit = message
        elif failure == "refusal":
            self.facts.refusal = message
        kind = {"provider_limit": "limit", "refusal": "refusal"}.get(failure, "error")
        self.put(Item(kind, message, at_s, seq))


def _result_text(item: dict[str, Any]) -> str:
    """The words of an MCP tool's result or error."""
    if item.get("error") is not None:
        return str(table(item["error"]).get("message") or item["error"])
    result = item.get("result")
    content = table(result).get("content")
    if isinstance(content, list):
        return "\n".join(str(table(block).get("text", "")) for block in content)
    return str(result or "")
