"""The config.toml of a Codex session, as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agenttime_tui.harness.config_home import inside
from agenttime_tui.harness.mcp import ToolServer
from agenttime_tui.harness.protocol import Turn
from agenttime_tui.harness.routes import VARIABLES

PROVIDER = "endpoint"

QUIET = ("plugins", "apps", "remote_plugin", "goals", "unbounded_connection_retries")
"""Off in every session: calls to other hosts than the model's, a goal tool that tells the time used, and retries
without an end when the endpoint is gone."""

TOOLLESS = (
    "shell_tool", "unified_exec", "view_image", "tool_suggest", "skill_search", "skill_mcp_dependency_install",
    "sleep_tool", "current_time_reminder", "computer_use", "browser_use", "browser_use_external", "image_generation",
    "code_mode", "code_mode_only", "hooks", "workspace_dependencies", "token_budget", "deferred_executor",
    "request_permissions_tool", "multi_agent_v2",
)  # fmt: skip
"""Off besides where there are to be no tools, as published for closed-book questions."""

START_TIMEOUT_S = 30

Tables = dict[str, Any]


def config(
    model: str,
    effort: str,
    turn: Turn,
    base_url: str,
    subagents: bool,
    servers: Mapping[str, Tables],
    more: Mapping[str, Any],
) -> bytes:
    """The file. `base_url` is the model's endpoint, empty for the CLI's own; `more` are the operator's keys: they win.

    `servers` are the tool servers by name.

    An `env_key` is named unless the account is a login and no listener stands in for it.
    """
    bare = turn.tools in ("none", "clock")
    features: Tables = dict.fromkeys(QUIET, False)
    if bare:
        features |= dict.fromkeys(TOOLLESS, False) | {"skip_host_skill_discovery": True}
    elif not subagents:
        features["multi_agent_v2"] = False
    tables: Tables = {"model": model}
    if effort:
        tables["model_reasoning_effort"] = effort
    if turn.system:
        tables["developer_instructions"] = turn.system
    tables |= {
        "web_search": "disabled",
        "check_for_update_on_startup": False,
        "suppress_unstable_features_warning": True,
        "cli_auth_credentials_store": "file",
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "features": features,
    }
    if catalog_of(turn, servers) != "native":
        tables["model_catalog_json"] = "catalog.json"
    if bare:
        tables |= {
            "project_doc_max_bytes": 0,
            "tools": {"update_plan": {"enabled": False}, "experimental_request_user_input": {"enabled": False}},
        }
    if bare or not subagents:
        tables["agents"] = {"enabled": False}
    if base_url:
        tables |= {"model_provider": PROVIDER, "model_providers": {PROVIDER: _provider(base_url, has_login(turn))}}
    if servers:
        tables["mcp_servers"] = dict(servers)
    return toml(_merged(tables, more)).encode()


def catalog_of(turn: Turn, servers: Mapping[str, Tables]) -> str:
    """Which catalog of models the session has: the CLI's own (native), or one changed for none, clock or servers."""
    return turn.tools if turn.tools in ("none", "clock") else "servers" if servers else "native"


def has_login(turn: Turn) -> bool:
    """Whether the session brings a login of its own."""
    return turn.account == "auth_file" and not (turn.door and turn.door.dummy_key)


def _provider(base_url: str, login: bool) -> Tables:
    found: Tables = {"name": PROVIDER, "base_url": base_url, "wire_api": "responses", "supports_websockets": False}
    return found | ({"requires_openai_auth": True} if login else {"env_key": VARIABLES["codex"]})


def server_table(server: ToolServer) -> Tables:
    """The entry of one of our own tool servers."""
    found: Tables = {
        "command": "/bin/sh",
        "args": [inside(server.path), *server.args],
        "required": True,
        "startup_timeout_sec": START_TIMEOUT_S,
    }
    return found | ({"env": dict(server.env)} if server.env else {})


def _merged(tables: Mapping[str, Any], more: Mapping[str, Any]) -> Tables:
    made = dict(tables)
    for key, value in more.items():
        under = made.get(key)
        made[key] = _merged(under, value) if isinstance(under, dict) and isinstance(value, Mapping) else value
    return made


def toml(tables: Mapping[str, Any], at: tuple[str, ...] = ()) -> str:
    """TOML of tables of text, numbers, booleans, lists of them and further tables."""
    plain = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    head = f"[{'.'.join(map(_key, at))}]\n" if at and (plain or not tables) else ""
    body = "".join(f"{_key(key)} = {_value(value)}\n" for key, value in plain.items())
    rest = [toml(value, (*at, key)) for key, value in tables.items() if isinstance(value, Mapping)]
    return head + body + "".join(rest)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "a").replace("_", "a").isalnum()
    return key if bare else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
