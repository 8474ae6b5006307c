"""One step: gate, release, follow, cutoff and stop, end. The clock thread stamps; this thread does the rest."""

from __future__ import annotations

import os
import select

from remote_agent import clock, lock
from remote_agent.engine import EngineError, StartFailed
from remote_agent.journal import JournalFull
from remote_agent.polls import Polls
from remote_agent.run import free_bytes
from remote_agent.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from remote_agent.engine import Armed
    from remote_agent.run import Run
    from remote_agent.spec import Step
    from remote_agent.wire import Stamp

HEARTBEAT_NS = 5 * 10**9
BUSY_POLL_S, IDLE_POLL_S = 0.03, 0.2
EXIT_CODE_WITHIN_S = 1.0
CLOCK_STEP_NS = 50 * 10**6
STALL_NS = 10**9
ARM_TRIES = 3
NOT_STARTED = 97


class Session:
    """Runs one step to its end, or goes on with one that an earlier supervisor had started."""

    def __init__(self, run: Run, step: Step, number: int = 0) -> None:
        self.run = run
        self.step = step
        self.number = number
        """Place of the step among those of the run."""
        self.armed: Armed | None = None
        self.watch: Watch | None = None
        self.polls = Polls(run, step)
        self.cause = "own"
        self._stop_by = "supervisor"
        self._kill_at_ns: int | None = None
        self._exec_seen = False
        self._beat_at_ns = 0
        self._clocks: Stamp | None = None

    def complete(self) -> bool:
        """Brings the step to its `exited` record; False when nothing was started (the reason is in the journal)."""
        if self.run.last("exited", self.step.name):
            return True
        if self.run.last("armed", self.step.name):
            return self._go_on()
        return self._start() and self._follow()

    def _start(self) -> bool:
        self.polls.stand()
        self.armed = self._arm()
        if self.armed is None:
            return False
        if not lock.begin(self.run.directory, self.number):
            self.run.engine.disarm(self.armed)
            self.run.fault("start", "agent", "this step was begun before and is never started twice")
            return False
        self.watch = Watch(self.armed)
        self.run.append("intent", {"action": "release", "step": self.step.name})
        stamp = clock.now()
        self.run.engine.release(self.armed)
        self._released(stamp, {})
        return True

    def _arm(self) -> Armed | None:
        for _ in range(ARM_TRIES):
            try:
                armed = self.run.engine.arm(self.step, self.run.secrets)
            except StartFailed as error:
                self.run.append("start_failed", {"step": self.step.name, "reason": str(error)})
                continue
            saved = {**armed.saved, "step": self.step.name}
            armed.saved = saved
            self.run.append("armed", {"step": self.step.name, "pid": armed.pid, "basis": armed.basis, "saved": saved})
            return armed
        self.run.fault("start", "engine", "the gate did not come up; nothing has run")
        return None

    def _released(self, stamp: Stamp, more: dict[str, Any]) -> None:
        step = self.step
        limits = {"requested_ms": step.requested_ms, "cutoff_ms": step.cutoff_ms}
        then = [one.name for one in self.run.spec.steps[self.number + 1 :] if step.timed and one.timed]
        data = {"step": step.name, **limits, "timed": step.timed, **({"then": then} if then else {}), **more}
        self.run.append("released", data, stamp)
        self.polls.begin()
        self._set_cutoff(stamp.t_boot_ns)

    def _set_cutoff(self, released_ns: int) -> None:
        if self.step.cutoff_ms is not None and self.watch is not None:
            self.watch.set_cutoff(released_ns + self.step.cutoff_ms * 10**6)

    def _go_on(self) -> bool:
        """After another supervisor: the same process if it lives, else an end that was missed."""
        run, name = self.run, self.step.name
        armed_record = run.last("armed", name)
        assert armed_record is not None
        rebooted = armed_record.boot_id != clock.now().boot_id
        self.armed = None if rebooted else run.engine.adopt(armed_record.data["saved"], self.step)
        released = run.last("released", name)
        if released is None:
            intent = run.last("intent", name)
            if self.armed is not None and intent is not None and run.engine.program_seen(self.armed):
                self.watch = Watch(self.armed)
                stamp = clock.now()
                stamp.t_boot_ns, stamp.t_mono_ns = intent.t_boot_ns, intent.t_mono_ns
                stamp.t_utc_ns = intent.t_utc_ns
                seen_ns = clock.boottime_ns()
                self._stand_again()
                self._released(stamp, {"start_interval": [intent.t_boot_ns, seen_ns]})
                return self._follow()
            if self.armed is not None:
                run.engine.disarm(self.armed)
            if intent is None:
                run.append("start_failed", {"step": name, "reason": "the supervisor ended before the release"})
            run.fault("start", "agent", "the supervisor was lost around the release; a new attempt is needed")
            return False
        asked = run.last("stop_requested")
        self.cause = "cutoff" if run.last("cutoff", name) else "operator_stop" if asked else "own"
        if self.armed is not None:
            self.watch = Watch(self.armed)
            self._stand_again()
            self.polls.begin()
            self._exec_seen = run.last("exec_seen", name) is not None
            if self.cause != "own":  # whoever was stopping it may not have come as far as the KILL
                self._stop(self.cause, str(asked.data["by"]) if asked and self.cause != "cutoff" else "supervisor")
            else:
                self._set_cutoff(released.t_boot_ns)
            return self._follow()
        self._missed_end(armed_record.data["saved"], rebooted)
        return True

    def _stand_again(self) -> None:
        """Finds the verifier's place; without it the session goes on and nothing is seen of it."""
        try:
            self.polls.stand()
        except EngineError as error:
            self.run.fault("verifier", "engine", str(error))

    def _missed_end(self, saved: dict[str, Any], rebooted: bool) -> None:
        stamp = clock.now()
        interval = None if rebooted else [self.run.alive_ns(), stamp.t_boot_ns]
        code = None if rebooted else self.run.engine.missed_code(saved)
        basis = "reboot" if rebooted else "missed"
        self.run.append(
            "exited",
            {"step": self.step.name, "code": code, "basis": basis, "interval": interval, "cause": self.cause},
            stamp,
        )

    def _follow(self) -> bool:
        assert self.watch is not None
        poll = select.poll()
        poll.register(self.watch.wake_fd, select.POLLIN)
        busy = True
        try:
            while True:
                wait_s = 0.001 if not self._exec_seen else BUSY_POLL_S if busy else IDLE_POLL_S
                before_ns = clock.boottime_ns()
                poll.poll(wait_s * 1000)
                self._beat(clock.boottime_ns() - before_ns - int(wait_s * 1e9))
                ended = self._happenings()
                if ended is not None:
                    return self._ended(ended)
                self._look_at_exec()
                busy = self.run.follow() > 0
                self.polls.take()
                for asked in self.run.requests():
                    self._stop("operator_stop", asked.data["by"])
                self._kill_when_due()
        finally:
            self.polls.cease()
            self.watch.close()

    def _happenings(self) -> Stamp | None:
        """Handles what the clock thread stamped; returns the stamp of the end."""
        assert self.watch is not None
        try:
            os.read(self.watch.wake_fd, 64)
        except BlockingIOError:
            return None
        while self.watch.happened:
            what, stamp = self.watch.happened.popleft()
            if what == "end":
                return stamp
            self.run.append("cutoff", {"step": self.step.name, "cutoff_ms": self.step.cutoff_ms}, stamp)
            self._stop("cutoff", "supervisor")
        return None

    def _stop(self, cause: str, by: str) -> None:
        if self._kill_at_ns is not None or self.armed is None:
            return
        self.cause, self._stop_by = cause, by
        self._kill_at_ns = clock.boottime_ns() + self.step.grace_ms * 10**6
        try:
            count = self.run.engine.terminate(self.armed)
        except EngineError as error:
            self.run.fault("stop", "engine", str(error))
            return
        self.run.append("signalled", {"signal": "TERM", "to": "process group", "count": count, "by": by})

    def _kill_when_due(self) -> None:
        if self._kill_at_ns is None or clock.boottime_ns() < self._kill_at_ns:
            return
        self._kill_at_ns = clock.boottime_ns() + self.step.grace_ms * 10**6
        try:
            count, environment_gone = self.run.engine.kill_leftovers()
        except EngineError as error:
            self.run.fault("stop", "engine", str(error))
            return
        to = "container" if environment_gone else "every process of the session"
        self.run.append("signalled", {"signal": "KILL", "to": to, "count": count, "by": self._stop_by})

    def _look_at_exec(self) -> None:
        if self._exec_seen or self.armed is None:
            return
        if self.armed.pid == 0 or self.run.engine.program_seen(self.armed):
            self._exec_seen = True
            self.run.append("exec_seen", {"step": self.step.name}, sync=False)

    def _beat(self, late_ns: int) -> None:
        now = clock.now()
        if late_ns > STALL_NS:
            self.run.append("clock_flag", {"flag": "stall", "amount_ns": late_ns}, now, sync=False)
        before = self._clocks
        if before is not None:
            stepped_ns = (now.t_utc_ns - before.t_utc_ns) - (now.t_boot_ns - before.t_boot_ns)
            slept_ns = (now.t_boot_ns - before.t_boot_ns) - (now.t_mono_ns - before.t_mono_ns)
            if abs(stepped_ns) > CLOCK_STEP_NS:
                self.run.append("clock_flag", {"flag": "step", "amount_ns": stepped_ns}, now, sync=False)
            if slept_ns > CLOCK_STEP_NS:
                self.run.append("clock_flag", {"flag": "suspend", "amount_ns": slept_ns}, now, sync=False)
        if now.t_boot_ns >= self._beat_at_ns:
            self._beat_at_ns = now.t_boot_ns + HEARTBEAT_NS
            data = {
                "free_bytes": free_bytes(self.run.directory),
                "capture_bytes": sum(follower.offset for follower in self.run.followers),
                "load": os.getloadavg()[0],
            }
            try:
                self.run.append("heartbeat", data, now, sync=False)
            except JournalFull:
                pass  # a heartbeat that cannot be written changes nothing of the run
        self._clocks = now

    def _ended(self, stamp: Stamp) -> bool:
        assert self.armed is not None
        run = self.run
        code = self.armed.event_code
        if code is None:
            try:
                code = run.engine.exit_code(self.armed, EXIT_CODE_WITHIN_S)
            except EngineError as error:
                run.fault("exit code", "engine", str(error))
        if not self._exec_seen:
            self._look_at_exec()
        run.append(
            "exited",
            {"step": self.step.name, "code": code, "basis": self.armed.basis, "interval": None, "cause": self.cause},
            stamp,
        )
        self.polls.finish(lambda: self._beat(0))
        if code == NOT_STARTED and not self._wrote():
            run.fault("start", "capture", "the gate ended with 97: the program or its capture could not be opened")
        return True

    def _wrote(self) -> bool:
        self.run.follow()
        return any(follower.offset for follower in self.run.followers)
