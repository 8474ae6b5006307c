"""From journal records to a run: each fact by its own rule, the same whatever the order and the batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from agenttime_tui.campaign.asked_here import HERE, asked_here
from agenttime_tui.campaign.attempt import OBSERVED, AttemptRecord, Decision, latest
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.counting import Verdict, decided, default_verdict
from agenttime_tui.campaign.ending import STOPPED, ending_of, execution_of
from agenttime_tui.campaign.facts import NS_PER_S, Facts, JournalRecord, text, whole
from agenttime_tui.campaign.grading import read_grade
from agenttime_tui.campaign.parts import in_parts, only_a_bound, parts_of, whole_grade, whole_time, worked_before_ns
from agenttime_tui.campaign.run import GradeFact, Run
from agenttime_tui.campaign.study_facts import BROKEN_SEAL, study_extra, verified_grade
from agenttime_tui.campaign.timing import Session, session_of, time_of

Grader = Callable[[dict[str, Any]], GradeFact]
"""Reads the data of one `graded` record by the pack's rule."""


def planned(cell: Cell, campaign: str) -> Run:
    """A cell that nobody has tried yet."""
    return Run(
        id=cell.id,
        campaign=campaign,
        study=cell.study,
        agent=cell.agent,
        benchmark=cell.benchmark,
        task=cell.task,
        request=cell.request,
        requested_s=None if cell.requested_ms is None else cell.requested_ms / 1000,
        cell=cell.id,
        cutoff_s=cell.cutoff_ms / 1000 if cell.cutoff_ms else None,
        extra={name: getattr(cell, name) for name in ("pack", "repeat", "variant", "wording")},
    )


class RunState:
    """One attempt as its records come in."""

    def __init__(
        self,
        cell: Cell,
        campaign: str,
        attempt: AttemptRecord,
        grader: Grader = read_grade,
        awaits: bool = False,
    ) -> None:
        self.cell = cell
        self.attempt = attempt
        self.facts = Facts()
        self._campaign = campaign
        self._grader = grader
        self._awaits = awaits
        """Whether its grade is made on the operator's side once it is over."""
        self._decisions: tuple[Decision, ...] = ()
        self._superseded_by: int | None = None
        self._outcome: str | None = None
        self._checks: tuple[str, ...] = ()
        self._broken_seal = False
        self._run: Run | None = None

    def apply(self, record: JournalRecord) -> bool:
        """Takes one record in; False when it was known or changes nothing that a run shows."""
        return self._touch(self.facts.add(record))

    def hold(self, last_seq: int, holes: Iterable[tuple[int, int]] = ()) -> None:
        """Says which records a store holds that are not handed in (transcripts, older heartbeats)."""
        self.facts.hold(last_seq, holes)
        self._touch(True)

    def restore(self, records: Iterable[JournalRecord], last_seq: int, holes: Iterable[tuple[int, int]] = ()) -> None:
        """Takes in what a store holds, where nothing was taken in before."""
        self.facts.keep(records)
        self.hold(last_seq, holes)

    def decide(self, decision: Decision) -> bool:
        """Takes in what a person decided; all decisions stay, the newest of a kind counts."""
        if decision in self._decisions:
            return False
        self._decisions = tuple(sorted((*self._decisions, decision), key=lambda one: (one.at_utc_ns, one.id)))
        return self._touch(True)

    def supersede(self, ordinal: int | None) -> bool:
        """Says which later attempt replaced this one."""
        changed = ordinal != self._superseded_by
        self._superseded_by = ordinal
        return self._touch(changed)

    def observe(self, outcome: str | None, checks: Sequence[str] = ()) -> bool:
        """What the harness's decoder read: outcome (error, provider_limit, refusal, None) and failed checks."""
        changed = (outcome, tuple(checks)) != (self._outcome, self._checks)
        self._outcome, self._checks = outcome, tuple(checks)
        return self._touch(changed)

    def check_seal(self, holds: bool) -> bool:
        """Whether the sealed estimate is what the kept output says: else it is no estimate, and the run shows it."""
        changed, self._broken_seal = self._broken_seal == holds, not holds
        return self._touch(changed)

    def run(self) -> Run:
        """The run by what is known now."""
        if self._run is None:
            self._run = self._reduced()
        return self._run

    def _touch(self, changed: bool) -> bool:
        if changed:
            self._run = None
        return changed

    def _reduced(self) -> Run:
        if self.attempt.machine == HERE:
            return self._asked_here()
        facts, session = self.facts, session_of(self.facts)
        execution = execution_of(facts, session)
        abandoned = latest(self._decisions, "abandon")
        if abandoned is not None and execution not in ("ended", "lost"):
            execution = "lost"
        outcome, checks = self._read()
        ending = ending_of(facts, session, execution, outcome)
        lost, several = execution == "lost", in_parts(facts)
        timing = whole_time(facts, session, lost) if several else time_of(facts, session, lost)
        parts = parts_of(facts, lost, self._grader, outcome) if several else []
        default = default_verdict(facts, session, timing, execution, ending, self._superseded_by)
        if abandoned is not None and default.counts == "pending":
            default = Verdict("no", f"abandoned: {text(abandoned.data.get('reason')) or 'no reason'} ({abandoned.by})")
        verdict = decided(default, latest(self._decisions, "count"))
        label = latest(self._decisions, "label")
        by_hand = sorted((one for one in self._decisions if one.action == "grade"), key=lambda one: one.at_utc_ns)
        said = [one.data for one in facts.of("graded")]
        said += [] if (made := whole_grade(facts, parts)) is None else [made]
        said += [one.data for one in by_hand]
        grades = [self._grader(data) for data in said]
        if not grades and (verified := verified_grade(facts)) is not None:
            grades = [verified]
        newest, released, exited = facts.newest(), session.released, session.exited
        base = planned(self.cell, self._campaign)
        return replace(
            base,
            id=self.attempt.id,
            worked_s=timing.worked_s,
            lower_bound=timing.worked_s is not None and (timing.at_least or ending in STOPPED or only_a_bound(parts)),
            ending=ending,
            execution=execution,
            capture=capture_of(facts, session),
            time=timing.fact,
            grade=grades[-1] if grades else _no_grade(facts, self._awaits and released is not None),
            counts=verdict.counts,
            counts_reason=verdict.reason,
            checks_failed=(*_failed_checks(facts), *(["seal"] if self._broken_seal else []), *checks),
            label=None if label is None else text(label.data.get("label")),
            machine=self.attempt.machine,
            attempt=self.attempt.ordinal,
            engine=_engine(facts) or self.attempt.engine or None,
            released_boot_ns=None
            if released is None or session.waiting
            else released.t_boot_ns - (worked_before_ns(facts) if several else 0),
            boot_id=None if newest is None else (released or newest).boot_id,
            last_boot_ns=None if newest is None else newest.t_boot_ns,
            last_utc_ns=None if newest is None else newest.t_utc_ns,
            ended_utc_ns=None if exited is None or session.rebooted or session.waiting else exited.t_utc_ns,
            extra=base.extra
            | self._extra(session, grades, default, verdict)
            | _why(said, grades)
            | ({"steps": [one.as_json() for one in parts]} if parts else {}),
        )

    def _asked_here(self) -> Run:
        base = replace(planned(self.cell, self._campaign), id=self.attempt.id, attempt=self.attempt.ordinal)
        extra = {"reason": self.attempt.reason, "condition": self.cell.variant}
        return asked_here(replace(base, extra=base.extra | extra), self._decisions, self._superseded_by)

    def _read(self) -> tuple[str | None, tuple[str, ...]]:
        """Outcome and failed checks as the transcript says: told by `observe`, else by the newest kept observation."""
        seen = latest(self._decisions, OBSERVED)
        if seen is None or self._outcome is not None or self._checks:
            return self._outcome, self._checks
        checks = seen.data.get("checks_failed")
        return text(seen.data.get("outcome")), tuple(map(str, checks)) if isinstance(checks, list) else ()

    def _extra(
        self, session: Session, grades: Sequence[GradeFact], default: Verdict, verdict: Verdict
    ) -> dict[str, Any]:
        extra: dict[str, Any] = {"reason": self.attempt.reason}
        for name, kind in (("exec_s", "exec_seen"), ("result_s", "result_seen"), ("drained_s", "drained")):
            extra[name] = since_release_s(self.facts, session, kind)
        extra["exit_code"] = None if session.exited is None else whole(session.exited.data.get("code"))
        extra["grades"] = [asdict(grade) for grade in grades]
        extra["faults"] = [dict(one.data) for one in self.facts.of("fault")]
        if verdict != default:
            extra["counts_default"] = default.counts
            extra["counts_default_reason"] = default.reason
        extra["decisions"] = [
            {"at_utc_ns": one.at_utc_ns, "by": one.by, "action": one.action, "data": one.data}
            for one in self._decisions
            if one.action != OBSERVED
        ]
        extra["closed"] = bool(self.facts.of("ended"))
        held = self.facts.of("held")
        if held and not extra["closed"]:
            extra["held"] = text(held[-1].data.get("reason")) or "it is not graded"
        seen = latest(self._decisions, OBSERVED)
        if seen is not None:
            extra["observed"] = seen.data
        extra |= study_extra(self.cell, self.facts, session, None if seen is None else seen.data)
        return extra | (BROKEN_SEAL if self._broken_seal else {})


def reduce(
    cell: Cell,
    campaign: str,
    attempt: AttemptRecord,
    records: Iterable[JournalRecord],
    decisions: Iterable[Decision] = (),
    superseded_by: int | None = None,
    grader: Grader = read_grade,
) -> Run:
    """The run of one attempt from all its records at once."""
    state = RunState(cell, campaign, attempt, grader)
    for record in records:
        state.apply(record)
    for decision in decisions:
        state.decide(decision)
    state.supersede(superseded_by)
    return state.run()


def capture_of(facts: Facts, session: Session) -> str:
    """none, streaming, complete or failed; complete only with every record of the journal in hand."""
    captured = {text(one.data.get("stream")): one.data.get("intact") for one in facts.of("captured")}
    if facts.of("integrity") or False in captured.values():
        return "failed"
    if session.released is None:
        return "none"
    if facts.of("gap"):
        return "failed"
    if captured.get("out") and all(captured.values()):
        return "streaming" if facts.holes else "complete"
    return "failed" if facts.of("ended") else "streaming"


def since_release_s(facts: Facts, session: Session, kind: str) -> float | None:
    """Seconds from the release to the first record of a kind that follows it in the same boot."""
    released = session.released
    if released is None:
        return None
    for one in facts.of(kind, released.data.get("step")):
        if one.seq > released.seq and one.boot_id == released.boot_id:
            return (one.t_boot_ns - released.t_boot_ns) / NS_PER_S
    return None


def _no_grade(facts: Facts, awaits: bool) -> GradeFact:
    return GradeFact("not_graded" if facts.of("ended") and not awaits else "pending")


def _why(said: Sequence[dict[str, Any]], grades: Sequence[GradeFact]) -> dict[str, Any]:
    """Why the newest grade is no score, where it says so."""
    detail = text(said[-1].get("detail")) if said else None
    return {"grade_detail": detail} if detail and grades[-1].status not in ("scored", "empty", "pending") else {}


def _engine(facts: Facts) -> str | None:
    opened = facts.of("opened")
    return text(opened[-1].data.get("engine")) if opened else None


def _failed_checks(facts: Facts) -> list[str]:
    failed = ["integrity"] if facts.of("integrity") else []
    if facts.conflict:
        failed.append("journal_conflict")
    for fault in facts.of("fault"):
        name = f"fault_{text(fault.data.get('typed')) or 'untyped'}"
        if name not in failed:
            failed.append(name)
    return failed
