"""Reads what a run's transcript says out of the store: done once when a run has ended, and kept beside its records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttime_tui.campaign.run import Run
from agenttime_tui.harness.decoders import decoder
from agenttime_tui.harness.observe import ACTION, KINDS, Observer
from agenttime_tui.harness.worked import sessions_in
from agenttime_tui.protocols.outline import session_file
from store.reader import Reader

PAGE = 2000
WITHOUT = " without its session file"

__all__ = ["ACTION", "observed", "wants_observing"]


def wants_observing(run: Run, harness: str) -> bool:
    """Whether a run has ended and no reader as new as ours has read its transcript."""
    if run.execution != "ended" or run.worked_s is None:
        return False
    before = run.extra.get("observed") or {}
    return before.get("reader") != f"{harness or 'plain'}/{decoder(harness).version}"


def observed(reader: Reader, run: Run, harness: str, files: Mapping[str, bytes] | None = None) -> dict[str, Any]:
    """The data of the record that keeps what the transcript of `run` says; read page by page.

    `files` are its CLI's session files; None where they are not here yet: it is read again later. Of a run with
    several sessions its output alone is read.
    """
    spec = reader.spec(run.id)
    observer = Observer(spec, harness)
    last = 0
    while rows := reader.records(run.id, since=last, kinds=KINDS, limit=PAGE):
        observer.take(rows)
        last = rows[-1].seq
    several = sessions_in(spec)
    if not several and (session := session_file(files or {}, observer.facts.session or "")):
        observer.take_session(session.splitlines(keepends=True))
    data = observer.observation(run.worked_s, run.requested_s).as_data()
    return data | ({"reader": f"{data['reader']}{WITHOUT}"} if files is None else {})
