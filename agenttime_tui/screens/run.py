"""One run: live with its time bar and transcript, finished as its card; the same screen turns into the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agenttime_tui.campaign.run import Run
from agenttime_tui.look.rows import Row, blank
from agenttime_tui.look.sanitise import lines
from agenttime_tui.panels import facts, run_card, time_bar
from agenttime_tui.panels.answered import with_truths
from agenttime_tui.panels.chrome import rule
from agenttime_tui.panels.pane import Document, Pane
from agenttime_tui.panels.run_csv import csv_text
from agenttime_tui.panels.run_head import run_header
from agenttime_tui.panels.spots import task_key
from agenttime_tui.panels.state import RunDetail
from agenttime_tui.panels.toast import Toast
from agenttime_tui.screens.ask import Ask
from agenttime_tui.screens.desk import Desk
from agenttime_tui.screens.frame import NARROW
from agenttime_tui.screens.keys import CARD, READING, RUN, Key, bindings, footer_keys
from agenttime_tui.screens.messages import Copy, Go
from agenttime_tui.screens.reader import Reader

LOW = 30
"""Below this height blank rows are given up."""

LIVE = frozenset({"running", "unknown", "preparing", "staged", "planned"})


class RunScreen(Reader):
    """A run by its id."""

    KEYS = RUN
    HEADING = "Run"
    BINDINGS = bindings((*RUN, *READING))

    def __init__(self, desk: Desk, run_id: str) -> None:
        super().__init__(desk, run_id)
        self.detail: RunDetail | None = None
        self.events_total = 0
        self.reading = False
        self.shows_facts = False
        self.top = Pane(self._top, "top")
        self.seam = Pane(lambda width, height: [rule(width, self.mode)], "seam")
        self.card = Document(self._card, "card")
        self.facts = Pane(self._facts, "side")

    def compose(self) -> ComposeResult:
        """Header, the big number with its bar, then transcript or card beside the facts."""
        yield self.head
        yield self.foot
        with Vertical():
            yield self.top
            yield self.seam
            with Horizontal():
                with Vertical(id="main"):
                    yield self.heading
                    yield self.view
                    yield self.card
                yield self.facts
        yield self.corner

    @property
    def run_now(self) -> Run | None:
        """The run as the desk knows it now."""
        found = self.desk.run(self.run_id)
        return found or (self.detail.run if self.detail else None)

    @property
    def may_grow(self) -> bool:
        """True until the run has ended."""
        return not self.finished

    @property
    def finished(self) -> bool:
        """True where the card is shown instead of the live bar."""
        run = self.run_now
        return run is not None and run.execution not in LIVE

    def on_mount(self) -> None:
        """Reads the run and the end of its transcript."""
        self._arrange()
        self._load()

    @work(group="run", exclusive=True, exit_on_error=False)
    async def _load(self) -> None:
        detail = await self.asked(self.desk.source.detail(self.run_id))
        if detail is None:
            return
        self.detail = detail
        run = self.run_now
        self.view.elapsed_s = self.desk.moment().elapsed_s(run) if run else None
        self.events_total = (await self.read_tail()).total
        self._arrange()
        self.touch_all()
        self.card.touch()

    async def freshen(self) -> None:
        """The run's facts, and what its transcript gained."""
        detail = await self.asked(self.desk.source.detail(self.run_id))
        if detail is None:
            return
        self.detail = detail
        await self.read_on()
        self.events_total = self.view.held.total
        self._arrange()
        self.touch_all()
        self.card.touch()

    def refreshed(self, changed: frozenset[str]) -> None:
        """Reads on only where this run changed; its card also stands beside the other runs of its task."""
        run = self.run_now
        if self.run_id in changed or not changed:
            self.keep_fresh()
        elif self.finished and run is not None and self._concerns(run, changed):
            self.touch_all()
            self.card.touch()
        self.head.touch()
        self._arrange()

    def _concerns(self, run: Run, changed: frozenset[str]) -> bool:
        """Whether a run of the same task is among those that changed."""
        place = run.benchmark, run.task
        return any(one.id in changed and (one.benchmark, one.task) == place for one in self.desk.snapshot.runs)

    def tick(self) -> None:
        """The clock, the bar and the running line."""
        run = self.run_now
        if run is not None and not self.finished:
            self.top.touch()
            self.view.tick(self.desk.moment().elapsed_s(run))
        self.head.touch()

    def fit(self, width: int, height: int) -> None:
        """Facts fold away where it is narrow, blank rows where it is low."""
        self._arrange()

    def _arrange(self) -> None:
        finished, size = self.finished, self.size
        wide, low = size.width >= NARROW, size.height < LOW
        run = self.run_now
        card = run_card.card_height(self._completed(run)) if finished and run is not None else 0
        self.top.styles.height = card or time_bar.HEIGHT - (1 if low else 0)
        shows_transcript = not finished or self.reading
        main = wide or not self.shows_facts
        self.heading.styles.height = 1 if low else 3
        self.heading.display = self.view.display = shows_transcript and main
        self.card.display = not shows_transcript and main
        self.facts.display = wide or self.shows_facts
        self.facts.set_class(not wide, "alone")
        self.foot.touch()

    def help_tables(self) -> Sequence[tuple[str, Sequence[Key]]]:
        """Keys of the live run and of the card."""
        return (("Run", RUN), ("Card", CARD))

    def footer_table(self) -> Sequence[tuple[str, str]]:
        """The card has its own footer; space says what it will do."""
        table = footer_keys(CARD if self.finished and not self.reading else RUN, self.mode)
        if not self.view.following:
            table = [(key, "follow" if word == "pause" else word) for key, word in table]
        if self.finished and self.reading:
            table = [("t", "card"), *((key, word) for key, word in table if word not in ("stop", "pause", "follow"))]
        if self.detail is not None and self.detail.transcript_missing:
            table = [(key, word) for key, word in table if word != "transcript"]
        if self.size.width < NARROW:
            table.insert(1, ("i", "facts"))
        return table

    def header_rows(self, width: int, height: int) -> list[Row]:
        """Who on what, state, machine."""
        detail = self._detail()
        if detail is None or detail.run.agent not in self.desk.names:
            return [*blank(width, 2, self.mode), rule(width, self.mode)]
        desk = self.desk
        name, campaign = desk.names[detail.run.agent], desk.snapshot.head.name
        return run_header(width, self.mode, detail, name, campaign, len(desk.needs), desk.moment())

    def _detail(self) -> RunDetail | None:
        run = self.run_now
        if run is None:
            return None
        run = self._completed(run)
        if self.detail is None:
            return RunDetail(run, self.desk.snapshot.settings.get(run.agent, ""))
        return RunDetail(**{**{name: getattr(self.detail, name) for name in RunDetail.__slots__}, "run": run})

    def _completed(self, run: Run) -> Run:
        """The run with what the other runs in view know of it: an imported one's cutoff, a forecast's truth."""
        runs = self.desk.snapshot.runs
        return with_truths([run_card.assumed_cutoff(run, runs)], runs)[0]

    def _top(self, width: int, height: int) -> list[Row]:
        run = self.run_now
        if run is None:
            return blank(width, height, self.mode)
        if self.finished:
            return run_card.card_top(width, self.mode, self._completed(run))
        unit = self.desk.snapshot.unit_of.get(run.cell)
        return time_bar.live_top(width, self.mode, run, self.view.held.events, self.desk.moment(), unit)[:height]

    def _card(self, width: int, height: int) -> list[Row]:
        detail = self._detail()
        if detail is None:
            return blank(width, height, self.mode)
        runs = self.desk.snapshot.runs
        rows = run_card.card_body(width, self.mode, detail, runs, self.desk.names, self.events_total)
        return rows[1:] if self.size.height < LOW else rows

    def _facts(self, width: int, height: int) -> list[Row]:
        detail = self._detail()
        if detail is None:
            return blank(width, height, self.mode)
        if self.finished:
            return facts.fact_rows(width, height, self.mode, facts.card_facts(detail, self.mode), spaced=False)
        return facts.fact_rows(width, height, self.mode, facts.live_facts(detail, self.mode), spaced=height >= 20)

    def panes(self) -> Iterator[Pane]:
        """All fixed panes."""
        yield from (self.head, self.foot, self.top, self.seam, self.heading, self.facts)

    def action_cursor(self, step: int) -> None:
        """Moves between events, or scrolls the card."""
        if self.view.display:
            self.view.step(step)
        elif self.finished and not self.reading:
            self.action_other(step)

    def action_page(self, step: int) -> None:
        """Moves by a screen."""
        if self.view.display:
            self.view.page(step)
        else:
            self.card.scroll_relative(y=step * max(1, self.card.size.height - 1), animate=False)

    def action_edge(self, step: int) -> None:
        """To the first event, or to the end and on."""
        if step > 0 or not self.view.display:
            self.jump(None)
        else:
            self.jump(0)

    def action_fold(self) -> None:
        """Folds an event."""
        if self.view.display:
            self.view.toggle_fold()
        elif self.finished:
            self.action_transcript()

    def action_facts(self) -> None:
        """Shows or folds the facts where it is narrow."""
        self.shows_facts = not self.shows_facts
        self._arrange()

    def action_transcript(self) -> None:
        """Card or transcript of a finished run."""
        if self.finished and not (self.detail and self.detail.transcript_missing):
            self.reading = not self.reading
            self._arrange()
            self.touch_all()

    def action_seek(self, kind: str) -> None:
        """The next event of a kind; on a card `s` is the scatter and `c` the table."""
        if not self.finished or self.reading:
            self.seek(kind)
        elif kind == "sleep":
            self.action_scatter()
        elif kind == "clock":
            self.action_csv()

    def action_scatter(self) -> None:
        """This run in the scatter."""
        self.post_message(Go("scatter", self.run_id))

    def action_csv(self) -> None:
        """The runs of the card as a file."""
        run = self.run_now
        if run is not None:
            mine, others = run_card.siblings(run, self.desk.snapshot.runs)
            self.post_message(Copy(f"{self.run_id}.csv", csv_text([*mine, *others]), as_file=True))

    def action_other(self, step: int) -> None:
        """Another agent at the same request."""
        self._to_run(self._other(step))

    def action_copy(self) -> None:
        """The event as it was written; on a card the run's id."""
        if self.finished and not self.reading:
            self.post_message(Copy("id.txt", self.run_id))
        else:
            self.copy_event()

    @work(group="ask", exit_on_error=False)
    async def action_stop(self) -> None:
        """Asks for a reason, then stops this run."""
        run = self.run_now
        if run is None or self.finished:
            self.complain("this run has ended")
            return
        line = "It gets TERM, then KILL after 5 s; the time until then is kept as a lower bound. Type a reason."
        reason = await self.app.push_screen_wait(Ask(self.mode, f"Stop run {run.id}?", line))
        if reason is None:
            return
        said = await self.asked(self.desk.source.act("stop", run.id, " ".join(lines(reason)).strip()))
        if said:
            self.desk.say(Toast("fg", "Stop", line=said))

    def action_sibling(self, step: int) -> None:
        """The same agent and task at the next request."""
        run = self.run_now
        if run is None or not self.finished or self.reading:
            return
        mine, _ = run_card.siblings(run, self.desk.snapshot.runs)
        self._to_run(_beside(mine, run, step))

    def _other(self, step: int) -> Run | None:
        run = self.run_now
        if run is None:
            return None
        _, others = run_card.siblings(run, self.desk.snapshot.runs)
        order = list(self.desk.names)
        return _beside(sorted([run, *others], key=lambda item: order.index(item.agent)), run, step)

    def _to_run(self, run: Run | None) -> None:
        if run is not None and run.id != self.run_id:
            self.run_id, self.detail, self.events_total = run.id, None, 0
            self._arrange()
            self.touch_all()
            self._load()

    def action_benchmark(self) -> None:
        """The card of the benchmark."""
        if (run := self.run_now) is not None:
            self.post_message(Go("benchmark", run.benchmark))

    def action_task(self) -> None:
        """The card of the task."""
        if (run := self.run_now) is not None:
            self.post_message(Go("task", task_key(run.benchmark, run.task)))

    def action_agent(self) -> None:
        """The card of the agent."""
        if (run := self.run_now) is not None:
            self.post_message(Go("agent", run.agent))

    def action_back(self) -> None:
        """Back to where it was opened from; from the transcript of a finished run to its card."""
        if self.finished and self.reading:
            self.action_transcript()
        else:
            self.app.pop_screen()


def _beside(runs: Sequence[Run], run: Run, step: int) -> Run | None:
    at = next((number for number, item in enumerate(runs) if item.id == run.id), None)
    return runs[(at + step) % len(runs)] if at is not None and runs else None
