"""A whole campaign in memory: cells, attempts and their runs, and what each batch of records changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from agenttime_tui.campaign.attempt import AttemptRecord, Decision
from agenttime_tui.campaign.cells import Cell
from agenttime_tui.campaign.facts import JournalRecord
from agenttime_tui.campaign.grading import read_grade
from agenttime_tui.campaign.reducer import RunState, planned
from agenttime_tui.campaign.run import EXECUTIONS, GradeFact, Run

OUT_OF_SIGHT = ("stale", "down")
"""Machine states in which what was last heard is no longer known to be so."""

IN_SIGHT_ONLY = ("staged", "preparing", "running")

CellGrader = Callable[[Cell, dict[str, Any]], GradeFact]


def _by_default(cell: Cell, data: dict[str, Any]) -> GradeFact:
    return read_grade(data)


class Campaign:
    """The model behind every board: hand in attempts, records and decisions, take out runs."""

    def __init__(
        self,
        campaign: str,
        cells: Iterable[Cell],
        grader: CellGrader = _by_default,
        awaits: Callable[[Cell], bool] = lambda cell: False,
    ) -> None:
        self.id = campaign
        self.cells = {cell.id: cell for cell in sorted(cells, key=lambda cell: cell.position)}
        self._grader = grader
        self._awaits = awaits
        """Whether the grade of a cell's runs is made on the operator's side, after their machine has said its last."""
        self._states: dict[str, RunState] = {}
        self._tries: dict[str, list[str]] = {}
        self._machines: dict[str, str] = {}
        self._planned: dict[str, Run] = {}

    def add_attempt(self, attempt: AttemptRecord) -> set[str]:
        """Takes in an attempt; returns the changed keys. KeyError when its cell is not of this campaign."""
        if attempt.id in self._states:
            return set()
        cell = self.cells[attempt.cell]
        graded = partial(self._grader, cell)
        self._states[attempt.id] = RunState(cell, self.id, attempt, graded, self._awaits(cell))
        tries = self._tries.setdefault(cell.id, [])
        tries.append(attempt.id)
        tries.sort(key=lambda name: self._states[name].attempt.ordinal)
        newest = self._states[tries[-1]].attempt.ordinal
        replaced = {name for name in tries[:-1] if self._states[name].supersede(newest)}
        return {cell.id, attempt.id, *replaced}

    def apply(self, attempt: str, records: Iterable[JournalRecord]) -> set[str]:
        """Takes in records of one attempt; returns the keys of the runs that changed (this one, or none)."""
        state = self._states[attempt]
        before = state.run()
        touched = [state.apply(record) for record in records]
        return {attempt} if any(touched) and state.run() != before else set()

    def restore(
        self,
        attempt: str,
        records: Iterable[JournalRecord],
        last_seq: int,
        holes: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Takes in what a store holds of an attempt, up to `last_seq`: the facts, and that the bulk was there."""
        self._states[attempt].restore(records, last_seq, holes)

    def decide(self, attempt: str, decision: Decision) -> set[str]:
        """Takes in what a person decided about one attempt; returns the changed keys."""
        return {attempt} if self._states[attempt].decide(decision) else set()

    def observe(self, attempt: str, outcome: str | None, checks: Sequence[str] = ()) -> set[str]:
        """Takes in what a harness's decoder read in one attempt; returns the changed keys."""
        return {attempt} if self._states[attempt].observe(outcome, checks) else set()

    def check_seal(self, attempt: str, holds: bool) -> set[str]:
        """Says whether an attempt's sealed estimate is what its kept output says; returns the changed keys."""
        return {attempt} if self._states[attempt].check_seal(holds) else set()

    def seal_of(self, attempt: str) -> JournalRecord | None:
        """The first seal of an attempt, the one that counts; None where there is none or the attempt is not known."""
        state = self._states.get(attempt)
        return next(iter(state.facts.of("sealed")), None) if state is not None else None

    def contact(self, machine: str, state: str) -> set[str]:
        """Takes in a machine's state (connecting, live, stale, down); returns the changed keys."""
        before = self._machines.get(machine) in OUT_OF_SIGHT
        self._machines[machine] = state
        if before == (state in OUT_OF_SIGHT):
            return set()
        return {
            name
            for name, one in self._states.items()
            if one.attempt.machine == machine and one.run().execution in IN_SIGHT_ONLY
        }

    def run(self, key: str) -> Run:
        """The run of an attempt id, or of a cell id that nobody has tried. KeyError for another key."""
        state = self._states.get(key)
        if state is None:
            if key not in self._planned:
                self._planned[key] = planned(self.cells[key], self.id)
            return self._planned[key]
        run = state.run()
        if run.execution in IN_SIGHT_ONLY and self._machines.get(state.attempt.machine) in OUT_OF_SIGHT:
            return replace(run, execution="unknown")
        return run

    def newest(self, cell: str) -> Run | None:
        """The run of the newest attempt at a cell; None where nobody has tried it."""
        tries = self._tries.get(cell)
        return self.run(tries[-1]) if tries else None

    @property
    def attempts(self) -> Collection[str]:
        """Ids of every attempt."""
        return self._states.keys()

    def cell_of(self, attempt: str) -> Cell:
        """The cell of an attempt; KeyError for one that is not known."""
        return self._states[attempt].cell

    def attempts_of(self, cell: str) -> list[str]:
        """Ids of the attempts at a cell, oldest first."""
        return list(self._tries.get(cell, ()))

    def runs(self) -> list[Run]:
        """Every attempt, and every cell without one, in the plan's order."""
        keys = (key for cell in self.cells for key in self._tries.get(cell) or [cell])
        return [self.run(key) for key in keys]

    def by_execution(self) -> dict[str, int]:
        """How many cells stand where, by each cell's newest attempt; every state is named."""
        newest = ((self._tries.get(cell) or [cell])[-1] for cell in self.cells)
        counted = Counter(self.run(key).execution for key in newest)
        return {execution: counted[execution] for execution in EXECUTIONS}
