"""What comes before a step: its files, its preparation, and how much of the run's time is left for it."""

from __future__ import annotations

from remote_agent import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remote_agent.run import Run
    from remote_agent.spec import Step

TAIL_CHARS = 4000
SAID_CHARS = 300


def left_ms(run: Run, step: Step) -> int | None:
    """What the timed steps before a timed one left of the cutoff that they have in common; None without one."""
    if run.spec.cutoff_ms is None or not step.timed:
        return None
    worked_ns = 0
    for one in run.spec.steps:
        if one is step:
            break
        released, exited = run.last("released", one.name), run.last("exited", one.name)
        if one.timed and released and exited and released.boot_id == exited.boot_id:
            worked_ns += exited.t_boot_ns - released.t_boot_ns
    return run.spec.cutoff_ms - worked_ns // 10**6


def prepare(run: Run, step: Step) -> str | None:
    """Puts in and runs what a step is to find, once; why it may not begin, None when it may. EngineError."""
    asked = step.before
    if asked is None:
        return None
    found = run.last("step_prepared", step.name)
    if found is None:
        if run.last("intent", step.name) and step is not run.spec.steps[0] and run.spec.settle != "keep":
            run.engine.kill_leftovers()  # a preparation that a supervisor before us had begun
        run.append("intent", {"action": "prepare", "step": step.name})
        began_ns = clock.boottime_ns()
        for placed in asked.files:
            run.engine.put(run.blobs + "/" + placed.blob, placed.dest)
        ran: tuple[int | None, bytes, bytes] = 0, b"", b""
        if asked.argv:
            env = run.spec.environment.env
            ran = run.engine.run(asked.argv, asked.cwd, env, asked.timeout_ms / 1000, asked.user)
        code, out, err = ran
        data = {
            "step": step.name, "code": code, "stdout": _tail(out), "stderr": _tail(err),
            "seconds": (clock.boottime_ns() - began_ns) / 1e9,
        }  # fmt: skip
        found = run.append("step_prepared", data)
    code = found.data["code"]
    if code == 0:
        return None
    how = "did not end in time" if code is None else f"ended with {code}"
    said = (found.data["stderr"] or found.data["stdout"]).strip()[-SAID_CHARS:]
    return f"its preparation {how}" + (f": {said}" if said else "")


def _tail(said: bytes) -> str:
    return said.decode("utf-8", "replace")[-TAIL_CHARS:]
