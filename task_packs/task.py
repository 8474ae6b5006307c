"""One task of a pack: what the agent sees, what the grader gets, what a machine must have."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from task_packs.answers import ANSWER_FILE, REFERENCE_FILE
from task_packs.archive import interpreter, tar_tree
from task_packs.compose.services import Composed, Inside
from task_packs.errors import PackError
from task_packs.harbor.task import HarborTask, dockerfile_workdir, hindrance, read_instruction, read_task_toml
from task_packs.harbor.variables import EMBEDDED, embedded
from task_packs.manifest import ETA_CPUS, ETA_MEMORY, PACK_FILE, REQUEST_NAMES, Grade, TaskEntry, memory_bytes
from task_packs.session_files import SESSION_FILES, checked_session
from task_packs.steps.step import TaskStep, prompts_of_steps, solved_steps, steps_hindrance, steps_of, stripped
from task_packs.surroundings import composed, task_hindrance

if TYPE_CHECKING:
    from task_packs.load import Pack

USERS = {"root": 0, "agent": 1000}
NOT_WORKSPACE = ("Dockerfile", "docker-compose.yaml", "docker-compose.yml", ".dockerignore")


@dataclass(frozen=True)
class Task:
    """One task of a pack, in a Harbor task directory."""

    pack: Pack
    entry: TaskEntry

    @property
    def id(self) -> str:
        """The benchmark's own id, as the roster has it."""
        return self.entry.id

    @property
    def path(self) -> Path:
        """The Harbor task directory; it need not exist where users bring their own copy."""
        return self.pack.path / (self.entry.path or f"tasks/{self.entry.id}")

    @property
    def present(self) -> bool:
        """Whether the task's files are here."""
        return (self.path / "instruction.md").is_file() or prompts_of_steps(self.path)

    @property
    def requests_ms(self) -> tuple[int, ...]:
        """Shortest, middle, longest request in milliseconds, ascending, exact; empty where the task has none."""
        return self.entry.requests_ms

    @property
    def requests(self) -> dict[str, int]:
        """The requests by name: shortest, middle, longest -> milliseconds."""
        return dict(zip(REQUEST_NAMES, self.requests_ms, strict=bool(self.requests_ms)))

    @property
    def settle(self) -> str:
        """stop, snapshot or keep: what happens to what the session left."""
        return "keep" if self.live else self.entry.settle or self.pack.manifest.settle

    @property
    def grade(self) -> Grade:
        """The grade mapping, with the task's own direction where it has one."""
        grade = self.pack.manifest.grade
        return grade.model_copy(update={"better": self.entry.better}) if self.entry.better else grade

    @cached_property
    def harbor(self) -> HarborTask:
        """What task.toml says; the defaults where there is none. PackError when it cannot be read."""
        path = self.path / "task.toml"
        return read_task_toml(path) if path.exists() else HarborTask()

    @property
    def hindrance(self) -> str:
        """Why the task cannot be launched although its files are here; empty when nothing stands in the way."""
        found = hindrance(self.path) or task_hindrance(self, os.environ) if self.path.is_dir() else ""
        return found or steps_hindrance(self)

    @cached_property
    def steps(self) -> tuple[TaskStep, ...]:
        """Its steps, each with a prompt and a grader of its own; none for a task of one prompt. PackError."""
        return steps_of(self.path, self.uid) if self.harbor.steps else ()

    @cached_property
    def composed(self) -> Composed:
        """What its compose file asks for. PackError, which is a hindrance too, when it cannot be had."""
        return composed(self.path, self.harbor, os.environ)

    @property
    def inside(self) -> Inside:
        """What its compose file says of the agent's own container; nothing where that cannot be read."""
        try:
            return self.composed.inside
        except PackError:
            return Inside()

    @property
    def by_answer(self) -> bool:
        """Whether the last message alone is graded, on the operator's side."""
        return (self.path / ANSWER_FILE).is_file()

    @property
    def separate(self) -> bool:
        """Whether the grader has an environment of its own, which gets nothing of the session but the artifacts."""
        return self.harbor.separate and not self.by_answer and not self.live

    @property
    def served(self) -> bool:
        """Whether it brings services beside its container. PackError as `composed`."""
        return bool(self.composed.services)

    @property
    def contained(self) -> bool:
        """Whether it takes a container engine: for an image of its own, a separate grader, or services."""
        return self.builds or self.separate or (not self.hindrance and self.served)

    @property
    def live(self) -> bool:
        """Whether its grader needs all that the session left alive: the slot is held until it is graded."""
        return self.grade.where == "live"

    @property
    def judged(self) -> bool:
        """Whether its grader asks a model: it runs over a copy on the operator's side, where the key is."""
        return bool(self.grade.judge) and not self.by_answer

    @property
    def solved(self) -> bool:
        """Whether there is a reference solution, so that a check can show that the task can be passed."""
        answered = (self.by_answer or self.grade.session) and (self.path / REFERENCE_FILE).is_file()
        return answered or (not self.by_answer and self.scripted)

    @property
    def scripted(self) -> bool:
        """Whether the reference solution is a script, or one for each step, that works in the environment."""
        return (self.path / "solution/solve.sh").is_file() or solved_steps(self.path)

    def session_env(self, folder: str) -> dict[str, str]:
        """What tells the grader of the session's files in `folder`, where it reads the session at all."""
        return {name: f"{folder}/{file}" for name, file in SESSION_FILES.items()} if self.grade.session else {}

    def session_tar(self, solve: bool) -> bytes:
        """The session that a check hands to a grader: no output, and the reference answer where it is solved."""
        return checked_session(self.path / REFERENCE_FILE, solve)

    @property
    def builds(self) -> bool:
        """Whether the task brings an environment of its own instead of the pack's image."""
        return self.pack.image is None and ((self.path / "environment/Dockerfile").is_file() or bool(self.harbor.image))

    @property
    def system(self) -> str:
        """The system prompt of the task or family, empty where the agent keeps its own or has none."""
        own = self.path / "system.md"
        return own.read_text(encoding="utf-8") if own.is_file() else self.pack.manifest.prompt.system

    @property
    def workdir(self) -> str:
        """Where the agent works, absolute inside the environment."""
        built = dockerfile_workdir(self.path / "environment/Dockerfile") if self.builds else None
        return self.harbor.workdir or self.inside.workdir or built or self.pack.manifest.environment.workdir

    @property
    def user(self) -> str:
        """Who the agent is inside the environment."""
        return self.harbor.agent_user or self.inside.user or self.pack.manifest.environment.user

    @property
    def network(self) -> str:
        """none, model-only, public or allowlist."""
        policy = self.pack.manifest.network.agent
        return self.harbor.network if policy == "task" else policy

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The hosts that an allow-list names."""
        network = self.pack.manifest.network
        return self.harbor.allowed_hosts if network.agent == "task" else network.allowed_hosts

    @property
    def cpus(self) -> float:
        """CPUs the task asks for, 0 where it does not care."""
        return self.harbor.cpus or float(self.pack.manifest.needs.cpus or (ETA_CPUS if self.track else 0))

    @property
    def gpus(self) -> int:
        """GPUs the task asks for."""
        return self.harbor.gpus or self.pack.manifest.needs.gpus

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags a machine must have."""
        return self.pack.manifest.needs.tags

    @property
    def memory_bytes(self) -> int:
        """Memory the task asks for, 0 where it does not care."""
        usual = memory_bytes(ETA_MEMORY) if self.track else 0
        return self.harbor.memory_bytes or self.pack.manifest.needs.memory_bytes or usual

    @property
    def track(self) -> str | None:
        """The ETABench track of a task in a pack of kind eta, else None."""
        return self.entry.track

    def instruction(self) -> bytes:
        """The native text in UTF-8, the pack's native time texts removed; PackError when one does not occur once."""
        if prompts_of_steps(self.path):
            raise PackError(f"{self.path}: has {len(self.steps)} steps with a prompt each and no prompt of its own")
        path = self.path / "instruction.md"
        self._require(path)
        text = read_instruction(path)
        return stripped(path, text, [text], self.pack.manifest.prompt.strip, self.pack.path / PACK_FILE)

    def workspace_tar(self) -> bytes:
        """What the agent starts with, to be extracted at the root: the workdir and its files, owned by the user.

        Empty for a task that builds its own environment: there its files come in by its Dockerfile.
        """
        if self.builds:
            return tar_tree(self.path / "environment", keep=lambda name: False)
        source = self.path / self.pack.manifest.environment.workspace
        prefix = self.workdir.strip("/")
        return tar_tree(source, prefix, self.uid, lambda name: name.split("/")[0] not in NOT_WORKSPACE, top=True)

    @property
    def prepares(self) -> bool:
        """Whether something must run in the environment as root before the session."""
        return (self.path / "prepare/prepare.sh").is_file()

    def prepare_tar(self) -> bytes:
        """What runs before the session and is gone when it begins: no agent may see it."""
        return self._hidden_tar("prepare", "prepare.sh")

    def prepare_argv(self, prepare: str) -> list[str]:
        """What prepares, given the directory it was put in."""
        return [*interpreter(self.path / "prepare/prepare.sh"), f"{prepare}/prepare.sh"]

    def tests_tar(self) -> bytes:
        """The grader's files, owned by root, to be extracted in a directory of root made after the settle."""
        return self._hidden_tar("tests", "test.sh")

    def solution_tar(self) -> bytes:
        """The reference solution, for checking a pack and never for an agent."""
        return self._hidden_tar("solution", "solve.sh")

    def grader_argv(self, tests: str) -> list[str]:
        """What grades, given the directory the tests were put in; the interpreter is the one test.sh names."""
        return [*interpreter(self.path / "tests/test.sh"), f"{tests}/test.sh"]

    def solution_argv(self, solution: str) -> list[str]:
        """What solves, given the directory the solution was put in."""
        return [*interpreter(self.path / "solution/solve.sh"), f"{solution}/solve.sh"]

    @property
    def grader_timeout_ms(self) -> int:
        """How long the grader may take."""
        return round(self.harbor.verifier_timeout_s * 1000)

    def verifier_env(self, known: Mapping[str, str]) -> dict[str, str]:
        """The grader's own variables, with ${NAME} and ${NAME:-default} filled in from `known`, else empty."""
        return embedded(self.harbor.verifier_env, known)

    @property
    def verifier_names(self) -> frozenset[str]:
        """Names of the variables that the grader's own are filled from, such as a judge's key."""
        return frozenset(found[1] for _, value in self.harbor.verifier_env for found in EMBEDDED.finditer(value))

    def _hidden_tar(self, folder: str, main: str) -> bytes:
        self._require(self.path / folder / main)
        return tar_tree(self.path / folder)

    @property
    def uid(self) -> int:
        """The numeric user that owns what the agent starts with."""
        first = self.user.split(":")[0]
        return int(first) if first.isdigit() else USERS.get(first, 1000)

    def _require(self, path: Path) -> None:
        if not path.is_file():
            state = self.pack.state
            why = f"; pack {self.pack.name} {state}" if state != "ready" else ""
            raise PackError(f"{path}: is missing{why}")
