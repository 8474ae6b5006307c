"""What all screens share: the source, how to draw, and the campaign as last read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agenttime_tui.campaign.run import Run
from agenttime_tui.look.mode import Mode
from agenttime_tui.panels.board_model import Board, build_board, renewed
from agenttime_tui.panels.moment import Moment
from agenttime_tui.panels.names import AgentName
from agenttime_tui.panels.needs import needs
from agenttime_tui.panels.state import CampaignHead, Need, Snapshot
from agenttime_tui.panels.toast import Toast
from agenttime_tui.screens.source import Source


def _nothing(_: Toast) -> None:
    return None


@dataclass(slots=True)
class Desk:
    """The campaign on the operator's desk."""

    source: Source
    mode: Mode
    snapshot: Snapshot = field(default_factory=lambda: Snapshot(CampaignHead("", "")))
    board: Board = field(default_factory=lambda: Board((), ()))
    needs: list[Need] = field(default_factory=list)
    names: dict[str, AgentName] = field(default_factory=dict)
    loaded: bool = False
    say: Callable[[Toast], None] = _nothing

    def moment(self) -> Moment:
        """Now."""
        return self.source.moment()

    def take(self, snapshot: Snapshot) -> None:
        """Makes everything that follows from a snapshot."""
        held, before, self.snapshot = self.snapshot, self.board, snapshot
        same = self.loaded and (held.settings, held.unit_of) == (snapshot.settings, snapshot.unit_of)
        board = renewed(self.board, held.runs, snapshot.runs) if same else None
        self.board = board or build_board(snapshot.runs, snapshot.settings, snapshot.unit_of)
        self.names = {name.id: name for name in self.board.agents}
        rest = [(one.head, one.machines, one.needs) for one in (held, snapshot)]
        if self.board is not before or rest[0] != rest[1]:
            self.look_again()
        self.loaded = True

    def look_again(self) -> None:
        """What needs the operator now: some needs come with time alone."""
        self.needs = needs(self.snapshot, self.moment())

    def run(self, identity: str) -> Run | None:
        """A run by its id."""
        return next((run for run in self.snapshot.runs if run.id == identity), None)

    def turn_theme(self) -> None:
        """Light becomes dark and back; without colour nothing changes."""
        if self.mode.theme != "mono":
            self.mode = replace(self.mode, theme="light" if self.mode.theme == "dark" else "dark")
