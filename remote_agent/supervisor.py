"""The process that owns one run: takes the lock, prepares, runs the steps, settles, grades, and leaves."""

from __future__ import annotations

import json
import os
import sys

from remote_agent import VERSION, aftermath, clock, door_place, lock, versions
from remote_agent.door import open_door
from remote_agent.engine import EngineError
from remote_agent.hold import hold
from remote_agent.journal import JournalFull
from remote_agent.run import Run, free_bytes
from remote_agent.steps import Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.spec import Setup

OPENINGS_AT_MOST = 20
TAIL_CHARS = 500
FLOOR_BYTES = 64 * 1024 * 1024
"""Nothing is started on a disk with less room than this."""


def boot() -> None:
    """Entry of the detached process: one line of JSON on stdin, {"run": directory, "secrets": {name: value}}."""
    asked = json.loads(sys.stdin.buffer.readline())
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    versions.hold(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    supervise(asked["run"], asked["secrets"])


def supervise(directory: str, secrets: dict[str, str]) -> bool:
    """Runs or goes on with the run in `directory`; False when another process owns it."""
    held = lock.take(directory)
    if held is None:
        return False
    run = Run(directory, secrets)
    if run.last("ended") is None:
        try:
            _live(run)
        except JournalFull as error:
            sys.stderr.write(f"{error}\n")
            return True
        except Exception as error:
            run.fault("supervisor", "agent", f"{type(error).__name__}: {error}")
            raise
    run.journal.close()
    os.close(held)
    return True


def _live(run: Run) -> None:
    adopted = run.last("opened") is not None
    run.append("opened", {"adopted": adopted, "agent": VERSION, "engine": run.spec.engine, **_host()})
    openings = sum(record.kind == "opened" for record in run.journal.records)
    if openings > OPENINGS_AT_MOST:
        run.fault("supervisor", "agent", f"opened {openings} times without coming to an end; given up")
        return _end(run)
    if not (_bind(run) if run.last("prepared") else _prepare(run)):
        return _end(run) if not adopted or _reachable(run) else None
    if not _served(run):
        return _end(run)
    run.open_followers()
    if not open_door(run):
        return _end(run)
    if not Steps(run).complete():
        return None
    if run.door is not None:
        run.door.close()
    aftermath.finish(run)
    hold(run)
    _end(run)
    return None


def _prepare(run: Run) -> bool:
    free = free_bytes(run.capture.directory)
    if free < FLOOR_BYTES:
        run.fault(
            "prepare", "disk", f"only {free // 2**20} MiB are free; {FLOOR_BYTES // 2**20} MiB are needed to start"
        )
        return False
    try:
        facts = run.engine.prepare(run.spec, run.capture, run.blobs)
        if run.spec.environment.setup is not None:
            facts = {**facts, "setup": _set_up(run, run.spec.environment.setup)}
    except EngineError as error:
        run.fault("prepare", "engine", str(error))
        return False
    run.append("prepared", facts)
    return True


def _set_up(run: Run, setup: Setup) -> dict[str, Any]:
    """Runs the task's own preparation; its files are gone before the session begins. EngineError when it fails."""
    for placed in setup.files:
        run.engine.remake(placed.dest)
        run.engine.put(run.blobs + "/" + placed.blob, placed.dest)
    began_ns = clock.boottime_ns()
    code, out, err = run.engine.run(setup.argv, setup.cwd, {}, setup.timeout_ms / 1000)
    for placed in setup.files:
        run.engine.run(["rm", "-rf", "--", "{root}" + placed.dest], "/", {}, 60)
    if code != 0:
        said = (err or out).decode("utf-8", "replace").strip()[-TAIL_CHARS:]
        how = "did not end in time" if code is None else f"ended with {code}"
        raise EngineError(f"the task's preparation {how}: {said}")
    return {"code": code, "seconds": (clock.boottime_ns() - began_ns) / 1e9}


def _served(run: Run) -> bool:
    """Whether a session may begin or go on: nothing begins without its services; one that runs is not told."""
    try:
        down = aftermath.services_down(run, "before" if run.last("armed") is None else "adopted")
    except EngineError as error:
        down = [str(error)]
    if not down or run.last("armed") is not None:
        return True
    run.fault("service", "service", "; ".join(down))
    return False


def _bind(run: Run) -> bool:
    """Finds the environment again; an engine that does not answer is waited for: the session may well live on."""
    try:
        run.engine.bind(run.spec, run.capture)
        return True
    except EngineError as error:
        first = error
    try:
        if run.engine_answers():
            run.engine.bind(run.spec, run.capture)
            return True
    except EngineError as error:
        first = error
    run.fault("adopt", "engine", str(first))
    return False


def _reachable(run: Run) -> bool:
    """Whether the engine answers; where it does not, the run stays open for a supervisor that comes later."""
    try:
        run.engine.facts()
    except EngineError:
        return False
    return True


def _end(run: Run) -> None:
    if not run.spec.keep_environment:
        try:
            run.engine.destroy()
        except EngineError as error:
            run.fault("destroy", "engine", str(error))
    run.append("ended", {})
    if not run.spec.keep_environment:
        door_place.clear(run.capture)
    if run.last("captured"):
        _drop_capture(run)


def _drop_capture(run: Run) -> None:
    """The transcript is in the journal now; raw files are kept only where it is not whole there."""
    if run.last("integrity") or run.withheld:
        return
    for name in os.listdir(run.capture.directory):
        path = f"{run.capture.directory}/{name}"
        if os.path.isfile(path):
            os.unlink(path)
    try:
        os.rmdir(run.capture.directory)
    except OSError:
        pass


def _host() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "uid": os.getuid(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "kernel": os.uname().release,
        "machine": os.uname().machine,
    }
