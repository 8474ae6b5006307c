"""The frame of every screen: header pane, footer pane, the notice in the corner, and reading without blocking."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from typing import ClassVar, TypeVar

from textual import work
from textual.events import Resize
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from agenttime_tui.errors import UserError
from agenttime_tui.look.mode import Mode
from agenttime_tui.look.rows import Row, blank
from agenttime_tui.panels import toast
from agenttime_tui.panels.chrome import footer
from agenttime_tui.panels.pane import Document, Pane
from agenttime_tui.panels.toast import Toast
from agenttime_tui.screens.desk import Desk
from agenttime_tui.screens.keys import Key, footer_keys

Result = TypeVar("Result")
NARROW = 110
"""Below this width side panes go."""


class Frame(Screen[None]):
    """A screen over the desk; subclasses name their keys (KEYS and BINDINGS from one table) and build their header."""

    KEYS: ClassVar[Sequence[Key]] = ()
    HEADING: ClassVar[str] = ""
    REST_S: ClassVar[float] = 0.0
    """Least time between two readings of what the screen shows."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.notice: Toast | None = None
        self.behind = False
        """Whether snapshots came while another screen covered this one."""
        self._stale = self._freshening = False
        self.head = Pane(self.header_rows, "head")
        self.foot = Pane(self._footer_rows, "foot")
        self.corner = Pane(self._notice_rows, "toast")
        self.corner.display = False

    @property
    def mode(self) -> Mode:
        """How to draw."""
        return self.desk.mode

    def header_rows(self, width: int, height: int) -> list[Row]:
        """Three rows at the top."""
        return blank(width, height, self.mode)

    def footer_table(self) -> Sequence[tuple[str, str]]:
        """Keys of the footer."""
        return footer_keys(self.KEYS, self.mode)

    def help_tables(self) -> Sequence[tuple[str, Sequence[Key]]]:
        """Sections of the help page."""
        return ((self.HEADING, self.KEYS),)

    def _footer_rows(self, width: int, height: int) -> list[Row]:
        return footer(width, self.mode, self.footer_table())

    def _notice_rows(self, width: int, height: int) -> list[Row]:
        if self.notice is None:
            return blank(width, height, self.mode)
        return toast.draw(width, self.mode, self.notice)

    def on_resize(self, event: Resize) -> None:
        """Keeps the notice at the right edge, above the footer or over the header, never over a transcript."""
        y = event.size.height - 4 if event.size.width >= NARROW else 1
        self.corner.styles.offset = (max(0, event.size.width - toast.WIDTH - 1), max(0, y))
        self.set_class(event.size.width < NARROW, "narrow")
        self.set_class(event.size.height < 30, "low")
        self.fit(event.size.width, event.size.height)

    def on_screen_resume(self) -> None:
        """In view again: shows what came meanwhile."""
        if self.behind:
            self.behind = False
            self.refreshed(frozenset())

    def fit(self, width: int, height: int) -> None:
        """Told of every new size, before it is drawn."""

    def show_notice(self, notice: Toast | None) -> None:
        """Shows or takes away the notice."""
        self.notice = notice
        self.corner.display = notice is not None
        self.corner.touch()

    def complain(self, text: str) -> None:
        """Says in the corner why something did not happen."""
        self.desk.say(Toast("attn", "Not done", line=text))

    async def freshen(self) -> None:
        """Reads again what the screen shows; called by `keep_fresh`."""

    def keep_fresh(self) -> None:
        """Has `freshen` run once more, never two at a time, however fast changes come."""
        self._stale = True
        if not self._freshening:
            self._freshening = True
            self._freshen_while_stale()

    @work(group="fresh", exit_on_error=False)
    async def _freshen_while_stale(self) -> None:
        try:
            while self._stale:
                self._stale = False
                await self.freshen()
                await asyncio.sleep(self.REST_S)
        finally:
            self._freshening = False

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A read that fell over is said, and never takes the app down."""
        if event.state is WorkerState.ERROR:
            self.complain(f"{event.worker.name}: {event.worker.error}")

    async def asked(self, what: Awaitable[Result]) -> Result | None:
        """The result, or None after telling the operator why there is none."""
        try:
            return await what
        except UserError as error:
            self.complain(str(error))
            return None

    def touch_all(self) -> None:
        """Draws again whatever changed."""
        for pane in self.panes():
            pane.touch()

    def redraw(self) -> None:
        """Draws everything again, after the theme was turned."""
        self.touch_all()
        for page in self.query(Document):
            page.touch()
        self.refresh(layout=True, repaint=True)

    def panes(self) -> Iterator[Pane]:
        """The fixed panes of the screen."""
        yield from self.query(Pane)

    def refreshed(self, changed: frozenset[str]) -> None:
        """Told that the desk holds a new snapshot."""
        self.touch_all()

    def tick(self) -> None:
        """Told once a second, for running clocks."""
        self.head.touch()
