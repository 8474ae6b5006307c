"""How far a run has come and how it ended: from the exit code, the agent's final event and what we did, together."""

from __future__ import annotations

from agenttime_tui.campaign.facts import Facts, whole
from agenttime_tui.campaign.run import ENDINGS
from agenttime_tui.campaign.timing import Session

STOPPED = ("cutoff", "operator_stop", "provider_limit", "error", "refusal", "lost")
"""Endings that are not the agent's own: the recorded time is a lower bound, as the public release draws them."""

OUTCOMES = ("error", "provider_limit", "refusal")
"""What a harness's decoder may have read in the transcript besides a good result."""


def execution_of(facts: Facts, session: Session) -> str:
    """preparing, running, ended, unknown or lost; staged where the machine has said nothing yet."""
    newest = facts.newest()
    if newest is None:
        return "staged"
    released, exited = session.released, session.exited
    if exited is not None:
        return "lost" if session.rebooted else "running" if session.waiting else "ended"
    if released is not None:
        return "lost" if facts.of("ended") or newest.boot_id != released.boot_id else "running"
    if facts.of("ended"):
        return "ended"
    return "unknown" if _release_in_doubt(facts) else "preparing"


def ending_of(facts: Facts, session: Session, execution: str, outcome: str | None = None) -> str | None:
    """The ending, None until there is one or where nothing tells; `outcome` is what the decoder read, if anything.

    What we did comes first (cutoff, stop), then what the agent's own events say, then the exit code. An unknown exit
    code is never an error: with the final event seen the agent ended by itself, without it the ending stays unknown.
    """
    if execution == "lost":
        return "lost"
    exited = session.exited
    if exited is None or execution != "ended":
        return _stated(facts) if execution == "ended" else None
    cause = exited.data.get("cause")
    if cause in ("cutoff", "operator_stop"):
        return str(cause)
    if session.stopped:
        return "operator_stop"
    if outcome in OUTCOMES:
        return outcome
    code = whole(exited.data.get("code"))
    if code is not None:
        return "own" if code == 0 else "error"
    return "own" if facts.of("result_seen", exited.data.get("step")) else _stated(facts)


def _stated(facts: Facts) -> str | None:
    """What the machine's last record says itself, where it says anything."""
    ended = facts.of("ended")
    said = ended[-1].data.get("ending") if ended else None
    return said if said in ENDINGS else None


def _release_in_doubt(facts: Facts) -> bool:
    """A release was intended and its supervisor is gone: it may or may not have happened."""
    intents = [one for one in facts.of("intent") if one.data.get("action") == "release"]
    if not intents:
        return False
    later = [one.kind for one in facts if one.seq > intents[-1].seq]
    return "opened" in later and "start_failed" not in later
