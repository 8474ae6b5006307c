"""A task's tool server in a container of its own, asked by Codex and Claude Code by its name, without a way out."""

from __future__ import annotations

import os
from pathlib import Path

import docker
import pytest

from agenttime_tui.harness.config_home import program
from task_packs.images.recipes import ensure_image
from task_packs.manifest import Recipe
from tests.cli_agents.path_plan import APIS, HARNESSES, HEAD, KEY, PACK, TOKEN, Kept, agent_table, small_pack, tasks
from tests.cli_agents.tool_servers import FOUND, SHELL, TOOL
from tests.model_server import Server
from tests.packs.copies import files
from tests.studies.campaign import run_plan

pytestmark = [
    pytest.mark.slow, pytest.mark.cli, pytest.mark.engine, pytest.mark.timeout(600),
    pytest.mark.xdist_group("whole-path"),
]  # fmt: skip

DESK = "desk"
SHELVES = PACK.replace("closed", "shelves").replace("clock-only", "native")
TASK = """\
schema_version = "1.4"
[environment]
cpus = 1
memory_mb = 512
[[environment.mcp_servers]]
name = "desk"
transport = "streamable-http"
url = "http://desk:8000/cgi-bin/mcp"
"""
COMPOSE = """\
services:
  main:
    depends_on: {desk: {condition: service_healthy}}
  desk:
    build: ./desk
    healthcheck: {test: "wget -qO /dev/null http://localhost:8000/up", interval: 1s, retries: 20}
"""
CGI = """\
#!/bin/sh
[ "$REQUEST_METHOD" = POST ] || { printf 'Status: 405\\r\\n\\r\\n'; exit; }
said=$( { head -c "$CONTENT_LENGTH"; echo; } | sh /srv/shelf.sh )
[ -n "$said" ] || { printf 'Status: 202\\r\\n\\r\\n'; exit; }
printf 'Content-Type: application/json\\r\\n\\r\\n%s' "$said"
"""
DOCKERFILE = """\
FROM {base}
COPY srv /srv
COPY mcp /www/cgi-bin/mcp
RUN touch /www/up
CMD ["httpd", "-f", "-p", "8000", "-h", "/www"]
"""


def served_pack(place: Path, cache: Path) -> None:
    """A pack of one question whose tool server stands beside the agent."""
    client = docker.from_env()
    base = ensure_image(client, Recipe(kind="busybox"), cache, lambda line: None)
    client.close()
    small_pack(place, SHELVES)
    task = place / "tasks" / "which"
    files(
        task,
        {
            "task.toml": TASK,
            "environment/docker-compose.yaml": COMPOSE,
            "environment/desk/Dockerfile": DOCKERFILE.format(base=base),
            "environment/desk/mcp": CGI,
            "environment/desk/srv/shelf.sh": SHELL,
            **{f"environment/desk/srv/{name}": program(name).decode() for name in ("mcp_tool.sh", "json_rpc.awk")},
        },
    )
    (task / "environment/desk/mcp").chmod(0o755)


def test_the_agent_asks_the_server_beside_it_and_the_run_says_that_it_was_there(tmp_path: Path) -> None:
    asks = [[{"mcp": [DESK, TOOL]}, {"shell": "cat /proc/net/route | wc -l"}, {"final": "It says so."}]]
    with Server({"desk": asks}, log=tmp_path / "log") as server:
        served_pack(tmp_path / "home" / "packs" / "shelves", tmp_path / "cache")
        plan = HEAD.format(name="desks", studies='["natural"]', slots=2)
        plan += "".join(agent_table(server, harness, "desk") for harness in HARNESSES)
        kept = Kept(run_plan(plan + tasks("shelves", "which", ["desk"]), tmp_path, "docker", PLANTED_KEY=KEY,
                             PLANTED_TOKEN=TOKEN, DOCKER_HOST=os.environ["DOCKER_HOST"]))  # fmt: skip
        for harness in HARNESSES:
            run = kept.runs[f"{harness}-desk", "natural"]
            assert (run["ending"], run["checks_failed"]) == ("own", []), run
            heard = str([one.body for one in server.of("desk", APIS[harness])])
            assert FOUND in heard
            (prepared,) = kept.events(run["id"], "prepared")
            assert [one["name"] for one in prepared.data["services"]] == [DESK]
            assert prepared.data["network"] == "own"
            (over,) = kept.events(run["id"], "services")
            assert [one["status"] for one in over.data["services"]] == ["running"]
            servers = run["extra"]["observed"]["facts"].get("servers")
            assert servers == ({DESK: "connected"} if harness == "claude-code" else servers)
