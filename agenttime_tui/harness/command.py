"""Any other CLI: an argv template from the plan, with the prompt as an argument or on stdin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from agenttime_tui.errors import UserError
from agenttime_tui.harness import task_servers
from agenttime_tui.harness.protocol import (
    PLAIN,
    AgentLike,
    Launch,
    TaskLike,
    Turn,
    known_options,
    option_texts,
    plain_only,
    prompt_argument,
)

PLACEHOLDER = re.compile(r"\{(prompt|model|effort)\}")
CLOCK_ONLY = "The task allows no tool but a clock; whether the command keeps to that is up to its argv."
OPTIONS = ("argv", "env", "secret_env", "result", "version_argv")


class Command:
    """Runs `options.argv`; {prompt}, {model} and {effort} are filled in, without {prompt} the prompt goes to stdin."""

    name = "command"
    turns: tuple[str, ...] = ("clock",)

    def command(self, agent: AgentLike, prompt: bytes, task: TaskLike, turn: Turn = PLAIN) -> Launch:
        """The launch of `options.argv`; UserError when an option has the wrong shape."""
        known_options(agent, OPTIONS)
        plain_only(agent, replace(turn, tools="native") if turn.tools == "clock" else turn)
        template = option_texts(agent, "argv")
        if not template:
            raise UserError(
                f'agent {agent.id}: options.argv is missing; give a list such as ["tool", "{{prompt}}"]',
                2,
            )
        values = {"model": agent.model, "effort": agent.effort}
        as_argument = any("{prompt}" in item for item in template)
        if as_argument:
            values["prompt"] = prompt_argument(agent, prompt)
        # One pass, so that a prompt that holds {model} stays as it is.
        argv = tuple(PLACEHOLDER.sub(lambda match: values[match[1]], item) for item in template)
        env = agent.options.get("env", {})
        if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
            raise UserError(f"agent {agent.id}: options.env must be a table of text values", 2)
        result = agent.options.get("result")
        if result is not None and not isinstance(result, dict):
            raise UserError(f'agent {agent.id}: options.result must be a table such as {{ type = "result" }}', 2)
        return Launch(
            argv=argv,
            env=dict(env),
            secret_env=option_texts(agent, "secret_env"),
            stdin=None if as_argument else prompt,
            result=result,
            version_argv=option_texts(agent, "version_argv") or None,
            prompt_by="argument" if as_argument else "stdin",
            remarks=(CLOCK_ONLY,) if turn.tools == "clock" else task_servers.left_out(turn),
        )

    def copy_of_session(self, kept: Mapping[str, bytes], turn: Turn, workdir: str) -> tuple[bytes, str]:
        """UserError: what a session of an unknown CLI is made of is not known."""
        raise UserError('harness "command" cannot go on with a session of an earlier run', 2)
