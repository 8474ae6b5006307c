"""From store rows and machines to the frozen data that screens draw."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agenttime_tui import budget, run_remarks
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.run import Run
from agenttime_tui.harness.view import Facts
from agenttime_tui.panels.state import CampaignHead, Machine, Need, RunDetail, Snapshot
from agenttime_tui.protocols import duration
from agenttime_tui.spending import Spent
from store.rows import CampaignRow, MachineRow

HARNESSES = {"codex": "Codex", "claude-code": "Claude Code", "scripted": "Scripted", "command": "Command"}
NOTHING = Spent()
UNITS = {"second": "s", "minute": "min", "hour": "h", "day": "h"}


def snapshot(row: CampaignRow, runs: Sequence[Run], cells: Iterable[Cell], machines: Sequence[Machine],
             live: bool, left_s: float | None = None, events_per_s: float | None = None,
             spent: Spent = NOTHING) -> Snapshot:  # fmt: skip
    """Everything the board draws."""
    studies = " ".join(row.meta.get("studies") or sorted({run.study for run in runs})) or "no runs"
    head = CampaignHead(
        id=row.id,
        name=row.name,
        about=f"{studies}, {'following' if live else 'offline'}",
        started_utc_ns=None if row.kind == "import" else row.created_utc_ns or None,
        left_s=left_s,
        spent_usd=spent.usd,
        spent_at_least=spent.at_least,
        budget_usd=spent.budget_usd,
        events_per_s=events_per_s,
    )
    cells = list(cells)
    needs = over_budget(spent, runs)
    return Snapshot(head, tuple(runs), tuple(machines), needs, settings(row), units(cells), packs(row, cells))


def over_budget(spent: Spent, runs: Sequence[Run]) -> tuple[Need, ...]:
    """The one entry that says that cells wait for a higher budget."""
    waiting = budget.queued(runs)
    if not spent.reached or not waiting:
        return ()
    lines = (budget.queued_words(waiting), "raise budget_usd and rerun")
    return (Need("budget", budget.reached_words(spent), lines=lines, brief=budget.wait_words(spent, waiting)),)


def settings(row: CampaignRow) -> dict[str, str]:
    """Agent id -> `Codex 0.153.4, max`, from the plan's agents or what an import knew."""
    found = {}
    for agent in row.meta.get("agents") or ():
        name = str(agent.get("id") or agent.get("agent") or "")
        harness = HARNESSES.get(str(agent.get("harness") or ""), str(agent.get("harness") or ""))
        version, effort = str(agent.get("version") or ""), str(agent.get("effort") or "")
        said = ", ".join(part for part in (f"{harness} {version}".strip(), effort) if part)
        if name and said:
            found[name] = said
    return found


def packs(row: CampaignRow, cells: Iterable[Cell]) -> dict[str, dict[str, Any]]:
    """Benchmark -> its pack's name and grade rule, and what else the campaign kept of it when it was opened."""
    rules, kept = row.meta.get("grades") or {}, row.meta.get("packs") or {}
    names = {cell.benchmark: cell.pack for cell in cells}
    return {
        benchmark: {"pack": pack, "grade": rules.get(pack) or {}, **(kept.get(pack) or {})}
        for benchmark, pack in names.items()
    }


def units(cells: Iterable[Cell]) -> dict[str, str]:
    """Cell id -> the unit that its prompt names."""
    return {cell.id: UNITS[duration.unit_of(cell.middle_ms)[0]] for cell in cells if cell.middle_ms}


def machine(row: MachineRow, runs: Iterable[Run], state: str, pulse: Mapping[str, Any], round_trip_s: float | None,
            offset_ns: int | None, used: int | None) -> Machine:  # fmt: skip
    """One machine as last heard."""
    facts = row.facts
    engine = facts.get("engine") if isinstance(facts.get("engine"), dict) else {}
    cpus = facts.get("cpus") or 0
    load = pulse.get("load")
    here = sum(run.machine == row.name and run.execution in ("preparing", "running", "unknown") for run in runs)
    version = f"docker {engine['engine_version']}" if engine and engine.get("answers") else "process, not isolated"
    return Machine(
        name=row.name,
        state=state,
        address=str(facts.get("host") or ""),
        used=here if used is None else used,
        slots=int(facts.get("slots") or 0),
        cpu_percent=min(100.0, 100 * load / cpus) if load is not None and cpus else None,
        disk_free_bytes=pulse.get("free_bytes", facts.get("free_bytes")),
        seen_utc_ns=row.seen_utc_ns,
        round_trip_ms=None if round_trip_s is None else round_trip_s * 1000,
        offset_ms=None if offset_ns is None else offset_ns / 1e6,
        offset_bound_ms=None if round_trip_s is None else round_trip_s * 500,
        agent_version=str(facts.get("agent") or ""),
        engine=version if facts else "",
        draining=bool(facts.get("drained")),
    )


def detail(run: Run, row: CampaignRow, spec: Mapping[str, Any] | None, capture_bytes: int | None,
           facts: Facts | None = None) -> RunDetail:  # fmt: skip
    """One run with what its card says besides."""
    origin = (spec or {}).get("origin") or {}
    agent = origin.get("agent") or {}
    cell = origin.get("cell") or {}
    middle_ms = (cell.get("spec") or {}).get("middle_ms")
    requested_ms = cell.get("requested_ms")
    words = duration.phrase(requested_ms, middle_ms) if requested_ms and middle_ms else None
    more = []
    if run.machine:
        more.append(("machine", run.machine))
    if (cell.get("spec") or {}).get("wording"):
        more.append(("wording", "its own, not pooled"))
    machine_label = ((run.extra.get("observed") or {}).get("label") or {}).get("label")
    if machine_label:
        more.append(("by machine", str(machine_label)))
    more += run_remarks.started(spec)
    if facts is not None:
        known = {name: getattr(facts, name) for name in Facts.__slots__}
        more += [*run_remarks.pace(known, run.worked_s), *run_remarks.trouble(known), *run_remarks.silence(facts, run)]
    return RunDetail(
        run=run,
        setting=settings(row).get(run.agent, ""),
        model=None if facts is None else facts.model,
        model_asked=agent.get("model") or None,
        prompt_sha256=origin.get("prompt_sha256"),
        prompt_as_planned=_as_planned(spec, origin.get("prompt_sha256")),
        request_words=words,
        capture_bytes=capture_bytes,
        tokens_in=None if facts is None else facts.tokens_in,
        tokens_out=None if facts is None else facts.tokens_out,
        tokens_cached=None if facts is None else facts.tokens_cached,
        cost_usd=None if facts is None else facts.cost_usd,
        clock_reads=None if facts is None else facts.clock_reads,
        sleeps=None if facts is None else facts.sleeps,
        retries=None if facts is None else facts.retries,
        more=tuple(more),
        transcript_missing=None if spec is not None else "this run came without a transcript",
    )


def _as_planned(spec: Mapping[str, Any] | None, planned: str | None) -> bool | None:
    """Whether the prompt in the spec hashes to the plan's; None where it went another way than stdin."""
    prompt = ((spec or {}).get("steps") or [{}])[0].get("stdin")
    if not planned or prompt is None:
        return None
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest() == planned
