"""Bringing a session to its end: the whole tree is gone, the container stays up and its files with it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import docker
import pytest

from remote_agent import cgroups, docker_kill, procs
from remote_agent.engine import StartFailed
from tests.engine.conftest import VARIANTS, Run, ended, shell, wait_until

pytestmark = pytest.mark.engine
NewRun = Callable[..., Run]

STUBBORN = (
    "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo up; while :; do sleep 300; done' & while :; do sleep 301; done"
)
"""Ignores TERM and leaves a child in a session of its own."""


@pytest.fixture(params=["from the host", "by an exec", "listed inside"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What the supervisor may do: signal from the host, only exec, or not even see the container's processes."""
    if request.param != "from the host":

        def refuse(pid: int, number: int) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "kill", refuse)
        monkeypatch.setattr(os, "killpg", refuse)
    if request.param == "listed inside":
        monkeypatch.setattr(cgroups, "directory", lambda pid, container: None)
    yield request.param
    monkeypatch.undo()


def test_a_stubborn_tree_with_a_setsid_child_is_gone_and_the_container_is_up(
    new_run: NewRun, image: str, variant: dict[str, Any], way: str, client: docker.DockerClient
) -> None:
    run = new_run(image, **variant).prepare()
    init = client.api.inspect_container(run.facts["container"])["State"]
    armed = run.started(shell(STUBBORN))
    wait_until(lambda: run.out == b"up\n", "the child")
    wait_until(lambda: len(run.engine.leftovers()[0]) >= 4, "the sleepers")
    assert run.engine.terminate(armed) >= 1
    before_s = time.monotonic()
    count, gone = run.engine.kill_leftovers()
    assert time.monotonic() - before_s < (1 if way == "from the host" else 4)  # 0.1 to 0.4 s on an idle machine
    assert count >= 4
    assert not gone
    ended(armed, 1)
    assert run.engine.leftovers()[0] == []
    state = client.api.inspect_container(run.facts["container"])["State"]
    assert (state["Running"], state["Pid"], state["StartedAt"]) == (True, init["Pid"], init["StartedAt"])
    assert run.engine.exit_code(armed, 1) == 137
    assert run.finished(shell("echo usable")) == 0


def test_term_reaches_the_whole_group_and_is_enough_for_the_willing(
    new_run: NewRun, image: str, variant: dict[str, Any], way: str
) -> None:
    run = new_run(image, **variant).prepare()
    armed = run.started(shell("trap 'echo told; exit 3' TERM; sleep 300 & echo up; wait"))
    wait_until(lambda: run.out == b"up\n", "the session")
    wait_until(lambda: any(left["comm"] == "sleep" for left in run.engine.leftovers()[0]), "the sleeper")
    assert run.engine.terminate(armed) >= 1
    ended(armed)
    assert run.engine.exit_code(armed, 1) == 3
    assert run.out == b"up\ntold\n"
    wait_until(lambda: run.engine.leftovers()[0] == [], "the end of the sleeper")
    assert run.engine.kill_leftovers() == (0, False)


def test_a_session_of_two_users_is_gone_although_root_may_not_kill(new_run: NewRun, busybox: str, way: str) -> None:
    run = new_run(busybox, cap_drop=["ALL"]).prepare()
    first = run.started(shell("sleep 300", user="1000"))
    second = run.started(shell("sleep 301", user="0"))
    wait_until(lambda: len(run.engine.leftovers()[0]) == 2, "both")
    count, gone = run.engine.kill_leftovers()
    assert (count, gone) == (2, False)
    ended(first, 1)
    ended(second, 1)


@pytest.mark.parametrize("who", list(VARIANTS))
def test_a_full_limit_of_processes_is_cleared(new_run: NewRun, image: str, who: str, way: str) -> None:
    run = new_run(image, pids=24, **VARIANTS[who]).prepare()
    armed = run.started(shell("trap '' TERM; echo up; while :; do sleep 300 & done 2>/dev/null"))
    if way == "listed inside":
        wait_until(lambda: run.out == b"up\n", "the session")
    else:
        group = run.engine._tree().group
        assert group is not None
        wait_until(lambda: len(cgroups.members(group)) >= 22, "the limit")
    _, gone = run.engine.kill_leftovers()
    ended(armed, 1)
    assert run.engine.leftovers()[0] == []
    assert not gone or way == "listed inside"  # where even the listing shell may be refused a process
    assert run.finished(shell("echo usable > /tmp/usable")) == 0


def test_processes_that_cannot_be_listed_are_never_taken_for_none(
    new_run: NewRun, busybox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "directory", lambda pid, container: None)
    run = new_run(busybox).prepare()
    armed = run.started(shell("sleep 300"))
    monkeypatch.setattr(docker_kill.Tree, "_listed_inside", lambda self: [])
    assert run.engine.leftovers() == ([{"pid": 0, "start_ticks": 0, "comm": "unknown"}], 0)
    with pytest.raises(StartFailed, match="could not be listed"):
        run.engine.arm(shell("echo ran"), {})
    monkeypatch.setattr(docker_kill.Tree, "find_idle", lambda self: None)
    assert run.engine.kill_leftovers() == (0, True)
    ended(armed, 2)


def test_a_loop_that_forks_all_the_time_loses(new_run: NewRun, busybox: str) -> None:
    run = new_run(busybox, user="1000", pids=200).prepare()
    armed = run.started(shell("f() { setsid sh -c 'while :; do (sleep 0.01 &); done' & }; f; f; f; wait"))
    wait_until(lambda: len(run.engine.leftovers()[0]) > 30, "the flood")
    before_s = time.monotonic()
    run.engine.kill_leftovers()
    assert time.monotonic() - before_s < 3
    ended(armed, 1)
    assert run.engine.leftovers()[0] == []


def test_when_nothing_helps_the_container_goes_and_its_files_stay(
    new_run: NewRun, busybox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(busybox).prepare()
    armed = run.started(shell("echo answer > /root/answer; sleep 300"))
    wait_until(lambda: run.engine.read_file("/root/answer", 100) == b"answer\n", "the answer")
    monkeypatch.setattr(docker_kill.Tree, "_from_outside", lambda self, alive, number: [])
    count, gone = run.engine.kill_leftovers()
    assert count >= 1
    assert gone
    ended(armed, 2)
    assert run.engine.leftovers() == ([], 0)
    assert run.engine.read_file("/root/answer", 100) == b"answer\n"
    assert run.engine.run(["cat", "/root/answer"], "/", {}, 5) == (0, b"answer\n", b"")


def test_a_session_that_kills_its_container_leaves_its_files(new_run: NewRun, busybox: str) -> None:
    run = new_run(busybox).prepare()
    armed = run.started(shell("echo answer > /root/answer; kill -KILL -1"))
    ended(armed)
    container = run.facts["container"]
    wait_until(lambda: run.engine.api.call("GET", f"/containers/{container}/json")["State"]["Running"] is False, "it")
    assert run.engine.leftovers() == ([], 0)
    assert run.engine.exit_code(armed, 1) in (0, 137, None)
    assert run.engine.kill_leftovers() == (0, True)
    assert run.engine.run(["cat", "/root/answer"], "/", {}, 5)[1] == b"answer\n"


def test_zombies_are_counted_apart(new_run: NewRun, image: str) -> None:
    run = new_run(image).prepare()
    armed = run.started(shell("sh -c 'exit 0' & exec sleep 300"))
    wait_until(lambda: run.engine.leftovers()[1] == 1, "the zombie")
    wait_until(lambda: [entry["comm"] for entry in run.engine.leftovers()[0]] == ["sleep"], "the program alone")
    alive, _ = run.engine.leftovers()
    assert [entry["pid"] for entry in alive] == [armed.pid]
    assert set(alive[0]) == {"pid", "start_ticks", "comm"}


def test_another_process_under_the_same_number_is_left_alone(new_run: NewRun, busybox: str) -> None:
    run = new_run(busybox).prepare()
    armed = run.started(shell("sleep 300"))
    entry = procs.stat(armed.pid)
    assert entry is not None
    run.engine._tree()._from_outside([{**entry, "start_ticks": entry["start_ticks"] + 1}], signal.SIGKILL)
    assert procs.same(armed.pid, entry["start_ticks"])


def test_a_helper_that_takes_too_long_is_ended_with_its_children(new_run: NewRun, image: str) -> None:
    run = new_run(image).prepare()
    armed = run.started(shell("exec sleep 300"))  # a service of the session that is to live
    wait_until(lambda: run.engine.program_seen(armed), "the service")
    before_s = time.monotonic()
    code, out, err = run.engine.run(
        ["sh", "-c", "trap '' TERM; echo half; setsid sleep 200 & echo no >&2; sleep 201"], "/", {}, 0.5
    )
    assert (code, out, err) == (None, b"half\n", b"no\n")
    assert time.monotonic() - before_s < 3
    assert [entry["pid"] for entry in run.engine.leftovers()[0]] == [armed.pid]


def test_a_helper_that_floods_its_output_ends_in_time_and_keeps_the_end(new_run: NewRun, busybox: str) -> None:
    run = new_run(busybox).prepare()
    code, out, _ = run.engine.run(["yes"], "/", {}, 1)
    assert code is None
    assert 0 < len(out) <= 4 * 2**20
    code, out, _ = run.engine.run(["sh", "-c", "head -c 9000000 /dev/zero; echo; echo score 1"], "/", {}, 20)
    assert code == 0
    assert len(out) == 4 * 2**20
    assert out.endswith(b"\nscore 1\n")


def test_a_helper_whose_child_holds_the_streams_ends_at_its_own_end(new_run: NewRun, busybox: str) -> None:
    run = new_run(busybox).prepare()
    before_s = time.monotonic()
    assert run.engine.run(["sh", "-c", "sleep 20 & echo done; exit 4"], "/", {}, 30) == (4, b"done\n", b"")
    assert time.monotonic() - before_s < 5
