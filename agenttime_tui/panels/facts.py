"""The facts column of a run: separate facts under separate names, unknown never shown as zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, numbers
from agenttime_tui.look.cellwidth import cells, fit, wrap
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row, extent
from agenttime_tui.look.sanitise import clean
from agenttime_tui.panels import answered, steps
from agenttime_tui.panels.chrome import numbers_in, title
from agenttime_tui.panels.state import RunDetail
from agenttime_tui.panels.verdict import ENDED_FACT, grade_word, score_text

WIDTH = 33
Fact = tuple[str, Sequence[Part]]
Group = list[Fact]


def live_facts(detail: RunDetail, mode: Mode) -> list[Group]:
    """What is known while a run goes on."""
    run = detail.run
    first: Group = [("ending", [("not yet", "dim")]), ("grade", [("after the end", "dim")])]
    if run.execution != "running":
        first.insert(0, ("state", [(run.execution, "attn" if run.execution == "unknown" else "fg")]))
    capture: list[Part] = [(run.capture, "fg")]
    if detail.capture_bytes is not None:
        capture.append((f" {numbers.size(detail.capture_bytes)}", "dim"))
    second: Group = [("capture", capture), ("clock", _clock(detail, mode)), ("counts", _counts(run))]
    groups = (first, _steps(run), second, usage(detail), _habits(detail), _asked(detail), _more(detail))
    return [group for group in groups if group]


def card_facts(detail: RunDetail, mode: Mode) -> list[Group]:
    """What is known of a run that ended."""
    run = detail.run
    times: Group = []
    if run.requested_s:
        words = detail.request_words or durations.asked_text(run.requested_s)
        times.append(("asked", numbers_in(clean(words))))
    worked = run.worked_s
    bound: list[Part] = [(f"{mode.g('bound')} ", "fg")] if run.lower_bound else []
    times.append(("worked", [*bound, (f"{worked:,.1f}", "fg"), (" s", "dim")] if worked is not None else _none(mode)))
    if run.ratio is not None:
        times.append(("ratio", [(f"{run.ratio:.4f}", "fg")]))
    if run.time.interval_s:
        low, high = run.time.interval_s
        times.append(("between", [(f"{low:,.0f}", "fg"), (" and ", "dim"), (f"{high:,.0f}", "fg"), (" s", "dim")]))
    if run.time.basis != "imported" or run.time.status in ("review", "invalid"):
        times.append(("clock", _clock(detail, mode)))
    grade: Group = [("grade", [(grade_word(run), "fg")])]
    if score_text(run):
        of: list[Part] = [(" of 100", "dim")] if run.grade.percent is not None else []
        grade.append(("score", [(score_text(run), "fg"), *of]))
    ending: Group = [("ended", [(ENDED_FACT.get(run.ending or "", mode.g("missing")), "fg")])]
    if run.cutoff_s:
        ending.append(("cutoff", numbers_in(durations.worked(run.cutoff_s))))
        if run.extra.get("cutoff_computed"):
            ending.append(("", [(mode.word("2 × longest request", "2 x longest request"), "dim")]))
    ending.append(("counts", _counts(run)))
    if run.label:
        ending.append(("label", [(clean(run.label), "fg")]))
    answer: Group = [(name, numbers_in(clean(text))) for name, text in answered.facts(run)]
    groups = (times, _steps(run), answer, grade, ending, usage(detail), _habits(detail), _asked(detail), _more(detail))
    return [group for group in groups if group]


def _steps(run: Run) -> Group:
    """The sessions of a run that has several."""
    return [(name, numbers_in(clean(text))) for name, text in steps.facts(run)]


def usage(detail: RunDetail) -> Group:
    """Tokens and cost; what was not reported is left out."""
    found: Group = []
    rows = (("tokens in", detail.tokens_in), ("tokens out", detail.tokens_out), ("cached", detail.tokens_cached))
    for name, number in rows:
        if number is not None:
            digits, suffix = numbers.compact(number)
            found.append((name, [(f"{digits:>4}", "fg"), (suffix, "dim")]))
    if detail.cost_usd is not None:
        found.append(("cost", [("$", "dim"), (f"{detail.cost_usd:,.2f}", "fg")]))
    return found


def _habits(detail: RunDetail) -> Group:
    rows = (("clock reads", detail.clock_reads), ("sleeps", detail.sleeps), ("retries", detail.retries))
    return [(name, [(numbers.count(number), "fg")]) for name, number in rows if number is not None]


def _more(detail: RunDetail) -> Group:
    return [(clean(name), [(clean(text), "fg2")]) for name, text in detail.more]


def _asked(detail: RunDetail) -> Group:
    found: Group = []
    if detail.model:
        found.append(("model", [(clean(detail.model), "fg")]))
        if detail.model_asked and detail.model_asked != detail.model:
            found.append(("not as asked", [(clean(detail.model_asked), "attn")]))
    if detail.prompt_sha256:
        parts: list[Part] = [(detail.prompt_sha256[:8], "fg")]
        if detail.prompt_as_planned is not None:
            parts.append((" = plan" if detail.prompt_as_planned else " not the plan's", "dim"))
        found.append(("prompt", parts))
    return found


def _clock(detail: RunDetail, mode: Mode) -> list[Part]:
    time = detail.run.time
    if time.status in ("review", "invalid"):
        return [(time.status, "attn"), (f" {', '.join(time.flags)}" if time.flags else "", "dim")]
    bound = f" {mode.g('plus_minus')}{detail.clock_bound_ms:.0f} ms" if detail.clock_bound_ms is not None else ""
    word = "ok" if time.status in ("live", "valid") else time.status
    basis = f" {time.basis}" if time.basis and not bound else ""
    return [(word, "fg"), (bound or basis, "dim")]


def _counts(run: Run) -> list[Part]:
    basis = f" {run.time.basis}" if run.time.basis not in (None, "imported") else ""
    reason = f" {clean(run.counts_reason)}" if run.counts_reason else basis
    return [(run.counts, "fg"), (reason, "dim")]


def _none(mode: Mode) -> list[Part]:
    return [(mode.g("missing"), "dim")]


def fact_rows(width: int, height: int, mode: Mode, groups: Iterable[Group], spaced: bool = True) -> list[Row]:
    """The column: names dim, values at one edge, a blank row between groups; long values go on beneath."""
    rows = [Row(width, mode), Row(width, mode)]
    title(rows[1], 1, "Facts")
    if spaced:
        rows.append(Row(width, mode))
    groups = list(groups)
    names = [name for group in groups for name, _ in group]
    at = min(14, (3 if spaced else 2) + max((cells(name) for name in names), default=8))
    for number, group in enumerate(groups):
        if number:
            rows.append(Row(width, mode))
        for name, parts in group:
            rows += _fact(width, mode, name, parts, at)
    return rows[:height]


def _fact(width: int, mode: Mode, name: str, parts: Sequence[Part], at: int) -> list[Row]:
    row = Row(width, mode)
    row.put(1, fit(name, at - 2, mode.g("ellipsis")), "dim")
    room = width - 1 - at
    if extent(parts) <= room:
        row.seq(at, *parts)
        return [row]
    text = "".join(part if isinstance(part, str) else part[0] for part in parts)
    token = parts[0][1] if not isinstance(parts[0], str) else "fg"
    rows = [row]
    for number, line in enumerate(wrap(text, room)[:3]):
        if number:
            rows.append(Row(width, mode))
        rows[-1].put(at, line, token)
    return rows
