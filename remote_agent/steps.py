"""The steps of one run in order: which of them begin, and what is done between one and the next."""

from __future__ import annotations

from remote_agent import prelude
from remote_agent.aftermath import grade_step
from remote_agent.engine import EngineError
from remote_agent.reward import shortfall
from remote_agent.secret_files import SecretFiles
from remote_agent.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remote_agent.run import Run
    from remote_agent.spec import Step

STEP_TRIES = 3


class Steps:
    """Brings the steps of a run to their end, or goes on where an earlier supervisor was."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.all = run.spec.steps
        self._files = SecretFiles(run)

    def complete(self) -> bool:
        """False: a step lives on without us, and a supervisor that comes later goes on with it."""
        for number, step in enumerate(self.all):
            if not self._begun(step):
                why = self._why_not(number) or self._unready(step) or self._why_not(number)
                if why is not None:
                    self._skip(number, why)
                    break
            went = self._through(number)
            if went is None:
                return False
            if not went:
                self._skip(number + 1, f"step {step.name} did not start")
                break
            if number + 1 == len(self.all) or not self._begun(self.all[number + 1]):
                self._close(number)
        self._files.remove()
        return True

    def _unready(self, step: Step) -> str | None:
        """What is put in and run before a step, once; why the step does not begin where that fails, and where the
        steps before it left nothing of the run's time."""
        left_ms = prelude.left_ms(self.run, step)
        if left_ms is not None and left_ms <= 0:
            return "the steps before it took all the time until the cutoff"
        for again in (True, False):
            try:
                return prelude.prepare(self.run, step)
            except EngineError as error:
                if not again or not self.run.engine_answers():
                    self.run.fault("start", "engine", f"step {step.name}: {error}")
                    return f"what is to run before it could not be run: {error}"
        return None

    def _begun(self, step: Step) -> bool:
        return self.run.last("armed", step.name) is not None

    def _why_not(self, number: int) -> str | None:
        """Why this step does not begin; None when it may."""
        run, step = self.run, self.all[number]
        skipped = run.last("skipped", step.name)
        if skipped is not None:
            return str(skipped.data["reason"])
        missing = run.keys_missing(step)
        if missing:
            why = f"the supervisor was not given {', '.join(missing)}"
            run.fault("start", "agent", f"step {step.name} did not start: {why}")
            return why
        if number == 0:
            return None  # a stop that was asked for before the beginning is taken at the release
        if not run.followers:
            return "what the steps before it wrote cannot be read without their keys"
        run.requests()
        if run.last("stop_requested") is not None:
            return "an operator asked to stop"
        return self._why_not_after(self.all[number - 1], step)

    def _why_not_after(self, before: Step, step: Step) -> str | None:
        exited = self.run.last("exited", before.name)
        assert exited is not None
        data = exited.data
        if data["cause"] != "own":
            return f"step {before.name} was ended by {data['cause']}"
        if data["basis"] == "reboot":
            return f"the machine was restarted during step {before.name}"
        if self.run.last("swept", before.name) is None:
            return f"what step {before.name} left running could not be ended"
        if before.seal is not None and self.run.last("sealed", before.name) is None:
            return f"what step {before.name} said could not be sealed"
        if before.grade is not None:
            graded = self.run.last("step_graded", before.name)
            short = "could not be graded" if graded is None else shortfall(graded, before.grade.least)
            if short:
                return f"step {before.name} {short}"
        if step.after_success and data["code"] != 0:
            code = "an unknown code" if data["code"] is None else f"code {data['code']}"
            return f"step {before.name} ended with {code}"
        return None

    def _skip(self, number: int, why: str) -> None:
        for step in self.all[number:]:
            if self.run.last("skipped", step.name) is None:
                self.run.append("skipped", {"step": step.name, "reason": why})

    def _through(self, number: int) -> bool | None:
        """A step to its end, again where the engine failed under it; None: left open for a supervisor that comes
        later."""
        run, step = self.run, self.all[number]
        run.result_step = None if run.last("result_seen", step.name) else step.result
        run.result_name = step.name
        if (left_ms := prelude.left_ms(run, step)) is not None:
            step.cutoff_ms = left_ms
        for _ in range(STEP_TRIES):
            try:
                if not self._begun(step):
                    if run.door is not None:
                        run.door.ready()
                    self._files.hand(number)
                return Session(run, step, number).complete()
            except EngineError as error:
                run.fault("supervisor", "engine", str(error))
            if not run.engine_answers():
                return None
        return None if run.last("released", step.name) else False

    def _close(self, number: int) -> None:
        """After a step and before anything of the next: leftovers ended, output read to its end, sealed."""
        run, step = self.run, self.all[number]
        if number + 1 < len(self.all):
            self._sweep(number)
        self._files.look_at(number)
        if run.drain():
            run.seal(step)
        elif step.seal is not None and run.last("sealed", step.name) is None:
            run.fault("seal", "capture", f"what step {step.name} said could not be read to its end")
        if number + 1 < len(self.all) and step.grade is not None and run.last("step_graded", step.name) is None:
            self._grade(step)

    def _grade(self, step: Step) -> None:
        """Between two steps; what the grader left running is ended as what a step left is."""
        run = self.run
        for again in (True, False):
            try:
                self._end_others()
                grade_step(run, step)
                return self._end_others()
            except EngineError as error:
                if not again or not run.engine_answers():
                    return run.fault("grade", "engine", str(error))

    def _end_others(self) -> None:
        """Ends what a grader left running, one of a supervisor before us among them."""
        if self.run.spec.settle != "keep":
            self.run.engine.kill_leftovers()

    def _sweep(self, number: int) -> None:
        """Ends what a step left running; services live on where a verifier or the task needs them."""
        run, step = self.run, self.all[number]
        if run.last("swept", step.name) is not None:
            return
        keep = run.spec.settle == "keep" or any(one.verifier for one in self.all[: number + 1])
        try:
            left, _ = run.engine.leftovers()
            killed, environment_gone = run.engine.kill_leftovers() if left and not keep else (0, False)
        except EngineError as error:
            run.fault("sweep", "engine", str(error))
            return
        run.append(
            "swept",
            {"step": step.name, "left": left, "killed": killed, "kept": keep, "environment_gone": environment_gone},
        )
