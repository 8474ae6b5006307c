"""OpenAI's Responses API, as Codex speaks it: function tools, tools in a namespace, or code mode's one JS tool."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.model_server.answer import Answer, Asked, Event, Failure, mcp_name, new_id, pieces, text_of, usage_of
from tests.model_server.scenario import CALLS, Hit, Place, Step

OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output")
POLLS = ("write_stdin", "wait")
CONTEXT = re.compile(r"\s*(<[a-z_]+[ >]|<INSTRUCTIONS|# AGENTS\.md)")
"""What the client itself says in the role of the user: environment, instructions, an interruption."""
RUNNING = re.compile(r"running with session ID (\d+)")
RUNNING_CELL = re.compile(r"running with cell ID (\S+)")
YIELD_MS, POLL_MS, LEFT_MS = 10_000, 20_000, 250


class Responses:
    """POST /responses."""

    def read(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
        """Counts prompts and tool results; polls of a command that still runs are not results."""
        items = body.get("input")
        items = [{"type": "message", "role": "user", "content": items}] if isinstance(items, str) else items or []
        turn, step, names, last = -1, 0, {}, ""
        for item in items:
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") == "user":
                if not CONTEXT.match(text_of(item.get("content"))):
                    turn, step, last = turn + 1, 0, ""
            elif kind in ("function_call", "custom_tool_call"):
                names[item.get("call_id")] = item.get("name")
            elif kind in OUTPUTS:
                step += names.get(item.get("call_id")) not in POLLS
                last = _output_text(item.get("output"))
        tools, spaces = _tools(body, items)
        developer = [text_of(item.get("content")) for item in items if item.get("role") in ("developer", "system")]
        return Asked(
            Place(max(turn, 0), step),
            str(body.get("prompt_cache_key") or headers.get("session_id") or ""),
            "\n".join(filter(None, [str(body.get("instructions") or ""), *developer])),
            tools,
            str((body.get("reasoning") or {}).get("effort") or ""),
            {"last": last, "spaces": spaces},
        )

    def poll(self, asked: Asked) -> Step | None:
        """The step that waits on a command which outlived its first answer, None where none does."""
        if found := RUNNING.search(asked.state["last"]):
            args = {"session_id": int(found.group(1)), "chars": "", "yield_time_ms": POLL_MS}
            return {"tool": "write_stdin", "args": args} if "write_stdin" in asked.tools else None
        if found := RUNNING_CELL.search(asked.state["last"]):
            return {"tool": "wait", "args": {"cell_id": found.group(1), "yield_time_ms": POLL_MS}}
        return None

    def answer(self, body: Mapping[str, Any], asked: Asked, step: Step, fault: Hit | None) -> Answer:
        """Reasoning, remark, call and final text as output items."""
        used = usage_of(step)
        usage = {
            "input_tokens": used.input, "input_tokens_details": {"cached_tokens": used.cached},
            "output_tokens": used.output, "output_tokens_details": {"reasoning_tokens": used.reasoning},
            "total_tokens": used.input + used.output,
        }  # fmt: skip
        items = list(_items(asked, step))
        begun: dict[str, Any] = {
            "id": new_id("resp_"), "object": "response", "created_at": 0, "model": body.get("model"),
            "status": "in_progress", "output": [], "usage": None,
        }  # fmt: skip
        ended = begun | {"status": "completed", "output": items, "usage": usage} | _end(fault)
        kind = str(ended["status"])
        events: list[Event] = [("response.created", {"type": "response.created", "response": begun})]
        if kind != "failed":
            events += [event for at, item in enumerate(items) for event in _item_events(at, item)]
        events.append((f"response.{kind}", {"type": f"response.{kind}", "response": ended}))
        return Answer(events, ended)

    def failure(self, detail: Mapping[str, Any]) -> Failure:
        """{error: {type, code, message, param}}."""
        error = {"type": detail["type"], "code": detail.get("code", detail["type"]), "message": detail["message"]}
        return Failure(
            detail["status"], {"error": error | {"param": None} | detail.get("extra", {})}, detail.get("headers", {})
        )

    def limit(self, resets_at_s: int) -> Failure:
        """usage_limit_reached, with the windows in headers."""
        error = {
            "type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
            "resets_at": resets_at_s,
        }  # fmt: skip
        headers = {
            "x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300",
            "x-codex-primary-reset-at": str(resets_at_s), "x-codex-secondary-used-percent": "40",
            "x-codex-secondary-window-minutes": "10080", "x-codex-secondary-reset-at": str(resets_at_s + 400_000),
        }  # fmt: skip
        return Failure(429, {"error": error}, headers)


def _output_text(output: Any) -> str:
    return output if isinstance(output, str) else text_of(output)


def _tools(body: Mapping[str, Any], items: list[Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Every name that can be called, and the namespace of those that lie in one."""
    offered = list(body.get("tools") or [])
    offered += [tool for item in items if item.get("type") == "additional_tools" for tool in item.get("tools", [])]
    names: list[str] = []
    spaces: dict[str, str] = {}
    for tool in offered:
        name = str(tool.get("name") or tool.get("type"))
        if tool.get("type") != "namespace":
            names.append(name)
            continue
        for inner in tool.get("tools", []):
            names.append(str(inner.get("name")))
            spaces[names[-1]] = name
    return tuple(names), spaces


def _items(asked: Asked, step: Step) -> Iterator[dict[str, Any]]:
    if step.get("think"):
        yield {
            "type": "reasoning", "id": new_id("rs_"), "summary": [{"type": "summary_text", "text": step["think"]}],
            "content": None, "encrypted_content": "c2NyaXB0",
        }  # fmt: skip
    if step.get("say"):
        yield _message(step["say"], "commentary")
    if any(key in step for key in CALLS):
        yield _call(asked, step)
    if step.get("final") is not None:
        yield _message(step["final"], "final_answer")


def _message(text: str, phase: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    whole = {"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed"}
    return whole | {"phase": phase, "content": content}


def _call(asked: Asked, step: Step) -> dict[str, Any]:
    if "js" in step:
        return _script(asked, step["js"])
    if "tool" in step:
        return _function(asked, step["tool"], step.get("args", {}), step.get("namespace"))
    if "mcp" in step:
        return _mcp(asked, step["mcp"], step.get("args", {}))
    command, left = step.get("shell", step.get("background")), "background" in step
    names = asked.tools
    if "exec" in names and "exec_command" not in names:
        return _script(asked, _shell_script(command, left))
    if "exec_command" in names:
        limit_ms = LEFT_MS if left else YIELD_MS
        return _function(asked, "exec_command", {"cmd": command, "yield_time_ms": limit_ms})
    command = f"({command}) >/dev/null 2>&1 &" if left else command
    if "shell_command" in names:
        return _function(asked, "shell_command", {"command": command})
    return _function(asked, "shell", {"command": ["sh", "-c", command]})


def _shell_script(command: str, left: bool) -> str:
    """Code mode: runs the command, and unless it is to be left alone asks until it has ended."""
    call = {"cmd": command, "yield_time_ms": LEFT_MS if left else YIELD_MS}
    lines = [f"let r = await tools.exec_command({json.dumps(call)});"]
    if not left:
        more = f'{{session_id: r.session_id, chars: "", yield_time_ms: {POLL_MS}}}'
        lines.append(f"while (r.session_id !== undefined) r = await tools.write_stdin({more});")
    return "\n".join([*lines, "text(JSON.stringify(r));"])


def _mcp(asked: Asked, called: Sequence[str], args: Mapping[str, Any]) -> dict[str, Any]:
    server, tool = called
    space = asked.state["spaces"].get(tool, "")
    if server in space or _identifier(server) in space:
        return _function(asked, tool, args, space)
    if "exec" in asked.tools and not any(server in name for name in asked.tools):
        name = f"mcp__{_identifier(server)}__{tool}"
        return _script(asked, f"text(JSON.stringify(await tools.{name}({json.dumps(args)})));")
    return _function(asked, mcp_name(asked.tools, server, tool), args)


def _identifier(server: str) -> str:
    """A server's name as a part of a name in JavaScript."""
    return re.sub(r"\W", "_", server)


def _function(asked: Asked, name: str, args: Mapping[str, Any], space: str | None = None) -> dict[str, Any]:
    call = {"type": "function_call", "id": new_id("fc_"), "call_id": new_id("call_"), "name": name}
    space = space or asked.state["spaces"].get(name)
    return call | {"arguments": json.dumps(args)} | ({"namespace": space} if space else {})


def _script(asked: Asked, source: str) -> dict[str, Any]:
    call = {"type": "custom_tool_call", "id": new_id("ctc_"), "call_id": new_id("call_"), "name": "exec"}
    space = asked.state["spaces"].get("exec")
    return call | {"input": source, "status": "completed"} | ({"namespace": space} if space else {})


def _end(fault: Hit | None) -> dict[str, Any]:
    if fault is None or fault.kind == "drop":
        return {}
    if fault.kind == "fail":
        error = {"code": fault.detail.get("code", "server_error"), "message": fault.detail.get("message", "It failed.")}
        return {"status": "failed", "error": error, "output": []}
    reason = "content_filter" if fault.kind == "refusal" else "max_output_tokens"
    return {"status": "incomplete", "incomplete_details": {"reason": reason}}


def _item_events(at: int, item: dict[str, Any]) -> Iterator[Event]:
    def event(kind: str, **more: Any) -> Event:
        return f"response.{kind}", {"type": f"response.{kind}", "output_index": at, **more}

    kind = item["type"]
    yield event("output_item.added", item=item | {"content": []} if kind == "message" else item)
    if kind == "message":
        for piece in pieces(item["content"][0]["text"]):
            yield event("output_text.delta", item_id=item["id"], content_index=0, delta=piece)
    if kind == "reasoning":
        yield event("reasoning_summary_part.added", item_id=item["id"], summary_index=0)
        text = item["summary"][0]["text"]
        yield event("reasoning_summary_text.delta", item_id=item["id"], summary_index=0, delta=text)
    yield event("output_item.done", item=item)
