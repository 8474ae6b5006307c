"""WildClawBench: one Markdown file per task, with its workspace beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from task_packs.errors import PackError
from task_packs.importers.program import place, write_script
from task_packs.importers.protocol import Found, FoundTask
from task_packs.importers.question import write_task_toml
from task_packs.importers.source import commit_of
from task_packs.importers.trees import copy_tree
from task_packs.manifest import Manifest

FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)
SECTION = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
FENCE = re.compile(r"```[A-Za-z]*\n(.*?)```", re.DOTALL)
NEEDED = ("Prompt", "Automated Checks")
WORKDIR = "/tmp_workspace"
CHECKS_S = 120.0
JUDGES = ("JUDGE_MODEL", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL")


class WildClaw:
    """A tree of Markdown task files; workspaces are looked for below it by the path each file names."""

    form = "WildClawBench Markdown"

    def find(self, path: Path, manifest: Manifest, frozen: Mapping[str, str]) -> Found:
        """A task for each Markdown file with a front matter id."""
        top = path if path.is_dir() else path.parent
        tasks: dict[str, FoundTask] = {}
        absent = {entry.id: "no Markdown file with this id" for entry in manifest.task}
        for file in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            text = file.read_text(encoding="utf-8", errors="replace")
            front = FRONT.match(text)
            task = front_matter(front[1]).get("id", "") if front else ""
            if not task:
                continue
            try:
                found = _look(manifest.name, task, file, top, sections(text))
            except PackError as error:
                absent[task] = str(error)
                continue
            tasks[task] = found
            absent.pop(task, None)
        if (
            not tasks
            and len(absent) == len(manifest.task)
            and all(why.startswith("no Markdown") for why in absent.values())
        ):
            raise PackError(f"{path}: holds no Markdown task with an id in its front matter")
        return Found(self.form, tuple(tasks.values()), absent, commit=commit_of(top), settings=SETTINGS)


SETTINGS = {
    "image": {"kind": "debian", "packages": ["python3", "bash", "ca-certificates"]},
    "environment": {"workdir": WORKDIR, "user": "root"},
    "grade": {"null": "not_graded"},
}


def front_matter(text: str) -> dict[str, str]:
    """The plain `key: value` lines of a front matter; what is nested is left out."""
    pairs = (line.partition(":") for line in text.splitlines() if line[:1] not in (" ", "-", "#", ""))
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def sections(text: str) -> dict[str, str]:
    """The `##` sections of a file by their heading, headings inside code blocks left alone."""
    blocks = [match.span() for match in FENCE.finditer(text)]
    heads = [m for m in SECTION.finditer(text) if not any(start < m.start() < end for start, end in blocks)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return {head[1]: text[head.end() : end].strip("\n") for head, end in zip(heads, ends, strict=True)}


def _look(family: str, task: str, file: Path, top: Path, parts: Mapping[str, str]) -> FoundTask:
    for name in NEEDED:
        if not parts.get(name, "").strip():
            raise PackError(f"{file}: has no section '## {name}'")
    checks = FENCE.search(parts["Automated Checks"])
    if checks is None or "def grade(" not in checks[1]:
        raise PackError(f"{file}: '## Automated Checks' holds no code block with a function grade")
    workspace = _workspace(file, top, parts.get("Workspace Path", ""))
    where = file.relative_to(top).as_posix()
    return FoundTask(task, partial(_write, family, task, parts, checks[1], workspace), where)


def _workspace(file: Path, top: Path, named: str) -> Path | None:
    """The directory with exec/ and gt/; None where the task names none."""
    path = (FENCE.search(named) or [named, named])[1].strip().strip("`").strip("/")
    if not path:
        return None
    if ".." in path.split("/"):
        raise PackError(f"{file}: its workspace path {path!r} leads out of the copy")
    for place_ in (top / path, file.parent / path, *sorted(top.glob(f"*/{path}"))):
        if place_.is_dir() and place_.resolve().is_relative_to(top.resolve()):
            return place_
    raise PackError(f"{file}: its workspace {path} is not below {top}; get it from the data set")


def _write(family: str, task: str, parts: Mapping[str, str], checks: str, workspace: Path | None, target: Path) -> None:
    names = re.findall(r"[A-Z][A-Z0-9_]{2,}", parts.get("Env", ""))
    judges = [name for name in JUDGES if name in checks]
    env = {name: f"${{{name}:-}}" for name in dict.fromkeys((*names, *judges))}
    if judges:
        env["JUDGE_NEEDS"] = " ".join(judges)
    write_task_toml(
        target, family, task, verifier={"timeout_sec": CHECKS_S, "env": env},
        environment={"network_mode": "public", "workdir": WORKDIR},
    )  # fmt: skip
    (target / "instruction.md").write_text(parts["Prompt"] + "\n", encoding="utf-8")
    (target / "environment").mkdir()
    place(target / "tests", "run_checks.py")
    (target / "tests/checks.py").write_text(checks, encoding="utf-8")
    write_script(target / "tests/test.sh", 'exec python3 "$here/run_checks.py" "$PWD"')
    if workspace is not None:
        source = workspace / "exec" if (workspace / "exec").is_dir() else workspace
        copy_tree(source, target / "environment", hidden=frozenset({"gt"}))
        if (workspace / "gt").is_dir():
            copy_tree(workspace / "gt", target / "tests/gt")
    warmup = FENCE.search(parts.get("Warmup", ""))
    commands = warmup[1] if warmup else parts.get("Warmup", "")
    if commands.strip():
        write_script(target / "prepare/prepare.sh", *commands.strip().splitlines())
