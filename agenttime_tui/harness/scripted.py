"""The scripted agent: a shell program with personas, for demos, tests and load, in need of no model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

from agenttime_tui.errors import UserError
from agenttime_tui.harness import task_servers
from agenttime_tui.harness.config_home import PLACE, fits, inside, kept_path, program, short_hash, tar_of
from agenttime_tui.harness.protocol import (
    PLAIN,
    AgentLike,
    Answer,
    Launch,
    TaskLike,
    Turn,
    known_options,
    option_text,
)

PERSONAS = ("punctual", "early", "late", "sleeper", "crasher", "stubborn", "meddler")
PROGRAM = inside(f"{PLACE}/agent.sh")
SESSIONS = f"{PLACE}/sessions"
FILES = {"agent.sh": "scripted_agent.sh", "work.sh": "scripted_work.sh", "answers.sh": "scripted_answers.sh"}


class Scripted:
    """Runs the scripted agent; options: persona, lines_per_s."""

    name = "scripted"
    turns: tuple[str, ...] = ("resume", "fork", "none", "clock", "oracle", "system")

    def command(self, agent: AgentLike, prompt: bytes, task: TaskLike, turn: Turn = PLAIN) -> Launch:
        """The launch of a persona, prompt on stdin; UserError for an option it does not know."""
        known_options(agent, ("persona", "lines_per_s"))
        fits(agent, turn, self.turns)
        persona = option_text(agent, "persona", "punctual")
        if persona not in PERSONAS:
            raise UserError(
                f'agent {agent.id}: options.persona "{persona}" is unknown; known are {", ".join(PERSONAS)}', 2
            )
        rate = agent.options.get("lines_per_s", 0)
        if isinstance(rate, bool) or not isinstance(rate, int) or not 0 <= rate <= 10_000:
            raise UserError(f"agent {agent.id}: options.lines_per_s must be a whole number from 0 to 10000", 2)
        argv = ["/bin/sh", PROGRAM, "--persona", persona]
        for flag, value in (("--model", agent.model), ("--effort", agent.effort)):
            argv += [flag, value] if value else []
        argv += ["--lines-per-s", str(rate)] if rate else []
        system = f"{PLACE}/{short_hash(turn.system.encode())}-system.txt" if turn.system else ""
        return Launch(
            argv=(*argv, *_turn(turn), *(("--system", inside(system)) if system else ())),
            stdin=prompt,
            files=(
                (program_tar(), "{root}/"),
                *(((tar_of({system: turn.system.encode()}), "{root}/"),) if system else ()),
            ),
            result={"type": "result"},
            version_argv=("/bin/sh", PROGRAM, "--version"),
            keep=(SESSIONS,),
            answer=Answer({"type": "result"}, ("text",)),
            prompt_by="stdin",
            remarks=task_servers.left_out(turn),
        )

    def copy_of_session(self, kept: Mapping[str, bytes], turn: Turn, workdir: str) -> tuple[bytes, str]:
        """The session of that name, else the only one, where a fork looks for it."""
        found = {
            path.stem: data
            for name, data in kept.items()
            if (path := PurePosixPath(kept_path(name))).parent == PurePosixPath(SESSIONS) and path.suffix == ".jsonl"
        }
        if turn.session not in found and len(found) != 1:
            raise UserError("the kept files of this run hold no session of the scripted agent to go on with", 1)
        session = turn.session if turn.session in found else next(iter(found))
        return tar_of({f"{SESSIONS}/{session}.jsonl": found[session]}, (SESSIONS,), everyone=True), session


def _turn(turn: Turn) -> list[str]:
    """The arguments of a turn; none for a plain one."""
    told = turn.elapsed_s if turn.tools == "oracle" else ""
    tools = "" if turn.tools == "native" else turn.tools
    pairs = (("--turn", turn.continues), ("--session", turn.session), ("--tools", tools), ("--told", told))
    return [item for pair in pairs if pair[1] for item in pair]


@cache
def program_tar() -> bytes:
    """The agent's files, owned by root and readable by all; the same bytes every time."""
    return tar_of({f"{PLACE}/{name}": program(source) for name, source in FILES.items()}, (SESSIONS,))
