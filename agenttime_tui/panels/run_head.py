"""The three header rows of a run: who on what, in which state, where, and when it was last heard of."""

from __future__ import annotations

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations
from agenttime_tui.look.cellwidth import fit
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row, extent
from agenttime_tui.look.sanitise import clean
from agenttime_tui.panels import answered
from agenttime_tui.panels.chrome import fitting, need_chip, rule
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.names import AgentName, benchmark_name, request_name, task_name
from agenttime_tui.panels.state import RunDetail
from agenttime_tui.panels.verdict import headline

SILENT_AFTER_S = 15.0


def run_header(
    width: int, mode: Mode, detail: RunDetail, name: AgentName, campaign: str, needs: int, moment: Moment
) -> list[Row]:
    """Who on what and the state; harness and machine; a rule."""
    run = detail.run
    first, second = Row(width, mode), Row(width, mode)
    glyph, words = headline(run)
    ink = "run" if run.execution == "running" else "attn" if glyph in ("unknown", "error") else "fg"
    chip = need_chip(needs) if run.execution != "ended" else []
    state: list[Part] = [(f"{mode.g(glyph)} ", f"{ink} b"), (words, f"{ink} b" if ink == "run" else ink)]
    right = [*state, *([("   ", "dim"), *chip] if chip else [])]
    room = width - 3 - extent(right)
    where = f"{benchmark_name(run.benchmark)} / {task_name(run)}"
    sign: list[Part] = [(f"{name.sign(mode)} ", name.ink)]
    left = fitting(
        room,
        [*sign, (name.full, "bright b"), ("  on  ", "dim"), (where, "fg b"), (f"  {_asked(run)}", "dim")],
        [*sign, (name.short, "bright b"), ("  on  ", "dim"), (where, "fg b")],
        [*sign, (name.short, "bright b"), ("  ", "dim"), (task_name(run), "fg b")],
        [*sign, (fit(f"{name.short} {task_name(run)}", room - 2, mode.g("ellipsis")), "bright b")],
    )
    first.seq(1, *left)
    first.rseq(width - 1, *right)
    setting = fit(detail.setting or name.setting, width // 2, mode.g("ellipsis"))
    second.put(1, setting, "dim")
    second.rseq(width - 1, *fitting(width - 4 - len(setting), *_where(detail, campaign, moment)))
    return [first, second, rule(width, mode)]


def _asked(run: Run) -> str:
    """Which of three requests it is, or which study's question."""
    if run.request is not None or run.study == "duration":
        return request_name(run.request)
    return " ".join((run.study, answered.variant(run))).rstrip()


def _where(detail: RunDetail, campaign: str, moment: Moment) -> list[list[Part]]:
    """What stands at the right of the second row, from long to short."""
    run = detail.run
    if not run.machine:
        parts: list[Part] = [("run ", "dim"), (clean(run.id), "fg2")]
        first, _, rest = clean(campaign).partition(" ")
        return [[*parts, (f"  {first} ", "dim" if rest else "fg2"), (rest, "fg2")], parts]
    machine: list[Part] = [(clean(run.machine), "fg2"), ("  attempt ", "dim"), (str(run.attempt), "fg2")]
    engine: list[Part] = [("  engine ", "dim"), (run.engine, "fg2")] if run.engine else []
    if run.execution == "ended":
        tail: list[Part] = [("  run ", "dim"), (clean(run.id)[:10], "fg2")]
    else:
        tail = _heard(moment.heard_s(run))
    return [[*machine, *engine, *tail], [*machine, *tail], [machine[0], *tail], [machine[0]]]


def _heard(seconds: float | None) -> list[Part]:
    if seconds is None:
        return []
    ink = "fg2" if seconds < SILENT_AFTER_S else "attn"
    if seconds < 60:
        return [("  heard ", "dim"), (f"{seconds:.1f}", ink), (" s ago", "dim")]
    return [("  heard ", "dim"), (durations.age(seconds), ink), (" ago", "dim")]
