"""`grade`: grades a run again, an answer or a copy on this side, a held run where it is; the earlier grades stay."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from functools import partial
from typing import Any

from agenttime_tui.answering import ACTION, captured, grade_answer
from agenttime_tui.campaign.cells import Cell, cell_of
from agenttime_tui.campaign.grading import GRADED_STUDIES
from agenttime_tui.campaign.run import GradeFact, Run
from agenttime_tui.cli import DONE, FAILED, SOME
from agenttime_tui.errors import UserError
from agenttime_tui.library import find_campaign, find_run, graded_by, load_campaign
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.asking import Asked, ask, found_run
from agenttime_tui.verbs.context import Context
from agenttime_tui.verbs.lines import graded
from agenttime_tui.verbs.regrade import regraded
from agenttime_tui.verbs.saying import record
from remote_agent.reward import scored
from store.reader import Reader
from store.rows import OperatorRow, RecordRow
from task_packs.errors import ImageError, PackError
from task_packs.load import load_pack
from task_packs.task import Task

HELD_S = 1800.0
"""How long a held run's grader is waited for."""
UNGRADED = ("pending", "not_graded", "grader_error", "refused")


@dataclass(frozen=True, slots=True)
class _Graded:
    """A run as it was graded just now."""

    run: str
    grade: GradeFact
    detail: str
    kept: bool
    """Whether it was written down: a score that stands is not followed by a word that there is no key."""

    def json(self) -> dict[str, Any]:
        """As `grade --json` has it."""
        found = self.grade
        said = {"status": found.status, "value": found.value, "percent": found.percent, "passed": found.passed}
        return {"run": self.run, "grade": said, "detail": self.detail or None, "recorded": self.kept}

    def words(self) -> str:
        """In a line."""
        value = "" if self.grade.value is None else f"{self.grade.value:g}"
        return clean(" ".join(filter(None, (self.grade.status, value, self.detail))))


def grade(context: Context) -> int:
    """A new grade for one run; 1 where it came to no score. UserError where there is nothing to grade, or nothing here
    to grade it with."""
    if context.args.missing:
        return _missing(context)
    if context.args.release:
        return _of_held(context, "release")
    with context.reader() as reader:
        run_id = find_run(reader, context.args.id)
        held = _held(reader, run_id)
    if held:
        return _of_held(context, "grade")
    found = _graded_here(context, run_id)
    if context.json:
        context.answer({**found.json(), "dry_run": context.args.dry_run})
    else:
        how = "would be graded" if context.args.dry_run else "graded" if found.kept else "keeps its grade"
        context.say(f"run {run_id[:8]} {how}: {found.words()}")
    return FAILED if found.grade.status in UNGRADED else DONE


def _missing(context: Context) -> int:
    """Every run of a campaign that is over, is graded on this side and has no score yet."""
    if context.args.release:
        raise UserError("--missing and --release do not go together: name one run to let it go", 2)
    with context.reader() as reader:
        row = find_campaign(reader, context.args.id)
        model = load_campaign(reader, row)
        cells = {run.id: model.cell_of(run.id) for run in model.runs() if run.attempt and _ungraded(run)}
    tasks = {run: _task_or_why(context, cell) for run, cell in cells.items()}
    waiting = [run for run, task in tasks.items() if isinstance(task, PackError) or task.by_answer or task.judged]
    said: list[dict[str, Any]] = []
    failed, tell = 0, (lambda line: None) if context.json else context.say
    for run in waiting:
        if context.args.dry_run:
            said.append({"run": run})
            tell(f"run {run[:8]} would be graded")
            continue
        try:
            found = _graded_here(context, run, missing=True)
            failed += found.grade.status in UNGRADED
            said.append(found.json())
            words = f"graded: {found.words()}" if found.kept else f"keeps its grade: {found.words()}"
        except (UserError, PackError, ImageError) as error:
            failed += 1
            said.append({"run": run, "error": str(error)})
            words = clean(str(error))
        tell(f"run {run[:8]} {words}")
    if context.json:
        context.answer({"campaign": row.id, "runs": said, "dry_run": context.args.dry_run})
    elif not waiting:
        context.say(f"campaign {clean(row.name)}: no run waits to be graded on this side")
    return DONE if not failed else SOME if failed < len(waiting) else FAILED


def _task_or_why(context: Context, cell: Cell) -> Task | PackError:
    """The task of a cell, or why there is none any more."""
    try:
        return load_pack(cell.pack, context.pack_dirs).task(cell.task)
    except PackError as error:
        return error


def _ungraded(run: Run) -> bool:
    over = run.execution == "ended" and run.extra.get("closed") and run.released_boot_ns is not None
    return bool(over and run.study in GRADED_STUDIES and run.grade.status in UNGRADED)


def _graded_here(context: Context, run_id: str, missing: bool = False) -> _Graded:
    """Grades a run's answer or copy on this side and writes it down, unless it is a dry run. UserError.

    `missing`: a score that another process wrote down meanwhile is left as it is.
    """
    with context.reader() as reader:
        task, cell, rules = _task(context, reader, run_id)
        before = _before(reader, run_id)
        ended = any(reader.records(run_id, kinds=["ended"]))
        out = captured(reader.records(run_id, kinds=["transcript"])) if task.by_answer else b""
    if not ended:
        raise UserError(f"run {run_id[:8]} is not over: there is no last message yet")
    read = partial(graded_by(rules), cell)
    if missing and before and (stands := read(before[-1])).status not in UNGRADED:
        return _Graded(run_id, stands, "", False)
    data = grade_answer(task, out, run=run_id) if task.by_answer else regraded(context, run_id, task)
    found: GradeFact = read(data)
    if missing:
        with context.reader() as reader:
            before = _before(reader, run_id)
        if before and (stands := read(before[-1])).status not in UNGRADED:
            return _Graded(run_id, stands, "", False)
    known = bool(before) and found.status in ("not_graded", "refused") and (
        read(before[-1]).status in ("scored", "empty") or before[-1].get("detail") == data.get("detail")
    )  # fmt: skip
    keep = not known and not context.args.dry_run
    if keep:
        by = context.settings.operator_name
        row = OperatorRow(secrets.token_hex(8), context.now_utc_ns(), by, ACTION, run_id, data)
        asyncio.run(record(context.settings.database, row))
    return _Graded(run_id, found, str(data.get("detail") or ""), keep)


def _before(reader: Reader, run_id: str) -> list[dict[str, Any]]:
    """The data of every grade so far, the newest last."""
    by_hand = (one.data for one in reader.operator_records(run_id) if one.action == ACTION)
    return [*(one.data for one in reader.records(run_id, kinds=["graded"])), *by_hand]


def _held(reader: Reader, run_id: str) -> bool:
    """Whether the run's environment is kept until it is graded."""
    return any(reader.records(run_id, kinds=["held"])) and not any(reader.records(run_id, kinds=["ended"]))


def _of_held(context: Context, what: str) -> int:
    """Has the grader of a held run run again, or lets the run go; UserError when it is not held."""
    run, config, last_seq = found_run(context, context.args.id)
    if not run.extra.get("held"):
        raise UserError(f"run {run.id[:8]} is not held: nothing is kept alive for its grader")
    said = {"grade": "its grader runs again", "release": "what its session left is ended and its slot is free"}[what]
    if context.args.dry_run:
        context.say(f"run {run.id[:8]} on {run.machine}: {said}, without --dry-run")
        return 0
    by, now = context.settings.operator_name, context.now_utc_ns()
    row = OperatorRow(secrets.token_hex(8), now, by, f"{what}_held", run.id, {"machine": run.machine})
    late = f"run {run.id[:8]} was asked on {run.machine}, but nothing has come of it after {HELD_S:.0f} s"
    with context.reader() as reader:
        spec = reader.spec(run.id) or {}
    key = str((spec.get("hold") or {}).get("key", "reward"))
    answered = partial(_answers, what, key)
    asyncio.run(ask(context, Asked(run, config, last_seq, row, "held", {"what": what}, answered, late, HELD_S)))
    after, _, _ = found_run(context, run.id)
    if context.json:
        grade_said = after.as_json()["grade"]
        context.answer({"run": run.id, "action": row.id, "grade": grade_said, "held": bool(after.extra.get("held"))})
    else:
        kept = "still held" if after.extra.get("held") else "its slot is free"
        context.say(f"run {run.id[:8]}: grade {graded(after)}, {kept}")
    return 0


def _answers(what: str, key: str, one: RecordRow) -> bool:
    """Whether a record is the last that comes of what was asked: a score ends the run, anything else does not."""
    if what == "release" or one.kind != "graded":
        return one.kind == "ended" or (what == "grade" and one.kind == "grade_failed")
    return not scored(one, key)


def _task(context: Context, reader: Reader, run_id: str) -> tuple[Task, Cell, dict[str, Any]]:
    """The task and cell of a run, and the campaign's rules to read its grades by."""
    attempt = next((one for one in reader.attempts() if one.id == run_id), None)
    if attempt is None:
        raise UserError(f"run {run_id[:8]} was imported without a journal: there is nothing to grade")
    for row in reader.campaigns():
        for cell in map(cell_of, reader.cells(row.id)):
            if cell.id == attempt.cell:
                return load_pack(cell.pack, context.pack_dirs).task(cell.task), cell, row.meta.get("grades", {})
    raise UserError(f"run {run_id[:8]} belongs to no campaign of this store")
