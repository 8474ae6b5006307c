"""After the session: settle what it left, finish the capture, collect, grade. Each phase happens once."""

from __future__ import annotations

import json
import os

from remote_agent import clock
from remote_agent.digest import file_sha256
from remote_agent.docker_http import Refused
from remote_agent.engine import EngineError
from remote_agent.handover import hand_over
from remote_agent.polls import Polls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from remote_agent.run import Run
    from remote_agent.spec import Grade, Step

COLLECT_CAP_BYTES = 512 * 1024 * 1024
REWARD_CAP_BYTES = 1024 * 1024
COLLECT_S = 600
TAIL_CHARS = 4000


def finish(run: Run) -> None:
    """Every phase that has no record yet, in order; a phase that fails leaves a fault and the next one goes on."""
    phases = (
        ("settled", services), ("verified_again", verify_again), ("settled", settle), ("captured", finish_capture),
        ("collected", collect), ("graded", grade),
    )  # fmt: skip
    for kind, phase in phases:
        if run.last(kind) is None:
            if phase is grade and run.last("settled") is None and (run.spec.grade or last_graded(run)):
                run.fault("grade", "engine", "not graded: what the session left could not be settled")
                continue
            try:
                _patiently(phase, run)
            except EngineError as error:
                run.fault(phase.__name__, "engine", str(error))


def _patiently(phase: Callable[[Run], None], run: Run) -> None:
    """A phase; once more when it failed because the engine was away and has come back."""
    try:
        phase(run)
    except Refused:
        raise
    except EngineError:
        if run.engine.name != "docker" or not run.engine_answers():
            raise
        phase(run)


def services(run: Run) -> None:
    """How the services are now that the session is over; one that is down is never restarted and is a failed check.

    It is no excuse: who brought it down, the machine or the session, is not known.
    """
    known = run.last("services")
    if known is not None and known.data["when"] == "over":
        return
    for why in services_down(run, "over"):
        run.fault("service", "service", why)


def services_down(run: Run, when: str) -> list[str]:
    """Looks at the services and records what there is to say; a sentence for each one that should run and does not.

    One that need only be started and had ended well before the session was a job.
    """
    found = run.engine.services() if run.spec.environment.services else []
    known = run.last("services")
    first = known.data["services"] if known and known.data["when"] == "before" else []
    done = [one["name"] for one in first if one["code"] == 0]
    down, ended = [], False
    for service, state in zip(run.spec.environment.services, found):
        early = service.ready == "started" and when == "before" and state["code"] == 0
        ended = ended or early
        job = service.ready == "completed" or early or service.name in done
        if state["status"] != "running" and not (job and state["code"] == 0):
            oom = " (out of memory)" if state["oom"] else ""
            code = "" if state["code"] is None else f", code {state['code']}"
            down.append(f"service {service.name} of the task was down: {state['status']}{code}{oom}")
    if down or ended or (found and when == "over"):
        run.append("services", {"when": when, "services": found})
    return down


def verify_again(run: Run) -> None:
    """The verifier's last look, while what the session left still lives: that is what it looks at."""
    step = run.spec.verified()
    if step is None or run.last("released", step.name) is None or run.last("settled") is not None:
        return
    polls = Polls(run, step)
    polls.stand()
    polls.again()


def settle(run: Run) -> None:
    """`stop`: kill what the session left. `snapshot`: pause and commit. `keep`: list it and leave it alive."""
    armed, exited = run.last("armed"), run.last("exited")
    if armed is not None and exited is not None and exited.data["cause"] == "own":
        why = run.engine.lost_with_engine(armed.data["saved"])
        if why is not None:
            run.fault("environment", "engine", why)
    asked = mode = run.spec.settle
    left, zombies = run.engine.leftovers()
    killed, environment_gone = 0, False
    if mode == "snapshot" and run.engine.name == "process":
        mode = "stop"
    if mode == "stop" and left:
        run.append("intent", {"action": "settle", "mode": mode})
        killed, environment_gone = run.engine.kill_leftovers()
    if mode == "snapshot":
        run.append("intent", {"action": "settle", "mode": mode})
        run.engine.settle(mode)
    survivors = left if mode == "keep" else []
    run.append("drained", {"survivors": len(survivors), "zombies": zombies})
    run.append(
        "settled",
        {"mode": mode, "asked": asked, "left": left, "killed": killed, "environment_gone": environment_gone},
    )


def finish_capture(run: Run) -> None:
    """Both capture files to their end, with sizes and hashes."""
    run.finish_capture()


def collect(run: Run) -> None:
    """Copies the named paths out as tar files with a manifest."""
    if not run.spec.collect:
        return
    os.makedirs(run.directory + "/outputs", mode=0o700, exist_ok=True)
    manifest: list[dict[str, Any]] = []
    for number, path in enumerate(run.spec.collect):
        target = f"{run.directory}/outputs/{number}.tar"
        try:
            size = run.engine.fetch(path, target, COLLECT_CAP_BYTES)
            hidden = run.veil.file(target)
            item = {"path": path, "file": f"{number}.tar", "bytes": size, "sha256": file_sha256(target)}
            manifest.append({**item, **({"masked": hidden} if hidden else {})})
        except EngineError as error:
            manifest.append({"path": path, "error": str(error)})
    run.append("collected", {"manifest": manifest})


def _move_on(run: Run, asked: Grade) -> tuple[str, list[str]]:
    """Takes the artifacts of the session, once, and goes on in a fresh environment without it; its image's id, and
    what went wrong on the way."""
    sealed = run.directory + "/sealed"
    if not os.path.exists(sealed + "/done"):
        os.makedirs(sealed, mode=0o700, exist_ok=True)
        first = [one["path"] for one in asked.artifacts if not one["service"]][:1]
        run.engine.run(["mkdir", "-p", *first], "/", {}, COLLECT_S)
        flags = _gather(run, asked, sealed, False) + _gather(run, asked, sealed, True)
        with open(sealed + "/done", "w") as file:
            json.dump(flags, file)
    with open(sealed + "/done") as file:
        flags = json.loads(file.read() or "[]")
    image_id = run.engine.fresh(asked.image)
    for number, one in enumerate(asked.artifacts):
        if os.path.exists(f"{sealed}/{number}.tar"):
            run.engine.put(f"{sealed}/{number}.tar", os.path.dirname(one["path"].rstrip("/")) or "/")
    return image_id, flags


def _gather(run: Run, asked: Grade, sealed: str, beside: bool) -> list[str]:
    """Runs the commands and takes the artifacts of the session's place, or of the services; what failed."""
    hooks = [one for one in asked.collect if bool(one["service"]) is beside]
    wanted = [(number, one) for number, one in enumerate(asked.artifacts) if bool(one["service"]) is beside]
    if beside and (hooks or wanted) and run.spec.settle == "stop":
        run.engine.kill_leftovers()  # what the commands of the session's place left
    flags = []
    for one in hooks:
        argv, where = ["/bin/sh", "-c", one["command"]], one["service"]
        try:
            code, _, _ = run.engine.run(argv, asked.cwd, {}, one["timeout_ms"] / 1000, one["user"], where)
            said = "did not end in time" if code is None else f"ended with {code}"
        except EngineError as error:
            code, said = -1, f"failed: {error}"
        if code != 0:
            flags.append(f"a collect command{where and ' in service ' + where} {said}"[:200])
    for number, one in wanted:
        try:
            if not _take_out(run, one, f"{sealed}/{number}.tar"):
                flags.append(f"artifact {one['path']} could not be copied without what it excludes")
        except Refused:
            raise
        except EngineError:
            continue  # it was not made: that is for the grader to judge
    return flags


_WITHOUT = """[ -d "$1" ]||exit 3;d=$2/${1##*/};mkdir -p "$d"&&cp -a "$1/." "$d"&&cd "$d"||exit 1;shift 2
for p;do find . -mindepth 1 -path "*/$p" -prune -exec rm -rf {} +||exit 1;done"""


def _take_out(run: Run, one: dict[str, Any], target: str) -> bool:
    """An artifact as a tar file; what is excluded is left out of a copy beside it. False: it could not be."""
    path, service, copy = one["path"].rstrip("/"), one["service"], "/x" + os.urandom(8).hex()
    code: int | None = 3
    if one["exclude"]:
        argv = ["/bin/sh", "-c", _WITHOUT, "sh", path, copy, *one["exclude"]]
        code = run.engine.run(argv, "/", {}, COLLECT_S, "0:0", service)[0]
        path = path if code == 3 else f"{copy}/{os.path.basename(path)}"
    try:
        if code in (0, 3):
            run.engine.fetch(path, target, COLLECT_CAP_BYTES, service)
    finally:
        if code != 3:
            run.engine.run(["rm", "-rf", copy], "/", {}, COLLECT_S, "0:0", service)
    return code in (0, 3)


def grade(run: Run) -> None:
    """Tests enter only now; what the grader left or printed is recorded as it is and mapped by the reader."""
    asked, step = run.spec.grade, last_graded(run)
    if asked is not None:
        run.append("intent", {"action": "grade"})
        run.append("graded", judged(run, asked))
    elif step is not None:
        grade_step(run, step)


def last_graded(run: Run) -> Step | None:
    """The step that began last, where it has a grader and no grade yet."""
    begun = [step for step in run.spec.steps if run.last("released", step.name)]
    found = begun[-1] if begun else None
    return found if found and found.grade and run.last("step_graded", found.name) is None else None


def grade_step(run: Run, step: Step) -> None:
    """Judges what a step left, once; afterwards nothing of the grader is there for a step that follows."""
    asked = step.grade
    if asked is None or run.last("step_graded", step.name):
        return
    run.append("intent", {"action": "grade", "step": step.name})
    places = ["{root}" + one for one in [*(placed.dest for placed in asked.files), asked.reward]]
    try:
        found = judged(run, asked)
    finally:
        run.engine.run(["rm", "-rf", "--", *places], "/", {}, 60)
    run.append("step_graded", {"step": step.name, "combine": asked.combine, **found})


def judged(run: Run, asked: Grade) -> dict[str, Any]:
    """Runs a grader where the environment is now; what it left and printed, and what that depends on."""
    settled = run.last("settled") or run.last("swept")
    flags = []
    if (
        settled is not None
        and (settled.data.get("mode") == "keep" or settled.data.get("kept"))
        and settled.data["left"]
    ):
        flags.append(f"graded with {len(settled.data['left'])} processes of the session alive")
    if run.engine.name == "process":
        flags.append("not isolated")
    image_id, failed = _move_on(run, asked) if asked.image else ("", [])
    grader = _fingerprint(run, asked, image_id)
    flags += failed
    began_ns = clock.boottime_ns()
    for placed in asked.files:
        run.engine.remake(placed.dest)
        run.engine.put(run.blobs + "/" + placed.blob, placed.dest)
    if asked.session is not None:
        hand_over(run, asked.session)
    run.engine.remake(asked.reward)
    code, out, err = run.engine.run(asked.argv, asked.cwd, asked.env, asked.timeout_ms / 1000)
    reward: dict[str, str] | None = None
    for name in ("reward.json", "reward.txt"):
        found = run.engine.read_file(f"{asked.reward}/{name}", REWARD_CAP_BYTES)
        if found is not None:
            reward = {"name": name, "text": found.decode("utf-8", "replace")}
            break
    exited = run.last("exited")
    return {
        "code": code,
        "reward": reward,
        "stdout": out.decode("utf-8", "replace")[-TAIL_CHARS:],
        "stderr": err.decode("utf-8", "replace")[-TAIL_CHARS:],
        "seconds": (clock.boottime_ns() - began_ns) / 1e9,
        "delay_s": (began_ns - exited.t_boot_ns) / 1e9 if exited else None,
        "flags": flags,
        "grader": grader,
    }


def _fingerprint(run: Run, asked: Grade, image_id: str) -> dict[str, Any]:
    """What the grade depends on: the image (without one the machine's Python and kernel) and the grader's files."""
    prepared, opened = run.last("prepared"), run.last("opened")
    image_id = image_id or str((prepared.data.get("image_id") if prepared else "") or "")
    found: dict[str, Any] = {"files": [placed.blob for placed in asked.files]}
    if image_id:
        return {**found, "image_id": image_id}
    machine = opened.data if opened else {}
    return {**found, "python": machine.get("python"), "kernel": machine.get("kernel")}
