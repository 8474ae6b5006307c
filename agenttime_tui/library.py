"""Campaigns read from the store into the model: the same for a live board, a report and a review."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from agenttime_tui.campaign.attempt import latest
from agenttime_tui.campaign.campaign import Campaign
from agenttime_tui.campaign.cells import Cell, cell_of
from agenttime_tui.campaign.counting import Verdict, decided
from agenttime_tui.campaign.facts import JournalRecord, whole
from agenttime_tui.campaign.grading import GRADED_STUDIES, flags_of, read_grade
from agenttime_tui.campaign.run import GradeFact, Run, TimeFact
from agenttime_tui.errors import UserError
from remote_agent.seal import seal
from remote_agent.wire import Record
from store.reader import Reader
from store.rows import CampaignRow, ImportedRunRow, MachineRow, OperatorRow, RecordRow
from task_packs.grading import RawGrade, grade
from task_packs.manifest import Grade

T = TypeVar("T")


def graded_by(mappings: Mapping[str, Mapping[str, Any]]) -> Any:
    """A grader for `Campaign` that maps raw grader output by each pack's own rule; `mappings`: pack -> grade table."""
    rules = {pack: Grade.model_validate(table, strict=False) for pack, table in mappings.items()}

    def read(cell: Cell, data: dict[str, Any]) -> GradeFact:
        if data.get("status") is not None:
            return read_grade(data)
        rule = rules.get(cell.pack, Grade())
        left = data.get("reward")
        reward = left if isinstance(left, dict) else {}
        text, name = _bytes(reward.get("text")), reward.get("name")
        raw = RawGrade(
            whole(data.get("code")),
            text if name == "reward.json" else None,
            text if name == "reward.txt" else None,
            _bytes(data.get("stdout")),
            _bytes(data.get("stderr")),
        )
        found = grade(rule, raw)
        return GradeFact(found.status, found.value, found.percent, found.passed, flags_of(data))

    return read


def _bytes(said: object) -> bytes:
    return said.encode("utf-8", "replace") if isinstance(said, str) else b""


def new_campaign(row: CampaignRow, cells: Sequence[Cell]) -> Campaign:
    """The model of a campaign that nothing was done for yet."""
    rules = row.meta.get("grades", {})

    def awaits(cell: Cell) -> bool:
        return cell.study in GRADED_STUDIES and bool((rules.get(cell.pack) or {}).get("judge"))

    return Campaign(row.id, cells, graded_by(rules), awaits)


def load_campaign(reader: Reader, row: CampaignRow) -> Campaign:
    """The model of one campaign, up to what the store holds."""
    model = new_campaign(row, [cell_of(cell) for cell in reader.cells(row.id)])
    last = reader.last_seqs()
    by_attempt: dict[str, list[Any]] = {}
    for record in reader.fact_records(row.id):
        by_attempt.setdefault(record.attempt, []).append(record)
    for attempt in reader.attempts(row.id):
        model.add_attempt(attempt)
        if held := last.get(attempt.id, 0):
            model.restore(attempt.id, by_attempt.get(attempt.id, ()), held, reader.holes(attempt.id))
        for said in reader.operator_records(attempt.id):
            model.decide(attempt.id, said)
        if (sealed := model.seal_of(attempt.id)) is not None:
            model.check_seal(attempt.id, seal_holds(reader, attempt.id, sealed.data))
    return model


def apply_stored(database: Path, model: Campaign, attempt: str, rows: Sequence[RecordRow]) -> set[str]:
    """Takes in records that the store has; the changed keys. A sealed estimate counts as the store's output has it."""
    changed, sealed = set[str](), seal_to_check(model, attempt, rows)
    if sealed is not None:
        with Reader(database) as reader:
            changed = model.check_seal(attempt, seal_holds(reader, attempt, sealed.data))
    return changed | model.apply(attempt, rows)


def seal_to_check(model: Campaign, attempt: str, rows: Iterable[RecordRow]) -> JournalRecord | None:
    """The seal that these records bring or are what it was made of; None where they say nothing about one.

    What was sealed may come after its seal, where there was a hole.
    """
    held = model.seal_of(attempt)
    brought = [row for row in rows if row.kind == "sealed"]
    if brought:
        return min([*brought, *([held] if held is not None else [])], key=lambda one: one.seq)
    if held is None:
        return None
    first, last = held.data.get("first_seq") or 1, held.data.get("last_seq") or 0
    return held if any(row.kind == "transcript" and first <= row.seq <= last for row in rows) else None


def seal_holds(reader: Reader, attempt: str, sealed: Mapping[str, Any]) -> bool:
    """Whether a sealed estimate is what the kept output of its step says, read again by the rule of the run's spec."""
    steps = (reader.spec(attempt) or {}).get("steps") or ()
    asked = next((step["seal"] for step in steps if step.get("name") == sealed.get("step") and step.get("seal")), None)
    if asked is None:
        return True  # a run without its spec: there is no rule to read it by
    first, last = sealed.get("first_seq") or 1, sealed.get("last_seq") or 0
    rows = reader.records(attempt, first - 1, ("transcript",), limit=max(0, last - first + 1))
    said = (
        Record(row.seq, row.kind, row.boot_id, row.t_boot_ns, row.t_mono_ns, row.t_utc_ns, row.data)
        for row in rows
        if row.seq <= last
    )
    found = seal(asked, said)
    return all(found[name] == sealed.get(name) for name in ("sha256", "bytes", "text", "number"))


def runs_of(reader: Reader, row: CampaignRow) -> list[Run]:
    """Every run of a campaign, imported ones included, in its order."""
    return [*load_campaign(reader, row).runs(), *imported_runs(reader, row)]


def imported_runs(reader: Reader, row: CampaignRow) -> list[Run]:
    """The runs of a campaign that came without a journal, with what people said of them since."""
    rows = reader.imported_runs(row.id)
    said = reader.said_of_imported(row.id) if rows else {}
    return [with_decisions(imported_run(found), said.get(found.id, ())) for found in rows]


def with_decisions(run: Run, said: Sequence[OperatorRow]) -> Run:
    """An imported run as people decided: the newest grade, label and word on counting; what it came with stays."""
    if not said:
        return run
    grades = [read_grade(one.data) for one in said if one.action == "grade"]
    default = Verdict(run.counts, run.counts_reason)
    verdict, label = decided(default, latest(said, "count")), latest(said, "label")
    extra: dict[str, Any] = {
        "grades": [asdict(one) for one in (run.grade, *grades)],
        "decisions": [
            {"at_utc_ns": one.at_utc_ns, "by": one.by, "action": one.action, "data": one.data} for one in said
        ],
    }
    if verdict != default:
        extra |= {"counts_default": default.counts, "counts_default_reason": default.reason}
    return replace(
        run,
        grade=grades[-1] if grades else run.grade,
        label=run.label if label is None else str(label.data.get("label") or "") or None,
        counts=verdict.counts,
        counts_reason=verdict.reason,
        extra=run.extra | extra,
    )


def machines_of(reader: Reader, row: CampaignRow) -> list[MachineRow]:
    """What is known of a campaign's machines; one that came as a bundle brings the facts of its own."""
    brought = row.meta.get("machines")
    return reader.machines() if brought is None else [MachineRow(**one) for one in brought]


def imported_run(row: ImportedRunRow) -> Run:
    """A run that came without a journal."""
    fields = dict(row.fields)
    time, grade_fields = fields.pop("time", {}), fields.pop("grade", {})
    for derived in ("ratio", "side"):
        fields.pop(derived, None)
    known = {name: fields.pop(name) for name in list(fields) if name in Run.__dataclass_fields__ and name != "extra"}
    known["checks_failed"] = tuple(known.get("checks_failed") or ())
    interval = time.get("interval_s")
    return Run(
        **{**known, "id": row.id, "campaign": row.campaign},
        time=TimeFact(
            time.get("status", "valid"),
            time.get("basis", "imported"),
            (interval[0], interval[1]) if interval else None,
            tuple(time.get("flags") or ()),
        ),
        grade=GradeFact(
            grade_fields.get("status", "pending"),
            grade_fields.get("value"),
            grade_fields.get("percent"),
            grade_fields.get("passed"),
            tuple(grade_fields.get("flags") or ()),
        ),
        extra={**fields.pop("extra", {}), **fields},
    )


def find_campaign(reader: Reader, text: str | None) -> CampaignRow:
    """The campaign of that id, id prefix or name; the newest without `text`. UserError otherwise."""
    campaigns = reader.campaigns()
    if not campaigns:
        raise UserError("there is no campaign yet: start one with `agenttime run PLAN.toml` or `agenttime demo`")
    if text is None:
        return max(campaigns, key=lambda row: row.created_utc_ns)
    exact = [row for row in campaigns if text in (row.id, row.name)]
    found = exact or [row for row in campaigns if row.id.startswith(text)]
    return _only(found, "campaign", text, (f"{row.name} ({row.id[:8]})" for row in campaigns))


def find_run(reader: Reader, prefix: str) -> str:
    """The full id of the attempt or imported run with that prefix. UserError when none or several have it."""
    if not prefix:
        raise UserError("the run's id is empty: `agenttime runs` lists them", 2)
    found = reader.find(prefix)
    ids = [*found.get("attempt", []), *found.get("imported_run", [])]
    if prefix in ids:
        return prefix
    return _only(ids, "run", prefix, ())


def _only(found: list[T], what: str, text: str, known: Iterable[str]) -> T:
    if len(found) == 1:
        return found[0]
    listed = ", ".join(known)
    if found:
        names = ", ".join(str(getattr(item, "id", item)) for item in found[:5])
        raise UserError(f"{text!r} names {len(found)} {what}s ({names}): give more of the id", 2)
    raise UserError(f"there is no {what} {text!r}" + (f"; there are {listed}" if listed else ""), 2)
