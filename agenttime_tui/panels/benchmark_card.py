"""The card of a benchmark: each agent's numbers, typical ratios by request, its tasks, and how it is graded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agenttime_tui.campaign.run import Run
from agenttime_tui.look import durations, heat, marks, numbers, strips
from agenttime_tui.look.cellwidth import fit
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part
from agenttime_tui.panels import card_parts as parts
from agenttime_tui.panels.names import REQUESTS, AgentName, task_name
from agenttime_tui.panels.spots import Page, task_key
from agenttime_tui.panels.state import Report

LABEL = 24
FARTHEST = 76
"""The tasks' numbers begin here at the latest: names and numbers must not drift apart on a wide screen."""

LOW = 24
"""Rows of page below which blank rows are given up."""
COLUMNS = (("runs", 30), ("error", 40), ("in 5%", 48), ("score", 58), ("passed", 70))


def benchmark_card(
    width: int, height: int, mode: Mode, benchmark: str, report: Report, runs: Sequence[Run],
    names: Mapping[str, AgentName], pack: Mapping[str, Any],
) -> Page:  # fmt: skip
    """The whole card; `pack` is what the campaign kept of the benchmark's pack (empty for an import)."""
    page = Page(width, mode, height < LOW)
    mine = [run for run in runs if run.benchmark == benchmark]
    names = {key: name for key, name in names.items() if any(run.agent == key for run in mine)}
    rows = [row for row in report.get("agents") or [] if benchmark in row["by_benchmark"]]
    if not page.low:
        page.row()
    if rows:
        rows.sort(key=lambda row: row["by_benchmark"][benchmark]["timing_error"]["value"] or math.inf)
        _agents(page, rows, benchmark, names)
        _typical(page, mine, names)
    else:
        page.row().put(1, "No counted run with a request has ended yet.", "dim")
    _tasks(page, mine, names)
    parts.section(page, "Grading and needs")
    parts.facts(page, [*grading(pack, mine), *_standing(pack), ("ended", parts.endings(mine)),
                       ("grades", parts.grades(mine)), ("left out", parts.left_out(mine))])  # fmt: skip
    return page


def _agents(
    page: Page, rows: Sequence[Mapping[str, Any]], benchmark: str, names: Mapping[str, AgentName]
) -> None:  # fmt: skip
    mode, width = page.mode, page.width
    head = page.row()
    head.put(1, "Agents", "fg b")
    columns = [(word, end) for word, end in COLUMNS if end < width]
    for word, end in columns:
        head.right(end, word, "dim")
    wide = width >= 74 + strips.NARROW_COLUMNS
    for row in rows:
        part, name, line = row["by_benchmark"][benchmark], names[row["agent"]], page.row()
        line.seq(1, (f"{name.sign(mode)} ", name.ink), (fit(name.full, LABEL - 4, mode.g("ellipsis")), "fg"))
        few = part["timing_error"]["n"] < heat.FEW
        values: dict[str, list[Part]] = {
            "runs": [(numbers.count(part["runs"]), "fg2")],
            "error": parts.factor_parts(mode, part["timing_error"]["value"], few, bold=not few),
            "in 5%": parts.share_parts(mode, part["on_time"]),
            "score": parts.score_parts(mode, part.get("score")),
            "passed": [(parts.passed_text(mode, part.get("passed")), "dim")],
        }
        for word, end in columns:
            line.rseq(end, *values[word])
        if wide:
            parts.narrow_strip(line, 74, part.get("strip"))
        page.spot("agent", name.id, 0, LABEL)
    if wide:
        strips.axis(page.row(), 74, narrow=True)


def _typical(page: Page, mine: Sequence[Run], names: Mapping[str, AgentName]) -> None:
    """Median ratio of each agent at each request."""
    mode = page.mode
    present = [name for name in names.values() if any(run.agent == name.id and run.ratio for run in mine)]
    shown = present[: max(1, (page.width - 18) // 12)]
    head = parts.section(page, "Typical run")
    for number, name in enumerate(shown):
        head.rseq(27 + 12 * number, (f"{name.sign(mode)} ", name.ink), (fit(name.short, 8, mode.g("ellipsis")), "fg2"))
    for request in REQUESTS:
        alike = [run for run in mine if run.request == request and run.counts == "yes" and run.ratio]
        if not alike:
            continue
        line = page.row()
        line.put(1, request, "fg2")
        for number, name in enumerate(shown):
            ratios = sorted(run.ratio or 0.0 for run in alike if run.agent == name.id)
            value = _median(ratios)
            ink = "dim" if value is None else marks.side_ink(value)
            text = mode.g("missing") if value is None else numbers.factor(value, mode.g("times"))
            line.right(27 + 12 * number, text, ink)


def _median(values: Sequence[float]) -> float | None:
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def _tasks(page: Page, mine: Sequence[Run], names: Mapping[str, AgentName]) -> None:
    """Every task with its requests and each agent's error over its runs there, or its natural runtime."""
    mode, width = page.mode, page.width
    tasks = list(dict.fromkeys(run.task for run in mine))
    head = parts.section(page, f"Tasks {numbers.count(len(tasks))}")
    step = 12 if width - 2 - 12 * len(names) >= 60 else 9
    shown = list(names.values())[: max(1, (width - 46) // step)]
    first = min(FARTHEST, width - 1 - step * len(shown))
    for number, name in enumerate(shown):
        head.rseq(first + step * (number + 1), (f"{name.sign(mode)} ", name.ink),
                  (fit(name.short, step - 3, mode.g("ellipsis")), "fg2"))  # fmt: skip
    head.right(first - 1, "asked", "dim")
    by_task: dict[str, list[Run]] = {}
    for run in mine:
        by_task.setdefault(run.task, []).append(run)
    for task in tasks:
        held, line = by_task[task], page.row()
        asked = sorted({run.requested_s for run in held if run.requested_s})
        start = line.right(first - 1, asked_list(asked), "fg2") if asked else first - 1
        line.put(1, fit(task_name(held[0]), start - 3, mode.g("ellipsis")), "fg")
        for number, name in enumerate(shown):
            logs = [abs(math.log(run.ratio)) for run in held
                    if run.agent == name.id and run.counts == "yes" and run.ratio]  # fmt: skip
            error = math.exp(sum(logs) / len(logs)) if logs else None
            natural = _median(sorted(run.worked_s for run in held if run.agent == name.id and run.counts == "yes"
                                     and run.study == "natural" and run.worked_s is not None))  # fmt: skip
            if error is None and natural is not None:
                line.rseq(first + step * (number + 1), (durations.clock(natural), "fg2"))
                continue
            line.rseq(first + step * (number + 1), *parts.factor_parts(mode, error))
        page.spot("task", task_key(held[0].benchmark, task), 0, start - 1)


def asked_list(asked_s: Sequence[float]) -> str:
    """`5, 20, 80 min`; units apart where they differ."""
    pieces = [durations.asked(seconds) for seconds in asked_s]
    if len({unit for _, unit in pieces}) == 1:
        return f"{', '.join(number for number, _ in pieces)} {pieces[0][1]}"
    return ", ".join(" ".join(piece) for piece in pieces)


def grading(pack: Mapping[str, Any], mine: Sequence[Run]) -> list[tuple[str, str]]:
    """Native score, grader, and what pass means, from the grade rule that the campaign kept."""
    rule = pack.get("grade") or {}
    if not rule:
        scales = Counter(
            str(run.extra["score"].get("scale")) for run in mine
            if isinstance(run.extra.get("score"), Mapping) and run.extra["score"].get("scale")
        )  # fmt: skip
        judged = any(run.grade.passed is not None for run in mine)
        rules = "as the set says it, never read off the score" if judged else "no run says whether it passed"
        return [("native score", next(iter(scales), "not known")), ("pass", rules)]
    bounds, key = rule.get("bounds"), rule.get("key", "reward")
    native = f"{key}, {bounds[0]} to {bounds[1]}" if bounds else f"{key}, unbounded"
    native += f", {rule.get('better', 'higher')} is better"
    if rule.get("percent"):
        native += f"; percent is {rule['percent']}"
    where = {
        "separate": "in an environment of its own", "shared": "where the agent worked",
        "live": "in the running session", "answer": "on the last message, at the operator's",
    }.get(str(rule.get("where")), str(rule.get("where") or ""))  # fmt: skip
    passes = rule.get("pass") or rule.get("passes")
    said = f"{passes['key']} of at least {passes['min']}" if passes else "no pass rule: only the score"
    judge = f"; judge {rule['judge']}" if rule.get("judge") else ""
    return [("native score", native), ("grader", f"{where}{judge}"), ("pass", said)]


def _standing(pack: Mapping[str, Any]) -> list[tuple[str, str]]:
    needs = [str(need) for need in pack.get("needs") or ()]
    return [
        ("pack", str(pack.get("pack") or "")),
        ("needs", ", ".join(needs) if needs else "nothing special" if "needs" in pack else ""),
        ("state", str(pack.get("state") or "")), ("source", str(pack.get("source") or "")),
    ]  # fmt: skip
