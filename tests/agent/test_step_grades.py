"""Steps with a preparation and a grader of their own: order, thresholds, one cutoff for all, crashes in between."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from remote_agent.spec import RunSpec, SpecError
from tests.agent.runs import RunHome, kill, until
from tests.agent.test_steps import die_at

SHARED = {"helper.sh": 'score() { echo "$1" >"$VERIFIER_DIR/reward.txt"; }\n'}


def tar_of(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Steps:
    """Steps whose graders run the given shell text; their files are put in by `placed`."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def placed(self, files: dict[str, str], dest: str) -> dict[str, str]:
        tar = tar_of(files)
        name = hashlib.sha256(tar).hexdigest()
        self.blobs[name] = tar
        return {"blob": name, "dest": dest}

    def step(self, name: str, work: str, test: str, **more: Any) -> dict[str, Any]:
        files = self.placed({**SHARED, "test.sh": f'. "$TESTS/helper.sh"; {test}'}, "/tests")
        grade = {
            "files": [files], "argv": ["sh", "{root}/tests/test.sh"], "cwd": "/app", "combine": "mean",
            "env": {"TESTS": "{root}/tests", "VERIFIER_DIR": "{root}/logs/verifier"}, **more.pop("grade", {}),
        }  # fmt: skip
        return {"name": name, "argv": ["sh", "-c", work], "cutoff_ms": 30_000, "grade": grade, **more}

    def home(self, path: Path, *steps: dict[str, Any], **more: Any) -> RunHome:
        home = RunHome(path, *steps, **more)
        for name, tar in self.blobs.items():
            (home.home / "blobs" / name).write_bytes(tar)
        return home


def rewards(home: RunHome) -> list[str]:
    return [(one.data["reward"] or {}).get("text", "none").strip() for one in home.records("step_graded")]


def reasons(home: RunHome) -> dict[str, str]:
    return {one.data["step"]: one.data["reason"] for one in home.records("skipped")}


def test_each_step_is_prepared_and_graded_and_the_next_sees_nothing_of_it(tmp_path: Path) -> None:
    made = Steps()
    before = {
        "files": [made.placed({"given.txt": "Ada\n", "setup.sh": "echo ready >>given.txt; rm setup.sh\n"}, "/app")],
        "argv": ["sh", "setup.sh"], "cwd": "/app",
    }  # fmt: skip
    look = "ls -d ../tests ../logs/verifier given.txt 2>/dev/null"
    home = made.home(
        tmp_path,
        made.step("one", f"{look}; echo 1 >a", "[ -f a ] && score 1"),
        made.step("two", f"{look}; cat given.txt; echo 2 >b", "[ -f b ] && score 0.5", before=before),
        made.step("three", f"{look}; true", "score 0"),
    )
    records = home.finish()
    assert rewards(home) == ["1", "0.5", "0"]
    said = "".join(r.data["text"] for r in records if r.kind == "transcript" and r.data["stream"] == "out")
    assert said == "given.txt\nAda\nready\ngiven.txt\n"
    assert home.one("step_prepared").data["code"] == 0
    order = [(r.kind, r.data["step"]) for r in records if r.kind in ("step_prepared", "released", "step_graded")]
    assert order == [
        ("released", "one"), ("step_graded", "one"), ("step_prepared", "two"), ("released", "two"),
        ("step_graded", "two"), ("released", "three"), ("step_graded", "three"),
    ]  # fmt: skip
    assert [r.data.get("then") for r in home.records("released")] == [["two", "three"], ["three"], None]
    assert {r.data["combine"] for r in home.records("step_graded")} == {"mean"}
    assert home.one("settled").seq < home.records("step_graded")[-1].seq
    assert not home.records("graded")
    assert not home.records("fault")
    assert not (Path(home.one("prepared").data["root"]) / "tests").exists()


def test_a_stop_while_a_step_is_prepared_begins_nothing_more(tmp_path: Path) -> None:
    made = Steps()
    before = {"argv": ["sh", "-c", "touch ../preparing; sleep 0.3"], "cwd": "/app"}
    home = made.home(
        tmp_path,
        made.step("one", "true", "score 1"),
        made.step("two", "touch ../ran", "score 1", before=before),
        made.step("three", "true", "score 1"),
    )
    pid = home.start()
    prepared = Path(home.wait_for("prepared").data["root"])
    until(lambda: (prepared / "preparing").exists())
    home.stop("act1", "ada", "enough")
    os.waitpid(pid, 0)
    assert reasons(home) == dict.fromkeys(("two", "three"), "an operator asked to stop")
    assert [one.data["step"] for one in home.records("released")] == ["one"]
    assert rewards(home) == ["1"]


@pytest.mark.parametrize(
    ("test", "least", "why"),
    [
        ("score 0.4", {"reward": 0.5}, "has reward 0.4 below 0.5"),
        ("score 0.5", {"reward": 0.5}, ""),
        ("true", {}, "was left without a score"),
        ("score lots", {}, "has a score that cannot be read"),
        ("score nan", {"reward": 0}, "has reward nan below 0"),
        ("""echo '{"a": 1, "b": 0}' >$VERIFIER_DIR/reward.json""", {"a": 1, "b": 0.5}, "has b 0 below 0.5"),
        ("""echo '{"a": 1}' >$VERIFIER_DIR/reward.json""", {"b": 0}, "has b None below 0"),
        ("""echo '[1]' >$VERIFIER_DIR/reward.json""", {"b": 0}, "has a score that cannot be read"),
        ("exec sleep 60", {}, "was left without a score"),
    ],
)
def test_a_step_begins_only_after_enough_of_a_score(
    tmp_path: Path, test: str, least: dict[str, float], why: str
) -> None:
    made = Steps()
    limits = {"least": least, "timeout_ms": 500}
    first = made.step("one", "true", test, grade=limits)
    home = made.home(tmp_path, first, made.step("two", "true", "score 1"), made.step("three", "true", "score 1"))
    home.finish()
    assert reasons(home) == (dict.fromkeys(("two", "three"), f"step one {why}") if why else {})
    assert len(home.records("step_graded")) == (1 if why else 3)
    assert home.records()[-1].kind == "ended"


def test_a_preparation_that_fails_keeps_its_step_from_beginning(tmp_path: Path) -> None:
    made = Steps()
    bad = {"argv": ["sh", "-c", "echo no service >&2; exit 4"]}
    home = made.home(
        tmp_path, made.step("one", "true", "score 1"), made.step("two", "true", "score 1", before=bad),
        made.step("three", "true", "score 1"),
    )  # fmt: skip
    home.finish()
    assert reasons(home)["two"] == "its preparation ended with 4: no service"
    assert [r.data["step"] for r in home.records("released")] == ["one"]
    assert home.one("step_prepared").data["stderr"] == "no service\n"
    assert not home.records("fault")


def test_services_of_a_step_live_through_its_grader_where_the_task_keeps_them(tmp_path: Path) -> None:
    made = Steps()
    alive = "kill -0 $(cat ../pid) && score 1"
    home = made.home(
        tmp_path, made.step("one", "sleep 60 & echo $! >../pid", alive), made.step("two", "true", alive), settle="keep"
    )
    home.finish()
    assert rewards(home) == ["1", "1"]
    assert home.one("swept").data["kept"]
    flags = [one.data["flags"] for one in home.records("step_graded")]
    assert flags == [["graded with 1 processes of the session alive", "not isolated"]] * 2


def test_what_a_grader_left_running_does_not_meet_the_next_step(tmp_path: Path) -> None:
    made = Steps()
    left = "(sleep 60 & echo $! >../pid); score 1"
    home = made.home(
        tmp_path, made.step("one", "true", left), made.step("two", "kill -0 $(cat ../pid) || echo gone", "score 1")
    )
    records = home.finish()
    said = "".join(r.data["text"] for r in records if r.kind == "transcript" and r.data["stream"] == "out")
    assert said == "gone\n"


def test_a_stop_while_a_step_is_graded_ends_the_run_after_it(tmp_path: Path) -> None:
    made = Steps()
    home = made.home(tmp_path, made.step("one", "true", "sleep 0.6; score 1"), made.step("two", "true", "score 1"))
    pid = home.start()
    home.wait_for("swept")
    home.stop("act1", "ada", "enough")
    os.waitpid(pid, 0)
    assert rewards(home) == ["1"]
    assert reasons(home) == {"two": "an operator asked to stop"}


def test_a_later_step_has_what_the_earlier_ones_left_of_the_cutoff(tmp_path: Path) -> None:
    made = Steps()
    home = made.home(
        tmp_path, made.step("one", "sleep 0.4", "score 1"), made.step("two", "sleep 60", "score 1", grace_ms=200),
        made.step("three", "true", "score 1"), cutoff_ms=900,
    )  # fmt: skip
    home.finish()
    cutoffs = [r.data["cutoff_ms"] for r in home.records("released")]
    first = home.one("exited", "one").t_boot_ns - home.one("released", "one").t_boot_ns
    assert cutoffs == [900, 900 - first // 10**6]
    assert home.one("exited", "two").data["cause"] == "cutoff"
    assert reasons(home) == {"three": "step two was ended by cutoff"}
    assert rewards(home) == ["1", "1"]


def test_nothing_begins_when_the_cutoff_is_used_up(tmp_path: Path) -> None:
    made = Steps()
    ends = made.step("one", "trap '' TERM; sleep 0.3", "score 1", cutoff_ms=30_000)
    home = made.home(tmp_path, {**ends, "timed": True}, made.step("two", "true", "score 1"), cutoff_ms=200)
    home.finish()
    assert list(reasons(home)) == ["two"]


@pytest.mark.parametrize(
    ("kind", "step", "before"),
    [
        ("swept", "one", False),
        ("step_graded", "one", True),
        ("step_graded", "one", False),
        ("step_prepared", "two", True),
        ("step_prepared", "two", False),
        ("step_graded", "two", True),
        ("step_graded", "two", False),
    ],
)
def test_a_supervisor_lost_in_between_is_gone_on_from(tmp_path: Path, kind: str, step: str, before: bool) -> None:
    made = Steps()
    ready = {"argv": ["sh", "-c", "echo p >>../prepared"]}
    home = made.home(
        tmp_path, made.step("one", "echo 1 >>../ran", "score 1"),
        made.step("two", "echo 2 >>../ran; cat ../ran", "score 1", before=ready), cutoff_ms=20_000,
    )  # fmt: skip
    die_at(home, kind, step, before)
    records = home.finish()
    assert [r.data["step"] for r in home.records("step_graded")] == ["one", "two"]
    assert len(home.records("step_prepared")) == 1
    said = "".join(r.data["text"] for r in records if r.kind == "transcript" and r.data["stream"] == "out")
    assert said == "1\n2\n"
    assert records[-1].kind == "ended"


def test_a_grader_whose_supervisor_is_lost_is_ended_and_run_again(tmp_path: Path) -> None:
    made = Steps()
    late = "sleep 3 && score 0.2"
    slow = f"echo g >>../../graders; [ $(wc -l <../../graders) = 1 ] && {late}; score 1"
    home = made.home(tmp_path, made.step("one", "true", slow), made.step("two", "true", "score 1"))
    pid = home.start()
    root = Path(home.wait_for("prepared").data["root"])
    until((root.parent / "graders").exists)
    kill(pid)
    home.finish()
    assert rewards(home) == ["1", "1"]
    assert not home.records("fault")


def test_a_step_that_goes_on_without_its_supervisor_keeps_its_share_of_the_cutoff(tmp_path: Path) -> None:
    made = Steps()
    home = made.home(
        tmp_path, made.step("one", "sleep 0.3", "score 1"), made.step("two", "sleep 60", "score 1", grace_ms=200),
        cutoff_ms=1_500,
    )  # fmt: skip
    pid = home.start()
    home.wait_for("exec_seen", "two")
    kill(pid)
    os.waitpid(home.start(), 0)
    worked = [
        (home.one("exited", name).t_boot_ns - home.one("released", name).t_boot_ns) / 1e9 for name in ("one", "two")
    ]
    assert home.one("exited", "two").data["cause"] == "cutoff"
    assert 1.4 < sum(worked) < 2.4


def test_a_grader_of_a_step_is_where_the_session_was(tmp_path: Path) -> None:
    made = Steps()
    step = made.step("one", "true", "score 1", grade={"image": "other"})
    spec = {"schema": 1, "id": "a", "engine": "process", "environment": {}, "steps": [step]}
    with pytest.raises(SpecError, match="step one can only be graded where the session was"):
        RunSpec(spec)
    whole = made.step("one", "true", "score 1")
    with pytest.raises(SpecError, match="exclude each other"):
        RunSpec({**spec, "steps": [whole], "grade": whole["grade"]})
    files = {one.blob for one in RunSpec({**spec, "steps": [whole]}).placed()}
    assert files == {whole["grade"]["files"][0]["blob"]}
