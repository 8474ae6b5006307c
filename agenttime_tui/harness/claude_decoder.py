"""Reads the stream-json lines of Claude Code; what it adds in its session file comes from claude_session.py."""

from __future__ import annotations

from typing import Any

from agenttime_tui.harness.claude_session import Session, words
from agenttime_tui.harness.lines import number, table, whole, word
from agenttime_tui.harness.view import Item

LIMIT_ERRORS = ("rate_limit", "billing_error")
QUIET = (
    "thinking_tokens", "task_progress", "task_updated", "background_tasks_changed", "status", "hook_started",
    "hook_response", "session_state_changed", "compact_boundary",
)  # fmt: skip


class ClaudeDecoder(Session):
    """Messages with content blocks. Several results may come; usage is each turn's own, cost is cumulative."""

    def read(self, event: dict[str, Any], seq: int, at_s: float | None) -> bool:
        """Puts the items of one event."""
        self.live = True
        kind = event["type"]
        if kind == "system":
            return self._system(event, seq, at_s)
        if kind == "assistant":
            self._assistant(event, seq, at_s)
        elif kind == "user":
            self.user(event, seq, at_s)
        elif kind == "result":
            self._result(event, seq, at_s)
        elif kind == "rate_limit_event":
            self._limit(table(event.get("rate_limit_info")), seq, at_s)
        else:
            return kind in ("stream_event", "tool_progress", "control_response", "control_request", "keep_alive")
        return True

    def _system(self, event: dict[str, Any], seq: int, at_s: float | None) -> bool:
        what = event.get("subtype")
        if what == "init":
            self._init(event, seq, at_s)
        elif what == "api_retry":
            status = whole(event.get("error_status"))
            of = f" of {event['max_retries']}" if whole(event.get("max_retries")) else ""
            why = f"{event.get('error', 'unknown')}{f' ({status})' if status else ''}"
            self.put(Item("retry", f"retry {event.get('attempt', '')}{of}: {why}", at_s, seq))
        elif what in ("model_refusal_no_fallback", "model_refusal_fallback"):
            self._refusal(event, str(what), seq, at_s)
        elif what == "task_started":
            if event.get("is_backgrounded"):
                self._background.add(str(event["task_id"]))
        elif what == "task_notification":
            self._notified(event, seq, at_s)
        elif what == "informational":
            self.put(Item("note", words(event.get("content")) or "informational", at_s, seq))
        else:
            return what in QUIET
        return True

    def _init(self, event: dict[str, Any], seq: int, at_s: float | None) -> None:
        facts, first = self.facts, self.facts.session is None
        facts.session = str(event.get("session_id") or "")
        facts.version = word(event.get("claude_code_version"))
        facts.tools = tuple(map(str, event.get("tools") or ()))
        for server in map(table, event.get("mcp_servers") or ()):
            if (name := word(server.get("name"))) is not None:
                self.server(name, str(server.get("status")))
        if first:
            facts.model = facts.model or word(event.get("model"))
            self.put(Item("note", f"session of {event.get('model')}", at_s, seq))

    def _refusal(self, event: dict[str, Any], what: str, seq: int, at_s: float | None) -> None:
        why = event.get("api_refusal_category") or what
        self.facts.refusal = str(why)
        text = f"{event.get('original_model', 'the model')} refused ({why})"
        if event.get("fallback_model"):
            self.facts.fallback_model = str(event["fallback_model"])
            text += f"; {event['fallback_model']} goes on"
        self.put(Item("refusal", text, at_s, seq))

    def _notified(self, event: dict[str, Any], seq: int, at_s: float | None) -> None:
        task = str(event.get("task_id", ""))
        if task not in self._background:
            return
        self._background.discard(task)
        if "background" in self._open:
            self.answer("background", "", False, seq, at_s)
        self.put(Item("note", f"background task {event.get('status', '')}".strip(), at_s, seq))

    def _limit(self, info: dict[str, Any], seq: int, at_s: float | None) -> None:
        status, name = str(info.get("status", "")), str(info.get("rateLimitType", "")).replace("_", " ")
        if status == "rejected":
            self.facts.limit_resets_utc_s = number(info.get("resetsAt"))
            self.facts.limit = f"{name} limit reached".strip()
            self.put(Item("limit", self.facts.limit, at_s, seq))
        elif status != "allowed":
            used = number(info.get("utilization"))
            at = "" if used is None else f" {used:.0%} used"
            self.put(Item("note", f"{name} limit{at}".strip(), at_s, seq))

    def _assistant(self, event: dict[str, Any], seq: int, at_s: float | None) -> None:
        if event.get("is_api_error_message") or event.get("isApiErrorMessage") or event.get("error") is not None:
            self._api_error = str(event.get("error") or "")
            self.put(Item("error", words(event["message"]["content"]), at_s, seq))
            return
        self.assistant(event, seq, at_s)

    def _result(self, event: dict[str, Any], seq: int, at_s: float | None) -> None:
        facts = self.facts
        facts.results += 1
        facts.own_duration_s = (facts.own_duration_s or 0.0) + (number(event.get("duration_ms")) or 0.0) / 1000
        self.turn_usage(table(event.get("usage")))
        self.cost(event)
        self.stall_ends(at_s)
        good = event.get("is_error") is False and event.get("subtype") == "success"
        reason = str(event.get("terminal_reason") or event.get("subtype") or "error")
        if good:
            facts.result, facts.failure, facts.code = "success", None, None
            self.put(Item("result", "the session ended", at_s, seq))
        else:
            facts.result = "error" if reason in ("success", "completed") else reason
            facts.failure = self._failure(event)
            facts.code = str(event.get("api_error") or event.get("api_error_type") or reason)
            text = words(event.get("result")) or "; ".join(map(str, event.get("errors") or ())) or reason
            if facts.failure == "provider_limit":
                facts.limit = text
            if text not in facts.errors[-1:]:
                kind = {"provider_limit": "limit", "refusal": "refusal"}.get(facts.failure, "error")
                self.put(Item(kind, text, at_s, seq))
        self._api_error = None
        if self._background:
            self.background(seq, at_s)

    def _failure(self, event: dict[str, Any]) -> str:
        if event.get("stop_reason") == "refusal":
            return "refusal"
        if event.get("api_error_status") == 429 or event.get("api_error") == "usage_limit_reached":
            return "provider_limit"
        return "provider_limit" if self._api_error in LIMIT_ERRORS else "error"
