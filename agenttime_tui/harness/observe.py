"""From the journal of one run to what its transcript says: outcome, checks, facts, label. Pure; the store keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from agenttime_tui.harness.checks import Check, checks_of, expected_of, failed
from agenttime_tui.harness.cues import inventory
from agenttime_tui.harness.decoders import decoder
from agenttime_tui.harness.labels import Label, label_of
from agenttime_tui.harness.lines import EARLIER_S
from agenttime_tui.harness.outcome import outcome_of
from agenttime_tui.harness.view import Facts, Item
from agenttime_tui.harness.worked import Marked, Worked
from agenttime_tui.metrics import parsing
from remote_agent.capture import body_bytes

ACTION = "observed"
"""The operator record that keeps an observation; its data is what `Observation.as_data` gives."""
KINDS = ("released", "transcript", "exited", "captured", "integrity", "gap")
"""Journal records that an observation is made of."""
NS_PER_S = 1_000_000_000
SAID_CAP = 2000
SPOKEN = ("say", "think")
ABOUT_PARENT = ("session_sha256", "parents", "reasoning", "reasoning_removed", "request_removed")
LINES = {"ESTIMATE_MINUTES": "estimate_min", "PERCEIVED_MINUTES": "perceived_min", "SELF_SCORE": "self_score"}


class SeenRecord(Marked, Protocol):
    """The part of a journal record that is read here (the store's row of a record fits)."""

    @property
    def t_utc_ns(self) -> int:
        """UTC."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What is known of one run from its transcript so far."""

    reader: str
    """Harness and version of its decoder: `codex/2`."""
    last_seq: int
    outcome: str | None
    """error, provider_limit, refusal or None; the model joins it with the exit code and what we did."""
    checks: tuple[Check, ...]
    facts: Facts
    label: Label | None
    """The machine's label; None while the run goes on, or without times."""
    cues: dict[str, int]
    answers: dict[str, Any]
    """What the session said in answer to a study's question: `answer`, its last message, and the lines a study asks
    for (estimate_min, perceived_min, self_score); only what is there."""
    about: dict[str, Any]
    """What the question was about, as the spec says: parent, truth_s, session_sha256, track."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Rule ids of the checks that failed."""
        return failed(self.checks)

    def as_data(self) -> dict[str, Any]:
        """JSON data of the record that keeps this observation."""
        facts = asdict(self.facts)
        facts |= {name: list(value) for name, value in facts.items() if isinstance(value, tuple)}
        facts["said"] = self.facts.said[-SAID_CAP:]
        facts["errors"] = [error[:SAID_CAP] for error in self.facts.errors]
        return {
            "reader": self.reader,
            "last_seq": self.last_seq,
            "outcome": self.outcome,
            "checks": [asdict(check) for check in self.checks],
            "checks_failed": list(self.failed),
            "facts": facts,
            "label": None if self.label is None else self.label.as_json(),
            "cues": self.cues,
            "answers": self.answers,
            "about": self.about,
        }


class Observer:
    """Takes in the records of one run, in their order, as they come."""

    def __init__(self, spec: Mapping[str, Any] | None, harness: str = "") -> None:
        """`harness` is needed where the spec does not say it."""
        origin = (spec or {}).get("origin")
        agent = origin.get("agent") if isinstance(origin, Mapping) else None
        named = agent.get("harness") if isinstance(agent, Mapping) else None
        self.harness = harness or str(named or "")
        self._expected = expected_of(spec)
        self._about = about_of(origin if isinstance(origin, Mapping) else {})
        self._installed = installed(origin if isinstance(origin, Mapping) else {})
        self._decoder = decoder(self.harness)
        self._items: dict[int, Item] = {}
        self._first: SeenRecord | None = None
        """The release of the first step: nothing of the run is older."""
        self._released: SeenRecord | None = None
        self._exited: SeenRecord | None = None
        self._worked = Worked()
        self._captured: dict[str, bool] = {}
        self._broken = False
        self._last_seq = 0

    @property
    def facts(self) -> Facts:
        """What is counted so far."""
        return self._decoder.facts

    @property
    def items(self) -> list[Item]:
        """The transcript so far, in order."""
        return [self._items[index] for index in sorted(self._items)]

    def take(self, records: Iterable[SeenRecord]) -> None:
        """Takes in records; those that were known, or say nothing about the transcript, change nothing."""
        for record in records:
            if record.seq <= self._last_seq:
                continue
            self._last_seq = record.seq
            self._worked.take(record)
            if record.kind == "transcript":
                self._line(record)
            elif record.kind == "released":
                self._first, self._released = self._first or record, record
            elif record.kind == "exited":
                self._exited = record
            elif record.kind == "captured":
                self._captured[str(record.data.get("stream"))] = record.data.get("intact") is True
            elif record.kind in ("integrity", "gap"):
                self._broken = True

    def take_session(self, lines: Iterable[bytes]) -> None:
        """Takes in the command line's own session file, after the output."""
        released = self._released
        if released is not None and self._first is not None:
            self._decoder.released_utc_s = released.t_utc_ns / NS_PER_S
            self._decoder.earlier_s = EARLIER_S + (self._first.t_utc_ns - released.t_utc_ns) / NS_PER_S
        for line in lines:
            self._items.update(dict(self._decoder.feed(self._last_seq, None, "session", line)))

    def observation(self, worked_s: float | None = None, requested_s: float | None = None) -> Observation:
        """What is known now; a label only for a run that ended, with its runtime."""
        exited = self._exited
        if exited is not None:
            self._items.update(dict(self._decoder.close(None)))
        self.facts.version = self.facts.version or self._installed
        if self._worked.several and self.harness == "codex":
            self.facts.tokens_partial = True  # it tells those of each session anew
        code = None if exited is None else exited.data.get("code")
        by_itself = exited is not None and exited.data.get("cause") == "own"
        whole = self._whole()
        items: Sequence[Item] = self.items
        return Observation(
            reader=f"{self.harness or 'plain'}/{self._decoder.version}",
            last_seq=self._last_seq,
            outcome=None if exited is None else outcome_of(self.harness, self.facts, code, whole is True),
            checks=tuple(checks_of(self.facts, self._expected, whole, by_itself and code == 0, self.harness)),
            facts=self.facts,
            label=None if exited is None else label_of(items, worked_s, requested_s),
            cues=inventory(items).counts,
            answers=answers_in(items, self.facts.said),
            about=self._about,
        )

    def _line(self, record: SeenRecord) -> None:
        released = self._released
        at_s = None
        if self._worked.several:
            at_s = self._worked.at_s(record.seq, record.boot_id, record.t_boot_ns)
        elif released is not None and released.boot_id == record.boot_id:
            at_s = (record.t_boot_ns - released.t_boot_ns) / NS_PER_S
        try:
            data = body_bytes(record.data)
        except (KeyError, TypeError, ValueError):
            self._broken = True
            return
        self._items.update(dict(self._decoder.feed(record.seq, at_s, str(record.data.get("stream")), data)))

    def _whole(self) -> bool | None:
        if self._broken or False in self._captured.values():
            return False
        return True if self._captured.get("out") else None


def installed(origin: Mapping[str, Any]) -> str | None:
    """The version of the program that was bound in, for a session that does not say its own (a resumed one)."""
    cli = origin.get("cli")
    version = cli.get("version") if isinstance(cli, Mapping) else None
    return str(version) if version else None


def about_of(origin: Mapping[str, Any]) -> dict[str, Any]:
    """What a run's question is about, out of the origin in its spec."""
    parent = origin.get("parent")
    made = {"track": origin.get("track")}
    if isinstance(parent, Mapping):
        made |= {"parent": parent.get("run"), "truth_s": parent.get("truth_s")}
        made |= {name: parent.get(name) for name in ABOUT_PARENT}
    return {name: value for name, value in made.items() if value is not None}


def answers_in(items: Sequence[Item], last: str) -> dict[str, Any]:
    """The last message, and the lines of a same-turn answer anywhere in what the agent said or thought."""
    spoken = "\n".join(item.text for item in items if item.kind in SPOKEN)
    found = {name: read.value for name, read in parsing.same_turn(spoken).items() if read.value is not None}
    made: dict[str, Any] = {key: found[name] for name, key in LINES.items() if name in found}
    return made | ({"answer": last[-SAID_CAP:]} if last else {})


def observe(
    spec: Mapping[str, Any] | None,
    records: Iterable[SeenRecord],
    worked_s: float | None = None,
    requested_s: float | None = None,
    session: Iterable[bytes] = (),
) -> Observation:
    """The observation of one run from its records (of KINDS) and, where it was kept, its session file's lines."""
    observer = Observer(spec)
    observer.take(records)
    observer.take_session(session)
    return observer.observation(worked_s, requested_s)
