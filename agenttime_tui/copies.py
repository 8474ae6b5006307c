"""Grades the verified copy of what a run left, in a container on this side: the same way whoever asks for it."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenttime_tui.answering import captured, fingerprint, unscored
from agenttime_tui.engines import engine_here
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.outputs import is_copied
from agenttime_tui.harness.message import last_message
from agenttime_tui.judge import key_name, keyless
from agenttime_tui.look.sanitise import clean
from store.reader import Reader
from task_packs.errors import ImageError, PackError
from task_packs.load import load_pack
from task_packs.session_files import session_tar
from task_packs.task import Task

TAIL_CHARS = 4000
SURE_CHARS = 8
"""What is shorter may be a number that a score holds too, and is no key."""


@dataclass(frozen=True)
class Copy:
    """What a run left in its working directory, as it lies on this side or will."""

    run: str
    task: Task
    items: Sequence[Mapping[str, Any]]
    """Of the `collected` record."""
    directory: Path

    @property
    def here(self) -> bool:
        """Whether it lies here, every hash compared."""
        return is_copied(self.directory, self.items)

    @property
    def base(self) -> dict[str, Any]:
        """What every grade of it says besides its score."""
        return {"where": "operator", "grader": fingerprint(self.task)}


def copy_of(reader: Reader, home: Path, run: str, task: Task) -> Copy:
    """The copy of a run's working directory; UserError where there is none that a grader could do with."""
    if task.steps:
        raise UserError(f"{_told(task)}, after each of its steps, and what they left is gone: launch it again")
    if task.settle == "keep":
        raise UserError(f"{_told(task)}, by what its session left running, and that is gone: launch it again")
    workdir = str(((reader.spec(run) or {}).get("environment") or {}).get("workdir", ""))
    collected = [one.data for one in reader.records(run, kinds=["collected"])]
    items = [item for one in collected for item in one.get("manifest", ()) if item.get("path") == workdir]
    if not items or "file" not in items[0]:
        raise UserError(f"{_told(task)}, and nothing of its working directory was collected: launch it again")
    return Copy(run, task, items, home / "outputs" / run)


def without_key(copy: Copy, env: Mapping[str, str]) -> dict[str, Any] | None:
    """The grade of a run whose judge has no key; None where it has one, or needs none."""
    task = copy.task
    if not task.judged or not key_name(task.pack) or env.get(key_name(task.pack)):
        return None
    return {**copy.base, "status": "not_graded", "detail": keyless(task.pack, copy.run)}


def grade_copied(
    reader: Reader, copy: Copy, images: Path, log: Callable[[str], None], env: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The data of a `graded` record; UserError where no engine answers here or it does not do as it is asked."""
    from docker.errors import DockerException

    from task_packs.checking.containers import grade_copy

    task = copy.task
    client = engine_here()
    if client is None:
        raise UserError(f"{_told(task)}; to grade its copy here, a container engine must answer (DOCKER_HOST)")
    out = captured(reader.records(copy.run, kinds=["transcript"])) if task.grade.session else b""
    session = session_tar(out, (last_message(out) or "").encode()) if task.grade.session else b""
    try:
        file = copy.directory / str(copy.items[0]["file"])
        raw, image = grade_copy(client, images, log, task, file, session, env)
    except (ImageError, PackError) as error:
        return {**copy.base, "status": "grader_error", "detail": masked(str(error), task, env)}
    except DockerException as error:
        said = masked(clean(str(error))[:300], task, env)
        raise UserError(f"{_told(task)}; the engine here did not do as it was asked: {said}") from None
    finally:
        client.close()
    kind, reward = ("reward.json", raw.reward_json) if raw.reward_json is not None else ("reward.txt", raw.reward_txt)
    text = None if reward is None else masked(reward.decode("utf-8", "replace"), task, env, SURE_CHARS)
    return {
        **copy.base,
        **{name: masked(why, task, env) for name, why in unscored(task, raw).items()},
        "grader": {**fingerprint(task), "image_id": image},
        "flags": ["graded from its copy"],
        "code": raw.code,
        "reward": None if text is None else {"name": kind, "text": text},
        "stdout": masked(raw.stdout.decode("utf-8", "replace"), task, env)[-TAIL_CHARS:],
    }


def masked(text: str, task: Task, env: Mapping[str, str], least: int = 1) -> str:
    """The text without the values of the judge's key and of the grader's own variables, which may be keys."""
    secrets = {env.get(name, "") for name in (*task.verifier_names, *task.pack.manifest.needs.keys)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= least:
            text = text.replace(secret, "*" * len(secret))
    return text


def _told(task: Task) -> str:
    where = "over a copy on this side" if task.judged else "on its machine"
    return f"task {task.id} of pack {task.pack.name} is graded {where}"


def main() -> None:
    """Grades in a process of its own: what is read as JSON from stdin; prints {"data"} or {"refused"}."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no container stays behind
    asked = json.load(sys.stdin)
    task = load_pack(Path(asked["pack"])).task(asked["task"])
    try:
        with Reader(Path(asked["database"])) as reader:
            copy = copy_of(reader, Path(asked["home"]), asked["run"], task)
            said: dict[str, Any] = {"data": grade_copied(reader, copy, Path(asked["images"]), lambda line: None)}
    except (UserError, PackError) as error:
        said = {"refused": str(error)}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
