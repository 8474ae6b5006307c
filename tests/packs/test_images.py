from __future__ import annotations

import gc
import io
import os
import secrets
import shutil
import tarfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import docker
import docker.errors
import pytest
from docker.models.containers import Container

from task_packs.errors import ImageError
from task_packs.grading import RawGrade, grade
from task_packs.images import rootfs
from task_packs.images.of_tasks import ensure_task_image
from task_packs.images.recipes import ensure_image, ensure_rootfs, image_tag, recipe_key
from task_packs.load import load_pack
from task_packs.manifest import Recipe
from task_packs.task import Task
from tests.packs.copies import harbor_task, imported

BUSYBOX = Recipe(kind="busybox")


def quiet(line: str) -> None:
    """A log nobody reads."""


needs_busybox = pytest.mark.skipif(
    not any(Path(place).exists() and rootfs.is_static(Path(place).read_bytes()) for place in rootfs.BUSYBOX_PLACES),
    reason="no statically linked busybox: install the package busybox-static",
)


@needs_busybox
def test_a_busybox_root_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    first, digest = ensure_rootfs(BUSYBOX, tmp_path / "a", quiet)
    second, again = ensure_rootfs(BUSYBOX, tmp_path / "b", quiet)
    assert digest == again
    assert first.read_bytes() == second.read_bytes()


@needs_busybox
def test_what_a_busybox_root_holds(tmp_path: Path) -> None:
    path, _ = ensure_rootfs(BUSYBOX, tmp_path, quiet)
    with tarfile.open(path) as archive:
        entries = {entry.name: entry for entry in archive}
        passwd = archive.extractfile("etc/passwd")
        assert passwd is not None
        assert b"agent:x:1000:1000::/home/agent:/bin/sh\n" in passwd.read()
    assert entries["tmp"].mode == 0o1777
    assert (entries["app"].uid, entries["home/agent"].uid, entries["logs"].uid) == (1000, 1000, 0)
    for applet in ("bin/sh", "usr/bin/awk", "usr/sbin/httpd", "usr/bin/setsid", "bin/su", "usr/bin/timeout"):
        assert entries[applet].linkname == "/bin/busybox"


@needs_busybox
def test_a_kept_root_needs_no_busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, digest = ensure_rootfs(BUSYBOX, tmp_path, quiet)
    monkeypatch.setattr(rootfs, "BUSYBOX_PLACES", ())
    monkeypatch.setenv("PATH", "/nowhere")
    assert ensure_rootfs(BUSYBOX, tmp_path, quiet)[1] == digest


def test_no_busybox_and_no_apt_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rootfs, "BUSYBOX_PLACES", ("/nowhere/busybox",))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ImageError, match=r"image busybox cannot be had: .*no apt-get here to fetch busybox-static"):
        ensure_rootfs(BUSYBOX, tmp_path, quiet)
    assert list(tmp_path.iterdir()) == []


def fake(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_package_that_cannot_be_fetched_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "apt-get", "echo 'E: Unable to locate package' >&2; exit 100")
    fake(tmp_path, "dpkg-deb", "exit 1")
    monkeypatch.setattr(rootfs, "BUSYBOX_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match=r"apt-get failed \(E: Unable to locate package\); run apt-get update"):
        ensure_rootfs(BUSYBOX, tmp_path / "cache", quiet)


def test_a_missing_debootstrap_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *args, **rest: None)
    with pytest.raises(ImageError, match=r"image debian with git cannot be had: debootstrap is missing; install"):
        ensure_rootfs(Recipe(kind="debian", packages=("git",)), tmp_path, quiet)


def test_debootstrap_without_root_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "debootstrap", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ImageError, match="image debian cannot be had: debootstrap needs root"):
        ensure_rootfs(Recipe(kind="debian"), tmp_path / "cache", quiet)


def test_a_debootstrap_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "debootstrap", "echo 'E: Invalid suite'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ImageError, match=r"debootstrap failed \(E: Invalid suite\); look at the packages"):
        ensure_rootfs(Recipe(kind="debian", suite="nosuch"), tmp_path / "cache", quiet)


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ImageError, match=r"cannot be kept in .*cache: .*; free some disk"):
        ensure_rootfs(BUSYBOX, tmp_path / "cache", quiet)


def test_names_follow_content() -> None:
    assert recipe_key(BUSYBOX) == recipe_key(Recipe(kind="busybox"))
    assert recipe_key(Recipe(kind="debian")) != recipe_key(Recipe(kind="debian", packages=("git",)))
    assert image_tag(BUSYBOX, "ab" * 32) == "x/busybox:abababababab"


def test_only_programs_without_a_loader_are_static() -> None:
    shell = Path(os.path.realpath("/bin/ls")).read_bytes()
    assert not rootfs.is_static(shell)
    assert not rootfs.is_static(b"#!/bin/sh\n")
    assert not rootfs.is_static(b"")


@needs_busybox
def test_an_engine_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    client = docker.DockerClient(base_url=f"unix://{tmp_path}/gone.sock", version="1.41")
    with warnings.catch_warnings():  # the SDK leaves a socket that could not connect unclosed
        warnings.simplefilter("ignore", ResourceWarning)
        with pytest.raises(ImageError, match="image busybox could not be loaded into the engine") as caught:
            ensure_image(client, BUSYBOX, tmp_path, quiet)
        said = str(caught.value)
        del caught
        client.close()
        gc.collect()
    assert "\n" not in said


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    found = docker.from_env()
    yield found
    found.close()


@pytest.mark.engine
@needs_busybox
def test_an_image_is_loaded_once_and_under_the_same_id(client: docker.DockerClient, tmp_path: Path) -> None:
    said: list[str] = []
    tag = ensure_image(client, BUSYBOX, tmp_path / "a", said.append)
    image = client.images.get(tag).id
    said.clear()
    assert ensure_image(client, BUSYBOX, tmp_path / "b", said.append) == tag
    assert not any("loading" in line for line in said)
    assert client.images.get(tag).id == image


def execute(container: Container, argv: list[str], user: str = "root") -> tuple[int | None, bytes]:
    """Exit code and output of a command in /app."""
    with warnings.catch_warnings():  # the SDK leaves the socket of an exec unclosed
        warnings.simplefilter("ignore", ResourceWarning)
        done = container.exec_run(argv, user=user, workdir="/app")
        gc.collect()
    assert isinstance(done.output, bytes)
    return done.exit_code, done.output


def grade_in_container(
    client: docker.DockerClient, tag: str, task: Task, solved: bool
) -> tuple[str, float | None, str]:
    """Workspace, solution as the agent's user, tests as root: what a run does, through the engine's own SDK."""
    container = client.containers.run(
        tag, ["sleep", "1000"], network_mode="none", detach=True, init=True, user="agent", working_dir="/app"
    )
    try:
        container.put_archive("/", task.workspace_tar())
        if solved:
            execute(container, ["mkdir", "-p", "/solution"])
            container.put_archive("/solution", task.solution_tar())
            code, said = execute(container, task.solution_argv("/solution"), "agent")
            assert code == 0, said
        execute(container, ["mkdir", "-p", "-m", "700", "/tests", "/logs/verifier"])
        container.put_archive("/tests", task.tests_tar())
        code, said = execute(container, task.grader_argv("/tests"))
        raw = RawGrade(code, fetch(container, "reward.json"), fetch(container, "reward.txt"), said)
        found = grade(task.grade, raw)
        return found.status, found.value, found.detail
    finally:
        container.remove(force=True)


def fetch(container: Container, name: str) -> bytes | None:
    try:
        chunks, _ = container.get_archive(f"/logs/verifier/{name}")
    except docker.errors.NotFound:
        return None
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
        file = archive.extractfile(name)
        return file.read() if file else None


@pytest.mark.engine
@needs_busybox
@pytest.mark.parametrize(
    ("pack", "task_id"), [(pack, task.id) for pack in ("demo", "etademo") for task in load_pack(pack).tasks]
)
def test_demo_tasks_fail_and_pass_in_a_container_without_a_network(
    client: docker.DockerClient, tmp_path: Path, pack: str, task_id: str
) -> None:
    task = load_pack(pack).task(task_id)
    tag = ensure_image(client, BUSYBOX, tmp_path, quiet)
    status, value, _ = grade_in_container(client, tag, task, False)
    assert status in ("scored", "empty")
    assert value == 0.0
    assert grade_in_container(client, tag, task, True)[:2] == ("scored", 1.0)


@pytest.mark.engine
@needs_busybox
def test_the_program_under_test_cannot_forge_its_reward_in_a_container(
    client: docker.DockerClient, tmp_path: Path
) -> None:
    task = load_pack("demo").task("mend-total")
    tag = ensure_image(client, BUSYBOX, tmp_path, quiet)
    forge = (
        "while :; do for f in txt json; do echo '{\"reward\":1}' >/logs/verifier/reward.$f; done; done &\necho 32.25\n"
    )
    container = client.containers.run(tag, ["sleep", "1000"], network_mode="none", detach=True, init=True)
    try:
        container.put_archive("/", task.workspace_tar())
        execute(container, ["sh", "-c", 'printf "%s" "$1" >total.sh', "sh", forge], "agent")
        execute(container, ["mkdir", "-p", "-m", "700", "/tests", "/logs/verifier"])
        container.put_archive("/tests", task.tests_tar())
        code, said = execute(container, task.grader_argv("/tests"))
        assert code == 0
        assert fetch(container, "reward.json") is None
        assert fetch(container, "reward.txt") == b"0\n", said
    finally:
        container.remove(force=True)


@pytest.mark.engine
@needs_busybox
def test_a_task_with_a_dockerfile_gets_an_image_built_from_its_environment_alone(
    client: docker.DockerClient, tmp_path: Path
) -> None:
    base = ensure_image(client, BUSYBOX, tmp_path / "cache", quiet)
    dockerfile = f"FROM {base}\nWORKDIR /srv/task\nCOPY . /srv/task\nENV ONCE={secrets.token_hex(8)}\n"
    harbor_task(tmp_path / "copy/074-apa-references-review", "", environment__Dockerfile=dockerfile)
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    task = pack.tasks[0]
    said: list[str] = []
    tag = ensure_task_image(client, task, said.append)
    assert said == [f"image of task {task.id}: building {tag}"]
    assert ensure_task_image(client, task, said.append) == tag
    assert len(said) == 1
    assert task.workdir == "/srv/task"
    listed = client.containers.run(
        tag,
        ["sh", "-c", "find /srv/task; ls -d /tests /solution 2>&1 | grep -vc No; true"],
        network_mode="none",
        remove=True,
    )
    assert sorted(listed.decode().split()) == ["/srv/task", "/srv/task/Dockerfile", "/srv/task/hint.txt", "0"]
    client.images.remove(tag)


@pytest.mark.engine
def test_a_task_whose_image_cannot_be_built_or_pulled_is_one_sentence(
    client: docker.DockerClient, tmp_path: Path
) -> None:
    harbor_task(tmp_path / "copy/074-apa-references-review", "", environment__Dockerfile="FROM scratch\nNONSENSE\n")
    harbor_task(tmp_path / "copy/096-first-author-table", '[environment]\ndocker_image = "127.0.0.1:9/none:1"\n')
    pack, _ = imported("tua-bench", tmp_path / "copy", tmp_path)
    for task in pack.tasks[:2]:
        with pytest.raises(ImageError) as caught:
            ensure_task_image(client, task, quiet)
        assert str(caught.value).startswith("image ")
        assert "\n" not in str(caught.value)
