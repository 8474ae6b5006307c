"""The application over one source: opens screens, keeps the desk fresh, shows notices."""

from __future__ import annotations

import asyncio
from time import thread_time
from typing import ClassVar

from textual import work
from textual._context import visible_screen_stack
from textual.app import App
from textual.binding import BindingType
from textual.message import Message
from textual.theme import Theme
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from agenttime_tui.errors import UserError
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.picture import Cell, cells_of, svg
from agenttime_tui.look.tokens import DARK, LIGHT
from agenttime_tui.panels import toast
from agenttime_tui.panels.names import benchmark_name, task_name
from agenttime_tui.panels.palette import Command
from agenttime_tui.panels.spots import task_key
from agenttime_tui.panels.state import Snapshot
from agenttime_tui.panels.toast import Toast
from agenttime_tui.screens.board import BoardScreen
from agenttime_tui.screens.card import CardScreen
from agenttime_tui.screens.desk import Desk
from agenttime_tui.screens.frame import Frame
from agenttime_tui.screens.help import HelpScreen
from agenttime_tui.screens.keys import EVERYWHERE, bindings, help_keys, spelt
from agenttime_tui.screens.launch import LaunchScreen
from agenttime_tui.screens.machines import MachinesScreen
from agenttime_tui.screens.messages import Copy, Go
from agenttime_tui.screens.palette import PaletteScreen
from agenttime_tui.screens.run import RunScreen
from agenttime_tui.screens.source import Source
from agenttime_tui.screens.timing import ReviewScreen

REPAINT_EVERY_S = 0.1
"""At most ten repaints a second, however fast events come."""

REST_TIMES = 8
"""A large campaign rests this many times the CPU time its last repaint took: at most a ninth of a core."""

TICK_S = 1.0
LOOK_EVERY = 5
"""Ticks after which it is looked again at what needs the operator, as a cutoff nears or a transcript stays away."""

NOTICE_S = 8.0
CLIPBOARD_CAP_BYTES = 74_994
"""What terminals take in one OSC 52 write; more goes to a file."""


class Refreshed(Message):
    """A new snapshot was read."""

    def __init__(self, snapshot: Snapshot, changed: frozenset[str]) -> None:
        super().__init__()
        self.snapshot, self.changed = snapshot, changed


def theme_of(mode: Mode) -> Theme:
    """Textual's theme for a mode; without colour an ANSI theme, so that nothing turns grey by itself."""
    if mode.theme == "mono":
        return Theme(
            "agenttime-mono", primary="ansi_default", foreground="ansi_default", background="ansi_default",
            surface="ansi_default", panel="ansi_default", accent="ansi_default", ansi=True,
            variables={
                "vline": "ansi_default", "ansi-background": "ansi_default", "ansi-foreground": "ansi_default",
                "input-cursor-text-style": "reverse", "input-cursor-background": "ansi_default",
                "input-cursor-foreground": "ansi_default", "block-cursor-foreground": "ansi_default",
                "block-cursor-background": "ansi_default", "block-cursor-text-style": "reverse",
            },
        )  # fmt: skip
    ink = LIGHT if mode.theme == "light" else DARK
    return Theme(
        f"agenttime-{mode.theme}", primary=ink["fg2"], secondary=ink["dim"], accent=ink["target"],
        warning=ink["long"], error=ink["attn"], success=ink["short"], foreground=ink["fg"],
        background=ink["ground"], surface=ink["surface"], panel=ink["raised"], dark=mode.theme == "dark",
        variables={
            "vline": ink["line"], "block-cursor-background": ink["cursor"], "block-cursor-foreground": ink["bright"],
            "input-selection-background": ink["cursor"], "input-cursor-background": ink["fg"],
            "border": ink["line"], "border-blurred": ink["line"],
        },
    )  # fmt: skip


class AgentTimeApp(App[None]):
    """Screens over a source."""

    CSS = """
    Frame { background: $background; layers: base toast; }
    #head { dock: top; height: 3; }
    #foot { dock: bottom; height: 1; }
    #main { width: 1fr; height: 1fr; }
    #grid, #view, #card, #page, #plot { width: 1fr; height: 1fr; }
    #grid:focus, #view:focus { border: none; }
    #names, #under, #seam { height: 1; }
    #side { width: 33; height: 1fr; border-left: solid $vline; }
    #side.alone { width: 1fr; border-left: none; }
    .ascii #side { border-left: ascii $vline; }
    .narrow #side { border-left: none; }
    #charts { layout: horizontal; height: 1fr; }
    #notes { height: 1; }
    #charts.stacked { layout: vertical; }
    #toast { layer: toast; dock: top; width: 31; height: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(EVERYWHERE)
    ENABLE_COMMAND_PALETTE = False
    TITLE = "agenttime"

    def __init__(self, source: Source, mode: Mode | None = None, open_run: str | None = None, study: str = "") -> None:
        super().__init__()
        self.desk = Desk(source, mode or Mode())
        self.desk.say = self.notify_operator
        self._first = (open_run, study)
        self._hide: Timer | None = None
        self._took_s = 0.0
        self._heard: set[str] | None = None
        self._ticks = 0
        for theme in ("dark", "light", "mono"):
            self.register_theme(theme_of(Mode(theme)))
        self.theme = f"agenttime-{self.desk.mode.theme}"

    async def on_mount(self) -> None:
        """Reads the campaign, shows the board, begins to follow."""
        self.animation_level = "none"
        self.set_class(self.desk.mode.ascii, "ascii")
        try:
            self._take(await self.desk.source.snapshot())
        except UserError as error:
            self.exit(return_code=error.code, message=str(error))
            return
        await self.push_screen(BoardScreen(self.desk))
        run_id, study = self._first
        if study:
            await self.push_screen(ReviewScreen(self.desk, study))
        if run_id:
            await self.push_screen(RunScreen(self.desk, run_id))
        self.set_interval(TICK_S, self._tick)
        self._follow()

    def _take(self, snapshot: Snapshot) -> None:
        """Makes the desk hold the snapshot and says what ended since the last one."""
        self.desk.take(snapshot)
        ended = {run.id for run in snapshot.runs if run.execution == "ended"}
        fresh = ended - self._heard if self._heard is not None else set()
        self._heard = ended
        newest = [run for run in snapshot.runs if run.id in fresh]
        if newest:
            newest.sort(key=lambda run: run.ended_utc_ns or 0)
            notice = toast.ended(newest[-1], self.desk.names)
            self.call_later(self.notify_operator, notice)
            self.bell()

    @work(group="intake", exit_on_error=False)
    async def _follow(self) -> None:
        source = self.desk.source
        async for changed in source.changes():
            self.post_message(Refreshed(await source.snapshot(), changed))
            await asyncio.sleep(max(REPAINT_EVERY_S, REST_TIMES * self._took_s))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A reader that fell over is said, and never takes the app down."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self.notify_operator(Toast("attn", "Reading stopped", line=str(error) or type(error).__name__))

    def on_refreshed(self, event: Refreshed) -> None:
        """Hands the new snapshot to the screen in view; those beneath learn of it when they are seen again."""
        began = thread_time()
        self._take(event.snapshot)
        frames = self.frames()
        for screen in frames[:-1]:
            screen.behind = True
        for screen in frames[-1:]:
            screen.refreshed(event.changed)
        self._took_s = thread_time() - began

    def frames(self) -> list[Frame]:
        """Open screens of ours, the topmost last."""
        return [screen for screen in self.screen_stack if isinstance(screen, Frame)]

    def _tick(self) -> None:
        self._ticks += 1
        if self._ticks % LOOK_EVERY == 0:
            self.desk.look_again()
        for screen in self.frames()[-1:]:
            screen.tick()

    def notify_operator(self, notice: Toast) -> None:
        """Shows a notice for some seconds on the topmost screen of ours."""
        frames = self.frames()
        if not frames:
            return
        for screen in frames[:-1]:
            screen.show_notice(None)
        frames[-1].show_notice(notice)
        if self._hide is not None:
            self._hide.stop()
        self._hide = self.set_timer(NOTICE_S, self._hide_notice)

    def _hide_notice(self) -> None:
        for screen in self.frames():
            screen.show_notice(None)

    def _carry_notice(self) -> None:
        """A notice that a new screen would cover goes with it."""
        *below, top = self.frames()
        notice = next((screen.notice for screen in reversed(below) if screen.notice), None)
        if notice is not None and top.notice is None:
            for screen in below:
                screen.show_notice(None)
            top.show_notice(notice)

    async def on_go(self, event: Go) -> None:
        """Opens a place."""
        await self._open(event)
        self._carry_notice()

    async def _open(self, event: Go) -> None:
        desk = self.desk
        if event.place == "run":
            await self.push_screen(RunScreen(desk, event.target))
        elif event.place == "machines":
            await self.push_screen(MachinesScreen(desk, event.target))
        elif event.place == "launch":
            self._launch(event.target)
        elif event.place in ("agent", "benchmark", "task"):
            await self.push_screen(CardScreen(desk, event.place, event.target))
        elif event.place == "scatter":
            await self.push_screen(ReviewScreen(desk, "timing", event.target))
        elif event.place != "board":
            await self.push_screen(ReviewScreen(desk, event.place))

    @work(group="launch-options", exit_on_error=False)
    async def _launch(self, run_id: str) -> None:
        try:
            options = await self.desk.source.launch_options()
        except UserError as error:
            self.notify_operator(Toast("attn", "No launch here", line=str(error)))
            return
        if not options.tasks or not options.agents:
            self.notify_operator(Toast("attn", "No launch here", line="no task or agent to choose from"))
            return
        self.push_screen(LaunchScreen(self.desk, options, self.desk.run(run_id)))

    async def action_review(self, study: str) -> None:
        """A study's page."""
        await self.push_screen(ReviewScreen(self.desk, study))

    async def action_machines(self) -> None:
        """The machines."""
        await self.push_screen(MachinesScreen(self.desk))

    async def action_go(self) -> None:
        """What the notice speaks of."""
        notice = next((screen.notice for screen in reversed(self.frames()) if screen.notice), None)
        if notice and notice.target:
            await self.push_screen(RunScreen(self.desk, notice.target))

    def action_help(self) -> None:
        """Keys and signs of the topmost screen."""
        frames = self.frames()
        tables = [*(frames[-1].help_tables() if frames else ()), ("Everywhere", EVERYWHERE)]
        mode = self.desk.mode
        self.push_screen(HelpScreen(mode, [(name, help_keys(table, mode)) for name, table in tables]))

    def action_turn_theme(self) -> None:
        """Light or dark."""
        self.desk.turn_theme()
        self.theme = f"agenttime-{self.desk.mode.theme}"
        for screen in self.frames():
            screen.redraw()

    async def on_copy(self, event: Copy) -> None:
        """Clipboard, or a file where it is too large; either way it is said."""
        size = len(event.text.encode("utf-8", "replace"))
        if not event.as_file and size * 4 // 3 <= CLIPBOARD_CAP_BYTES:
            self.copy_to_clipboard(event.text)
            self.notify_operator(Toast("fg", "Copied", f"{size:,} bytes", "to the terminal's clipboard"))
            return
        try:
            path = await self.desk.source.save_text(event.name, event.text)
        except UserError as error:
            self.notify_operator(Toast("attn", "Not written", line=str(error)))
            return
        self.notify_operator(Toast("fg", "Written", f"{size:,} bytes", path))

    def picture(self) -> str:
        """The screen as SVG."""
        return svg(self.cells(), self.desk.mode.theme, self.TITLE or "")

    def cells(self) -> list[list[Cell]]:
        """What is on screen, one (glyph, style) a cell, with what shines through a dialog's veil."""
        visible_screen_stack.set(self._background_screens)
        return cells_of(self.screen._compositor.render_strips(), self.size.width)

    def action_picture(self) -> None:
        """Writes the screen as SVG."""
        self.post_message(Copy("screen.svg", self.picture(), as_file=True))

    def commands(self) -> list[Command]:
        """Every action of the screen and of the app, then every card and every run by name."""
        frames, mode = self.frames(), self.desk.mode
        tables = [*(table for _, table in (frames[-1].help_tables() if frames else ())), EVERYWHERE]
        actions = [
            Command(sentence(key.does), spelt(key.shown, mode), key.action)
            for table in tables
            for key in table
            if key.palette and key.does
        ]
        runs = [
            Command(
                f"{benchmark_name(run.benchmark)} / {task_name(run)} {run.request or ''}, {names.short}  {run.id}",
                run.execution,
                run=run.id,
            )
            for run in self.desk.snapshot.runs
            if run.attempt and (names := self.desk.names.get(run.agent))
        ]
        return [*actions, *self._cards(), *runs]

    def _cards(self) -> list[Command]:
        """The cards of agents, benchmarks and tasks."""
        held = self.desk.snapshot.runs
        tasks = {task_key(run.benchmark, run.task): run for run in held}
        return [
            *(Command(f"Agent {name.full}", "card", kind="agent", target=key) for key, name in self.desk.names.items()),
            *(
                Command(f"Benchmark {benchmark_name(key)}", "card", kind="benchmark", target=key)
                for key in dict.fromkeys(run.benchmark for run in held)
            ),
            *(
                Command(f"Task {benchmark_name(run.benchmark)} / {task_name(run)}", "card", kind="task", target=key)
                for key, run in tasks.items()
            ),
        ]

    @work(group="ask", exit_on_error=False)
    async def action_palette(self) -> None:
        """Asks what to do and does it, on the screen it was asked from."""
        frames = self.frames()
        command = await self.push_screen_wait(PaletteScreen(self.desk.mode, self.commands()))
        if command is None:
            return
        if command.run:
            await self.push_screen(RunScreen(self.desk, command.run))
            return
        if command.kind in ("agent", "benchmark", "task"):
            await self.push_screen(CardScreen(self.desk, command.kind, command.target))
            return
        owner = frames[-1] if frames and hasattr(frames[-1], f"action_{command.action.partition('(')[0]}") else self
        await self.run_action(command.action, default_namespace=owner)


def sentence(text: str) -> str:
    """A text with its first letter large and the rest as it is."""
    return text[:1].upper() + text[1:]
