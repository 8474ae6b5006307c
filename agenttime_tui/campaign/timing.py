"""The time of a run from two stamps of one clock, and every reason to doubt it."""

from __future__ import annotations

from dataclasses import dataclass

from agenttime_tui.campaign.facts import NS_PER_S, Facts, JournalRecord, span_ns, text, whole
from agenttime_tui.campaign.run import TimeFact

SUSPEND_NS = 50_000_000
"""BOOTTIME counts while a machine sleeps and MONOTONIC does not: more difference than this was a suspend."""

BASES = ("session", "result", "drained", "engine_event")

FLAG_NAMES = {"step": "clock_step", "suspend": "suspend", "stall": "stall"}


@dataclass(frozen=True, slots=True)
class Session:
    """The measured step: its release and its end, where the journal has them."""

    released: JournalRecord | None
    exited: JournalRecord | None
    releases: int = 0
    ends: int = 0
    waiting: bool = False
    """Whether it has ended and a timed step that follows it may still begin."""
    stopped: bool = False
    """Whether an operator stopped the run after it and before the timed step that would have followed."""

    @property
    def rebooted(self) -> bool:
        """Whether the end, if any, was found after another boot: the run was lost."""
        if self.exited is None or self.released is None:
            return False
        return self.exited.data.get("basis") == "reboot" or self.exited.boot_id != self.released.boot_id


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds worked, whether that is only a bound from below, and how far it can be trusted."""

    worked_s: float | None
    at_least: bool
    fact: TimeFact


def session_of(facts: Facts) -> Session:
    """The last timed step that was released, with the first end that followed."""
    found = sessions_of(facts)
    if found:
        return found[-1]
    ends = facts.of("exited")
    return Session(None, ends[-1] if ends else None, 0, len(ends))


def sessions_of(facts: Facts) -> list[Session]:
    """The sessions whose times make that of the run, in order: the last timed step that was released, and before it
    those that said that it follows them."""
    releases = [one for one in facts.of("released") if one.data.get("timed", True)]
    if not releases:
        return []
    step = _step(releases[-1])
    before = dict.fromkeys(_step(one) for one in releases if step in following(one))
    before.pop(step, None)
    return [*(_session(facts, releases, one, False) for one in before), _session(facts, releases, step, True)]


def _step(record: JournalRecord) -> str | None:
    return text(record.data.get("step"))


def following(released: JournalRecord) -> list[str]:
    """The names of the timed steps that follow the one that was released."""
    names = released.data.get("then")
    return [one for one in names if isinstance(one, str)] if isinstance(names, list) else []


def _session(facts: Facts, releases: list[JournalRecord], step: str | None, last: bool) -> Session:
    mine = [one for one in releases if _step(one) == step]
    ends = [one for one in facts.of("exited", step) if one.seq > mine[0].seq]
    if not last or not ends or not following(mine[0]):
        return Session(mine[0], ends[0] if ends else None, len(mine), len(ends))
    skipped = facts.of("skipped")
    waits = not skipped and not facts.of("settled") and not facts.of("ended")
    asked = [one for one in facts.of("stop_requested") if skipped and ends[0].seq < one.seq < skipped[0].seq]
    return Session(mine[0], ends[0], len(mine), len(ends), waits, bool(asked))


def time_of(facts: Facts, session: Session, lost: bool) -> Timing:
    """The time of a session; `lost` says that its end will never be known."""
    released, exited = session.released, session.exited
    flags = _journal_flags(facts, session)
    if released is None:
        known = exited is None
        return Timing(None, False, TimeFact(flags=tuple(flags if known else ["no_release", *flags])))
    if lost:
        last = facts.last_of_boot(released.boot_id) or released
        flags.insert(0, "boot_changed" if _boot_changed(facts, session) else "no_end")
        worked_s = max(0, last.t_boot_ns - released.t_boot_ns) / NS_PER_S
        return Timing(worked_s, True, TimeFact("invalid", basis_of(exited), None, tuple(flags)))
    if exited is None:
        return Timing(None, False, TimeFact("live", None, None, tuple(flags)))
    return _between(facts, session, released, exited, flags)


def basis_of(exited: JournalRecord | None) -> str | None:
    """The named basis of a time: `session`, or what the end says where it was observed otherwise."""
    if exited is None:
        return None
    said = exited.data.get("basis")
    return said if said in BASES else "session"


def _between(
    facts: Facts, session: Session, released: JournalRecord, exited: JournalRecord, flags: list[str]
) -> Timing:
    worked_ns = exited.t_boot_ns - released.t_boot_ns
    basis = basis_of(exited)
    if worked_ns < 0:
        return Timing(None, False, TimeFact("invalid", basis, None, ("clock_order", *flags)))
    flags = [*flags, *_clock_flags(facts, released, exited)]
    interval_s = _interval_s(released, exited)
    slept_ns = worked_ns - (exited.t_mono_ns - released.t_mono_ns)
    if abs(slept_ns) > SUSPEND_NS and interval_s is None and "suspend" not in flags:
        flags.append("suspend")
    invalid = facts.conflict or session.releases > 1
    doubtful = interval_s is not None or abs(slept_ns) > SUSPEND_NS or session.ends > 1
    status = "invalid" if invalid else "review" if doubtful else "valid"
    if interval_s is None:
        return Timing(worked_ns / NS_PER_S, False, TimeFact(status, basis, None, tuple(flags)))
    missed = "end_missed" if span_ns(exited.data.get("interval")) else "start_missed"
    return Timing(interval_s[0], True, TimeFact(status, basis, interval_s, (missed, *flags)))


def _interval_s(released: JournalRecord, exited: JournalRecord) -> tuple[float, float] | None:
    """[shortest, longest] possible time where the start or the end was missed, else None."""
    start = span_ns(released.data.get("start_interval"))
    end = span_ns(exited.data.get("interval"))
    if start is None and end is None:
        return None
    low, high = start or (released.t_boot_ns, released.t_boot_ns)
    first, last = end or (exited.t_boot_ns, exited.t_boot_ns)
    return max(0, first - high) / NS_PER_S, max(0, last - low) / NS_PER_S


def _journal_flags(facts: Facts, session: Session) -> list[str]:
    flags = []
    if facts.holes or facts.of("gap"):
        flags.append("gap")
    if facts.conflict:
        flags.append("conflict")
    if session.releases > 1:
        flags.append("double_release")
    if session.ends > 1:
        flags.append("double_end")
    return flags


def _clock_flags(facts: Facts, released: JournalRecord, exited: JournalRecord) -> list[str]:
    """Steps, suspends and stalls that touch the session; a step alone leaves a BOOTTIME difference right."""
    flags: list[str] = []
    for one in facts.of("clock_flag"):
        began_ns = one.t_boot_ns - abs(whole(one.data.get("amount_ns")) or 0)
        name = FLAG_NAMES.get(str(one.data.get("flag")), "clock")
        overlaps = began_ns <= exited.t_boot_ns and one.t_boot_ns >= released.t_boot_ns
        if overlaps and one.boot_id == released.boot_id and name not in flags:
            flags.append(name)
    return flags


def _boot_changed(facts: Facts, session: Session) -> bool:
    newest = facts.newest()
    return session.rebooted or (
        session.released is not None and newest is not None and newest.boot_id != session.released.boot_id
    )
