"""`show`, `events`, `transcript`: everything about one run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from agenttime_tui import run_remarks
from agenttime_tui.campaign.attempt import OBSERVED
from agenttime_tui.campaign.ending import STOPPED
from agenttime_tui.campaign.run import Run
from agenttime_tui.errors import UserError
from agenttime_tui.harness.worked import Worked, sessions_in
from agenttime_tui.library import find_run, runs_of
from agenttime_tui.look import durations
from agenttime_tui.look.sanitise import clean
from agenttime_tui.panels import answered, steps
from agenttime_tui.verbs import lines
from agenttime_tui.verbs.context import Context, table, utc_text
from remote_agent.capture import body_bytes
from store.reader import Reader
from store.rows import RecordRow


def show(context: Context) -> int:
    """One run's card."""
    with context.reader() as reader:
        run_id = find_run(reader, context.args.id)
        run, siblings = _with_siblings(reader, run_id)
        said = [one for one in reader.operator_records(run_id) if one.action != OBSERVED]
        told = list(_told(reader, run))
    if context.json:
        context.answer(
            {
                "run": run.as_json() | {"cutoff_s": run.cutoff_s, "extra": run.extra},
                "remarks": [[name, text] for name, text in told],
                "siblings": [one.as_json() for one in siblings],
                "operator_records": [
                    {"at": utc_text(one.at_utc_ns), "by": one.by, "action": one.action, "data": one.data}
                    for one in said
                ],
            }
        )
        return 0
    for line in table([[name, value] for name, value in (*_card(run), *told)]):
        context.say(line)
    if siblings:
        context.say("\nsiblings")
        rows = [
            [one.id[:8], lines.asked(one), lines.worked(one), lines.ratio(one), lines.state(one)] for one in siblings
        ]
        for line in table(rows, right=frozenset({1, 2, 3})):
            context.say("  " + line)
    for one in said:
        context.say(f"{utc_text(one.at_utc_ns)}  {clean(one.by)}: {one.action} {clean(json.dumps(one.data))}")
    return 0


def _card(run: Run) -> Iterator[tuple[str, str]]:
    yield "run", f"{run.id}  attempt {run.attempt} on {run.machine or lines.NOTHING}, engine {run.engine or 'unknown'}"
    yield "agent", clean(run.agent)
    yield "task", clean(f"{run.benchmark}/{run.task}")
    yield "study", run.study
    yield "asked", f"{lines.asked(run)} ({run.request or 'no request'})"
    yield "worked", f"{lines.worked(run)}  {lines.ratio(run)}  {lines.side(run)}".rstrip()
    if run.worked_s is not None:
        short = ": it was stopped" if run.ending in STOPPED else ": not all of its work was seen or came to be done"
        yield "", f"{run.worked_s:.3f} s" + (f" or more{short}" if run.lower_bound else "")
    if run.cutoff_s is not None:
        yield "cutoff", durations.worked(run.cutoff_s)
    for name, value in (*answered.facts(run), *steps.facts(run, why=True)):
        yield name, clean(value)
    yield "execution", run.execution
    yield "ending", (run.ending or "not yet").replace("_", " ")
    flags = f" ({', '.join(run.time.flags)})" if run.time.flags else ""
    yield "time", f"{run.time.status}, basis {run.time.basis or 'none'}{flags}"
    yield "capture", run.capture
    yield "grade", lines.graded(run) + (f" ({', '.join(run.grade.flags)})" if run.grade.flags else "")
    if why := run.extra.get("grade_detail"):
        yield "", clean(str(why))
    if held := run.extra.get("held"):
        yield "held", clean(f"until graded, {held}; agenttime grade {run.id[:8]}, or with --release to let it go")
    yield "counts", run.counts + (f": {clean(run.counts_reason)}" if run.counts_reason else "")
    if run.label:
        yield "label", clean(run.label)
    machine = (run.extra.get("observed") or {}).get("label") or {}
    if machine.get("label"):
        yield "machine label", clean(f"{machine['label']} ({machine.get('by', 'machine')})")
    if run.checks_failed:
        yield "checks failed", ", ".join(run.checks_failed)
    for fault in run.extra.get("faults", []):
        yield "fault", clean(f"{fault.get('where')}: {fault.get('detail')}")


def _told(reader: Reader, run: Run) -> Iterator[tuple[str, str]]:
    """What the run says of its start, its door, its login and its transcript."""
    doors = [one.data for one in reader.records(run.id, kinds=("door",))]
    for name, text in (
        *run_remarks.started(reader.spec(run.id)),
        *run_remarks.went_through(doors),
        *run_remarks.read(run.extra.get("observed"), run.worked_s),
    ):
        yield name, clean(text)
    if any(one.data.get("changed") for one in reader.records(run.id, kinds=("secret_file",))):
        yield "login", run_remarks.REFRESHED


def _with_siblings(reader: Reader, run_id: str) -> tuple[Run, list[Run]]:
    """The run, and the others of the same agent, task and study."""
    for row in reader.campaigns():
        found = runs_of(reader, row)
        for run in found:
            if run.id == run_id:
                key = (run.agent, run.benchmark, run.task, run.study)
                alike = [one for one in found if (one.agent, one.benchmark, one.task, one.study) == key]
                return run, [one for one in alike if one.id != run_id]
    raise UserError(f"run {run_id} belongs to no campaign of this store")


def events(context: Context) -> int:
    """The journal records of one run, as they are on the machine."""
    with context.reader() as reader:
        run_id = find_run(reader, context.args.id)
        records = reader.records(run_id, kinds=context.args.kind)
    if context.json:
        context.answer({"run": run_id, "events": [_event(record) for record in records]})
        return 0
    released = next((record.t_boot_ns for record in records if record.kind == "released"), None)
    for record in records:
        offset = "" if released is None else f"{(record.t_boot_ns - released) / 1e9:+.3f}"
        context.say(f"{record.seq:>5} {offset:>12} {record.kind:<14} {clean(json.dumps(record.data))}")
    return 0


def _event(record: RecordRow) -> dict[str, Any]:
    names = ("seq", "kind", "boot_id", "t_boot_ns", "t_mono_ns", "t_utc_ns", "data")
    return {name: getattr(record, name) for name in names}


def transcript(context: Context) -> int:
    """What the agent wrote: raw bytes, JSON, or safe lines with their time since the release."""
    with context.reader() as reader:
        run_id = find_run(reader, context.args.id)
        records = reader.records(run_id, kinds=["transcript"])
        marks = reader.records(run_id, kinds=["released", "exited"])
        released = next((one for one in marks if one.kind == "released"), None)
        several = bool(sessions_in(reader.spec(run_id)))
    stream = context.args.stream or ("out" if context.args.raw else None)
    records = [record for record in records if stream in (None, record.data["stream"])]
    if context.args.raw:
        for record in records:
            sys.stdout.buffer.write(body_bytes(record.data))
        return 0
    offsets = [(record.t_boot_ns - released.t_boot_ns) / 1e9 if released else None for record in records]
    if several:
        worked = Worked(marks)
        offsets = [worked.at_s(record.seq, record.boot_id, record.t_boot_ns) for record in records]
    if context.json:
        context.answer(
            {
                "run": run_id,
                "transcript": [
                    {"seq": record.seq, "offset_s": offset, **record.data}
                    for record, offset in zip(records, offsets, strict=True)
                ],
            }
        )
        return 0
    for record, offset in zip(records, offsets, strict=True):
        at = "" if offset is None else "+" + durations.clock(max(0.0, offset))
        mark = "│" if record.data["stream"] == "err" else " "
        text = body_bytes(record.data).decode("utf-8", "replace").rstrip("\n")
        context.say(f"{at:>9} {mark} {clean(text)}")
    return 0
