"""The launch dialog: choices inline, beneath them exactly what will be delivered, and what blocks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agenttime_tui.look import durations, numbers
from agenttime_tui.look.cellwidth import cells, fit, wrap
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Part, Row, extent
from agenttime_tui.look.sanitise import clean, lines
from agenttime_tui.panels.chrome import fitting, numbers_in
from agenttime_tui.panels.names import AgentName, benchmark_name

FIELDS = ("study", "task", "agent", "request", "machine", "repeats")
ALL = "all"
LIMITS = 2
"""Rows of window, cutoff and costs: names and values."""


@dataclass(frozen=True, slots=True)
class TaskOption:
    """One task that could be launched, with its requests as (name, seconds, unit)."""

    pack: str
    task: str
    requests: tuple[tuple[str, float, str], ...] = ()
    cells: int = 0
    """Cells of the pack in the campaign, for the remark."""


@dataclass(frozen=True, slots=True)
class MachineOption:
    """One machine that could run it; `free` slots, None where unknown."""

    name: str
    free: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Everything the dialog can choose from."""

    campaign: str
    studies: tuple[str, ...]
    tasks: tuple[TaskOption, ...]
    agents: tuple[AgentName, ...]
    machines: tuple[MachineOption, ...]


@dataclass(frozen=True, slots=True)
class LaunchChoice:
    """What is chosen; `request` is a tier's name, `all`, or empty for a study without one."""

    study: str
    pack: str
    task: str
    agent: str
    request: str
    machine: str
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class LaunchPreview:
    """What launching would do, made by the code that will do it."""

    prompt: str = ""
    phrase: str = ""
    """The request phrase inside the prompt."""
    sha256: str = ""
    command: str = ""
    command_note: str = ""
    """`in /app, prompt on stdin`."""
    window_s: tuple[float, float] | None = None
    cutoff_s: float | None = None
    worst_usd: float | None = None
    left_usd: float | None = None
    left_at_most: bool = False
    """What was spent is a lower bound."""
    account: str = ""
    account_note: str = ""
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    runs: int = 1
    refused: bool = False
    """A launch would be refused: it does not wait for what blocks it."""


@dataclass(frozen=True, slots=True)
class LaunchForm:
    """The state of the dialog."""

    options: LaunchOptions
    choice: LaunchChoice
    focus: str = "request"
    query: str = ""
    preview: LaunchPreview | None = None
    note: str = ""
    """What the last action said: launched, copied, or why not."""

    @property
    def task(self) -> TaskOption:
        """The chosen task."""
        wanted = (self.choice.pack, self.choice.task)
        return next((item for item in self.options.tasks if (item.pack, item.task) == wanted), self.options.tasks[0])

    def fields(self) -> tuple[str, ...]:
        """Fields that offer a choice or say something, in order."""
        hidden = {"study"} if len(self.options.studies) < 2 else set()
        if not self.task.requests or self.choice.study != "duration":
            hidden.add("request")
        return tuple(name for name in FIELDS if name not in hidden)

    def values(self, name: str) -> list[str]:
        """What can be chosen in a field."""
        if name == "study":
            return list(self.options.studies)
        if name == "agent":
            return [agent.id for agent in self.options.agents]
        if name == "machine":
            return [machine.name for machine in self.options.machines]
        if name == "request":
            return [*(tier for tier, _, _ in self.task.requests), *([ALL] if len(self.task.requests) > 1 else [])]
        return [str(number) for number in range(1, 10)] if name == "repeats" else []

    def matching_tasks(self) -> list[TaskOption]:
        """Tasks that every word of the query is found in."""
        words = self.query.lower().split()
        return [
            item
            for item in self.options.tasks
            if all(word in f"{item.pack} {benchmark_name(item.pack)} {item.task}".lower() for word in words)
        ]

    def turn(self, step: int) -> LaunchForm:
        """The form with the focused field moved on by `step`."""
        if self.focus == "task":
            tasks = self.matching_tasks()
            here = next((n for n, item in enumerate(tasks) if item == self.task), -1)
            return self.with_task(tasks[(here + step) % len(tasks)]) if tasks else self
        values = self.values(self.focus)
        held = str(getattr(self.choice, self.focus))
        here = values.index(held) if held in values else 0
        value = values[(here + step) % len(values)] if values else held
        changed = {self.focus: int(value) if self.focus == "repeats" else value}
        return replace(self, choice=replace(self.choice, **changed))  # type: ignore[arg-type]

    def with_task(self, task: TaskOption) -> LaunchForm:
        """The form on another task, at the same tier where it has one."""
        tiers = [tier for tier, _, _ in task.requests]
        request = self.choice.request if self.choice.request in (*tiers, ALL) else (tiers[0] if tiers else "")
        return replace(self, choice=replace(self.choice, pack=task.pack, task=task.task, request=request))

    def typed(self, query: str) -> LaunchForm:
        """The form with the task searched for."""
        form = replace(self, query=query)
        tasks = form.matching_tasks()
        return form if not tasks or form.task in tasks else form.with_task(tasks[0])

    def move(self, step: int) -> LaunchForm:
        """The form with the focus on the next field."""
        fields = self.fields()
        here = fields.index(self.focus) if self.focus in fields else 0
        return replace(self, focus=fields[(here + step) % len(fields)], query="")


def natural_height(width: int, mode: Mode, form: LaunchForm) -> int:
    """Rows that the sheet takes where it is not pressed."""
    body = [*_top(width, mode, form), *_fields(width, mode, form), *_preview(width, mode, form)]
    return len(body) + len(_tail(width, mode, form))


def form_rows(width: int, height: int, mode: Mode, form: LaunchForm) -> list[Row]:
    """The sheet; when it is lower than its content, blank rows go first, then the prompt's end, never the limits."""
    body = [*_top(width, mode, form), *_fields(width, mode, form), *_preview(width, mode, form)]
    tail = _tail(width, mode, form)
    room = height - len(tail)
    while len(body) > room and (gap := _last_gap(body)) is not None:
        del body[gap]
    if len(body) > room:
        kept = 0 if form.preview is None else LIMITS
        text = body[: len(body) - kept]
        body = [
            *text[: room - kept - 1],
            _cut(width, mode, len(text) - room + kept + 1),
            *body[len(body) - kept :],
        ]
    body += [Row(width, mode, "raised") for _ in range(room - len(body))]
    return [*body, *tail]


def _last_gap(rows: Sequence[Row]) -> int | None:
    gaps = [number for number, row in enumerate(rows) if number and not row.text.strip()]
    return gaps[-1] if gaps else None


def _cut(width: int, mode: Mode, number: int) -> Row:
    row = Row(width, mode, "raised")
    row.seq(3, (f"{mode.g('more')} ", "dim"), (str(number), "fg2"), (" more lines, ctrl+y copies the prompt", "dim"))
    return row


def _top(width: int, mode: Mode, form: LaunchForm) -> list[Row]:
    rows = [Row(width, mode, "raised") for _ in range(3)]
    rows[0].fill(0, width, mode.g("top"), "fg2")
    several = form.preview is not None and form.preview.runs != 1
    rows[1].put(3, f"Launch {form.preview.runs} runs" if several and form.preview else "Launch one run", "bright b")
    rows[1].rseq(width - 3, (clean(form.options.campaign), "fg2"), (f", {form.choice.study}", "dim"))
    return rows


def _fields(width: int, mode: Mode, form: LaunchForm) -> list[Row]:
    rows = [_field(width, mode, form, name) for name in form.fields()]
    preview = form.preview
    if preview and preview.account:
        row = Row(width, mode, "raised")
        row.put(3, "account", "dim")
        at = row.put(14, clean(preview.account), "bright b")
        row.right(width - 3, fit(preview.account_note, width - 5 - at, mode.g("ellipsis")), "dim")
        rows.insert(len(rows) - 1, row)
    return [*rows, Row(width, mode, "raised")]


def _field(width: int, mode: Mode, form: LaunchForm, name: str) -> Row:
    row = Row(width, mode, "raised")
    focused = form.focus == name
    if focused:
        row.shade(0, width, "cursor")
        row.put(0, mode.g("edge"), "fg b")
    row.put(3, name, "fg b" if focused else "dim")
    options, note = _options(mode, form, name, focused)
    room = width - 3
    x = 14
    chosen = next((n for n, (_, on) in enumerate(options) if on), 0)
    first = _first_shown(options, chosen, room - 14)
    for parts, on in options[first:]:
        size = extent(parts)
        if x + size + 1 > room:
            break
        bracket = on and len(options) > 1
        if bracket:
            row.put(x - 1, "[", "fg b")
        row.seq(x, *parts)
        x += size
        if bracket:
            row.put(x, "]", "fg b")
        x += 3
    if note and x + cells(note) <= room:
        row.right(room, note, "dim")
    return row


def _first_shown(options: Sequence[tuple[list[Part], bool]], chosen: int, room: int) -> int:
    first = 0
    while first < chosen and sum(extent(parts) + 3 for parts, _ in options[first : chosen + 1]) > room:
        first += 1
    return first


def _options(mode: Mode, form: LaunchForm, name: str, focused: bool) -> tuple[list[tuple[list[Part], bool]], str]:
    choice = form.choice
    if name == "task":
        return _task_option(mode, form, focused)
    if name == "agent":
        made: list[tuple[list[Part], bool]] = []
        for agent in form.options.agents:
            on = agent.id == choice.agent
            made.append(([(f"{agent.sign(mode)} ", agent.ink), (agent.short, "bright b" if on else "dim")], on))
        setting = next((agent.setting for agent in form.options.agents if agent.id == choice.agent), "")
        return made, setting
    if name == "request":
        made = []
        for tier, seconds, unit in form.task.requests:
            on = tier == choice.request
            made.append(([(durations.asked_text(seconds, unit), "bright b" if on else "dim")], on))
        if len(form.task.requests) > 1:
            on = choice.request == ALL
            word = "all three" if len(form.task.requests) == 3 else "all"
            made.append(([(word, "bright b" if on else "dim")], on))
        return made, "" if choice.request == ALL else f"{choice.request} of {_spelt(len(form.task.requests))}"
    if name == "machine":
        made = []
        for machine in form.options.machines:
            on = machine.name == choice.machine
            free = "" if machine.free is None else " full" if machine.free <= 0 else f" {machine.free} free"
            made.append(([(f"{clean(machine.name)}{free}", "bright b" if on else "dim")], on))
        return made, next((clean(item.note) for item in form.options.machines if item.name == choice.machine), "")
    held = str(getattr(choice, name))
    if not focused:
        return [([(held, "bright b")], True)], ""
    return [([(value, "bright b" if value == held else "dim")], value == held) for value in form.values(name)], ""


def _task_option(mode: Mode, form: LaunchForm, focused: bool) -> tuple[list[tuple[list[Part], bool]], str]:
    task = form.task
    text = f"{benchmark_name(task.pack)} / {clean(task.task)}"
    if focused and form.query:
        found = len(form.matching_tasks())
        return [([(clean(form.query), "bright b"), (mode.g("edge"), "fg"), (f" {text}", "fg")], True)], f"{found} found"
    size = f"{task.cells} cell{'s' * (task.cells != 1)} in the pack" if task.cells else ""
    note = "type to search" if focused else size
    return [([(text, "bright b")], True)], note


def _spelt(number: int) -> str:
    return {1: "one", 2: "two", 3: "three", 4: "four"}.get(number, str(number))


def _preview(width: int, mode: Mode, form: LaunchForm) -> list[Row]:
    preview = form.preview
    end = width - 3

    def row() -> Row:
        return Row(width, mode, "raised")

    if preview is None:
        first = row()
        first.put(3, "working out the prompt", "dim")
        return [first]
    rows = [row()]
    rows[0].put(3, "Prompt, exactly as delivered", "fg b")
    size = len(preview.prompt.encode("utf-8", "surrogatepass"))
    rows[0].rseq(end, (preview.sha256[:8], "fg2"), ("  ", "dim"), (numbers.count(size), "fg2"), (" bytes", "dim"))
    for text in lines(preview.prompt, cap=100_000):
        for line in wrap(text, width - 8, keep=preview.phrase):
            made = row()
            made.put(3, mode.g("quote"), "target")
            made.put(5, line, "fg")
            if preview.phrase and preview.phrase in line:
                at = 5 + cells(line[: line.index(preview.phrase)])
                made.put(at, preview.phrase, "target b", over=True)
            rows.append(made)
    rows += [row(), row()]
    rows[-1].put(3, "Command", "fg b")
    rows[-1].right(end, fit(preview.command_note, end - 14, mode.g("ellipsis")), "dim")
    for number, line in enumerate(wrap(clean(preview.command, 4000), width - 8)[:3]):
        rows.append(row())
        rows[-1].put(3, "$" if not number else " ", "dim")
        rows[-1].put(5, line, "fg2")
    return [*rows, row(), *_limits(width, mode, preview)]


def _limits(width: int, mode: Mode, preview: LaunchPreview) -> list[Row]:
    names, values = Row(width, mode, "raised"), Row(width, mode, "raised")
    dash: list[Part] = [(mode.g("missing"), "dim")]
    window = preview.window_s
    shown: list[tuple[str, list[Part]]] = [
        ("window", numbers_in(" to ".join(durations.edge(end) for end in window)) if window else dash),
        ("cutoff", numbers_in(durations.worked(preview.cutoff_s)) if preview.cutoff_s else dash),
        ("worst case", numbers_in(numbers.money(preview.worst_usd, True)) if preview.worst_usd is not None else dash),
        ("left in campaign", _left_parts(preview) or dash),
    ]
    step = max(14, (width - 6) // 4 + 1)
    for number, (name, parts) in enumerate(shown):
        x = 3 + number * step
        if x + max(len(name), extent(parts)) > width - 2:
            break
        names.put(x, name, "dim")
        values.seq(x, *parts)
    return [names, values, Row(width, mode, "raised")]


def _left_parts(preview: LaunchPreview) -> list[Part]:
    if preview.left_usd is None:
        return []
    return numbers_in(f"{'at most ' if preview.left_at_most else ''}{numbers.dollars(preview.left_usd)}")


def _tail(width: int, mode: Mode, form: LaunchForm) -> list[Row]:
    rows = [Row(width, mode, "raised") for _ in range(4)]
    rows[0].fill(3, width - 3, mode.g("rule"), "line")
    preview, room = form.preview, width - 8
    blocked = preview is not None and bool(preview.blockers)
    if form.note:
        rows[1].put(3, fit(form.note, room, mode.g("ellipsis")), "fg")
    elif preview is not None and preview.blockers:
        rows[1].put(3, mode.g("need"), "attn b")
        more = f" (and {len(preview.blockers) - 1} more)" if len(preview.blockers) > 1 else ""
        rows[1].put(5, fit(preview.blockers[0], room - len(more), mode.g("ellipsis")) + more, "fg")
    elif preview is not None:
        rows[1].put(3, mode.g("ended"), "fg b")
        x = rows[1].put(5, "Nothing blocks this run.", "fg")
        if preview.remarks:
            left = fit(preview.remarks[0], width - 5 - x, mode.g("ellipsis"))
            rows[1].seq(x + 2, *numbers_in(left, "fg2"))
    x = 0
    if preview is None or not preview.refused:
        x = rows[3].put(3, f" enter  {'Queue' if blocked else 'Launch'} ", "onattn b", "fg")
    keys = (("ctrl+d", "dry run"), ("ctrl+y", "copy prompt"), ("tab", "next"), ("esc", "cancel"))
    choices = [
        [part for key, does in kept for part in (("   ", "dim"), (key, "fg b"), (f" {does}", "dim"))]
        for kept in (keys, keys[1:], keys[3:])
    ]
    rows[3].seq(x, *fitting(width - 2 - x, *choices))
    return [*rows, Row(width, mode, "raised")]
