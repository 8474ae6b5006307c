from __future__ import annotations

import io
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from agenttime_tui.cli import main
from task_packs.checking.pack import grade_in_directory, verify_pack
from task_packs.errors import PackError
from task_packs.importers import importer_of
from task_packs.importers.bring import bring, chosen
from task_packs.importers.trees import copy_tree, unpack_archive
from task_packs.load import load_pack
from task_packs.lock import LOCK_FILE, read_lock, task_sha256
from tests.packs.copies import HARBOR_TOML, files, harbor_task, imported, in_tar

FAMILY = "tua-bench"
ROSTER = [task.id for task in load_pack(FAMILY).tasks]


def test_a_tree_of_tasks_is_taken_as_it_is(tmp_path: Path) -> None:
    for task in (*ROSTER, "999-other"):
        harbor_task(tmp_path / "copy/tasks" / task)
    pack, brought = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert brought.written == ROSTER
    one = pack.tasks[0]
    assert one.instruction() == b"Make a file named done.\n"
    assert not (one.path / "cheat").exists()
    assert verify_pack(pack, grade_in_directory) == []
    assert pack.standing.state == "ready"


def test_the_agent_sees_nothing_of_tests_solution_and_cheat(tmp_path: Path) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0])
    pack, _ = imported(FAMILY, tmp_path / "copy", tmp_path)
    seen = in_tar(pack.tasks[0].workspace_tar())
    assert seen == {"app": b"", "app/hint.txt": b"touch it\n"}


def test_tasks_with_a_dockerfile_get_no_workspace_but_their_image(tmp_path: Path) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0], environment__Dockerfile="FROM scratch\n")
    pack, _ = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert pack.tasks[0].builds
    assert in_tar(pack.tasks[0].workspace_tar()) == {}


def test_importing_again_changes_nothing_and_takes_only_what_differs(tmp_path: Path) -> None:
    for task in ROSTER[:3]:
        harbor_task(tmp_path / "copy" / task)
    imported(FAMILY, tmp_path / "copy", tmp_path)
    _, second = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert (second.written, second.unchanged) == ([], ROSTER[:3])
    (tmp_path / "copy" / ROSTER[1] / "instruction.md").write_text("Another.\n")
    _, third = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert third.written == [ROSTER[1]]


def test_a_task_that_was_damaged_here_is_written_again(tmp_path: Path) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0])
    pack, _ = imported(FAMILY, tmp_path / "copy", tmp_path)
    (pack.tasks[0].path / "tests/test.sh").write_text("exit 0\n")
    again, brought = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert brought.written == [ROSTER[0]]
    assert task_sha256(again.tasks[0].path) == read_lock(again.path)[ROSTER[0]].sha256


class Cut(BaseException):
    pass


def test_an_import_that_is_cut_off_leaves_whole_tasks_and_goes_on(tmp_path: Path) -> None:
    for task in ROSTER[:3]:
        harbor_task(tmp_path / "copy" / task)
    manifest = load_pack(FAMILY).manifest
    found = importer_of(FAMILY).find(tmp_path / "copy", manifest, {})
    tasks = chosen(found, manifest)
    dest = tmp_path / "packs" / FAMILY

    def cut(target: Path) -> None:
        tasks[1].write(target)
        (target / "half").write_text("half")
        raise Cut

    with pytest.raises(Cut):
        bring(found, manifest, dest, [tasks[0], tasks[1].__class__(tasks[1].id, cut, "x"), tasks[2]])
    assert sorted(path.name for path in (dest / "tasks").iterdir()) == [ROSTER[0]]
    pack, brought = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert (brought.unchanged, brought.written) == ([ROSTER[0]], ROSTER[1:3])
    assert not (dest / ".importing").exists()
    assert not (pack.tasks[1].path / "half").exists()


def test_where_it_came_from_is_locked(tmp_path: Path) -> None:
    harbor_task(tmp_path / "copy/tasks" / ROSTER[0])
    files(tmp_path / "copy", {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": "a" * 40 + "\n"})
    pack, _ = imported(FAMILY, tmp_path / "copy", tmp_path)
    locked = read_lock(pack.path)[ROSTER[0]]
    assert (locked.commit, locked.licence) == ("a" * 40, "CC BY-NC")
    assert locked.source == f"Harbor task directories: tasks/{ROSTER[0]}"
    assert str(tmp_path) not in (pack.path / LOCK_FILE).read_text()


@pytest.mark.parametrize("name", ["escape", "environment/escape", "tests/escape"])
@pytest.mark.parametrize("aim", ["/etc/passwd", "../../../outside", "../../other/task.toml"])
def test_a_link_out_of_a_task_refuses_that_task_and_no_other(tmp_path: Path, name: str, aim: str) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0])
    harbor_task(tmp_path / "copy" / ROSTER[1])
    (tmp_path / "outside").write_text("x")
    (tmp_path / "copy" / ROSTER[0] / name).symlink_to(aim)
    pack, brought = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert brought.written == [ROSTER[1]]
    assert "is a link out of" in brought.refused[ROSTER[0]]
    assert "\n" not in brought.refused[ROSTER[0]]
    assert not pack.tasks[0].present


def test_a_task_directory_that_is_a_link_out_of_the_copy_is_missing(tmp_path: Path) -> None:
    harbor_task(tmp_path / "elsewhere" / ROSTER[0])
    harbor_task(tmp_path / "copy" / ROSTER[1])
    (tmp_path / "copy" / ROSTER[0]).symlink_to(tmp_path / "elsewhere" / ROSTER[0])
    found = importer_of(FAMILY).find(tmp_path / "copy", load_pack(FAMILY).manifest, {})
    assert [task.id for task in found.tasks] == [ROSTER[1]]
    assert "is a link out of" in found.missing[ROSTER[0]]


def test_a_named_pipe_in_a_task_is_refused(tmp_path: Path) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0])
    harbor_task(tmp_path / "copy" / ROSTER[1])
    os.mkfifo(tmp_path / "copy" / ROSTER[0] / "environment/pipe")
    _, brought = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert "is neither file, directory nor link" in brought.refused[ROSTER[0]]


@pytest.mark.parametrize(
    ("toml", "more", "said"),
    [
        (
            HARBOR_TOML,
            {"environment__docker-compose.yaml": "services:\n  db:\n    image: x\n    cap_add: [NET_ADMIN]\n"},
            "cannot be set up: environment/docker-compose.yaml: services.db.cap_add: is not supported",
        ),
        (
            HARBOR_TOML,
            {"environment__docker-compose.yaml": "services:\n  main:\n    privileged: true\n"},
            "cannot be set up: environment/docker-compose.yaml: services.main.privileged: is not supported",
        ),
        (HARBOR_TOML + 'os = "windows"\n', {}, "needs windows"),
        (
            'steps = [{ name = "one" }, { name = "two", verifier = { environment_mode = "separate" } }]\n',
            {"steps__one__instruction.md": "a\n", "steps__two__instruction.md": "b\n"},
            "grades its step two in an environment of its own",
        ),
    ],
)
def test_what_cannot_be_launched_is_imported_and_says_why(
    tmp_path: Path, toml: str, more: dict[str, str], said: str
) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0], toml, **more)
    found = importer_of(FAMILY).find(tmp_path / "copy", load_pack(FAMILY).manifest, {})
    assert said in found.tasks[0].note
    pack, _ = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert said in pack.tasks[0].hindrance
    assert any(said in fault for fault in verify_pack(pack, grade_in_directory))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("instruction.md", "cannot be read"),
        ("tests/test.sh", "nothing could grade this task"),
        ("task.toml", "is not TOML"),
    ],
)
def test_a_broken_task_is_named_and_the_others_go_on(tmp_path: Path, damage: str, said: str) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0])
    harbor_task(tmp_path / "copy" / ROSTER[1])
    path = tmp_path / "copy" / ROSTER[0] / damage
    if damage == "task.toml":
        path.write_text("[broken")
    else:
        path.unlink()
    found = importer_of(FAMILY).find(tmp_path / "copy", load_pack(FAMILY).manifest, {})
    assert [task.id for task in found.tasks] == [ROSTER[1]]
    assert said in found.missing[ROSTER[0]]


def test_links_in_a_ring_lead_nowhere_and_come_along(tmp_path: Path) -> None:
    harbor_task(tmp_path / "copy" / ROSTER[0])
    (tmp_path / "copy" / ROSTER[0] / "environment/ring").symlink_to("ring")
    pack, brought = imported(FAMILY, tmp_path / "copy", tmp_path)
    assert brought.written == [ROSTER[0]]
    with tarfile.open(fileobj=io.BytesIO(pack.tasks[0].workspace_tar())) as archive:
        assert archive.getmember("app/ring").linkname == "ring"


def test_a_task_with_steps_beyond_the_roster_comes_without_requests(tmp_path: Path) -> None:
    for task in (ROSTER[0], "999-steps"):
        harbor_task(tmp_path / "copy" / task)
    (tmp_path / "copy/999-steps/task.toml").write_text('[[steps]]\nname = "one"\n')
    told = {"steps/one/instruction.md": "Go.\n", "steps/one/tests/test.sh": "true\n"}
    files(tmp_path / "copy/999-steps", told)
    pack, _ = imported(FAMILY, tmp_path / "copy", tmp_path, beyond=True)
    entry = pack.task("999-steps").entry
    assert (entry.steps, entry.requests) == (True, None)


def test_a_broken_task_beyond_the_roster_is_not_missing_from_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for task in (ROSTER[0], "999-other"):
        harbor_task(tmp_path / "copy" / task)
    (tmp_path / "copy/999-other/instruction.md").write_bytes(b"\xff")
    assert (
        main(["--home", str(tmp_path), "packs", "import", FAMILY, "--from", str(tmp_path / "copy"), "--dry-run"]) == 0
    )
    assert f"1 of the roster's {len(ROSTER)} tasks found" in capsys.readouterr().out


def test_a_directory_without_tasks_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="holds no Harbor task directory"):
        importer_of(FAMILY).find(tmp_path, load_pack(FAMILY).manifest, {})


def test_a_task_too_large_to_be_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("task_packs.importers.trees.FILES_AT_MOST", 3)
    harbor_task(tmp_path / "a")
    with pytest.raises(PackError, match="holds more than 3 files"):
        copy_tree(tmp_path / "a", tmp_path / "b")


def zipped(path: Path, names: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "c:x", "a\\..\\x"])
def test_an_archive_that_leads_out_of_itself_is_refused(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "a.zip", {name: b"x"})
    tarred = tmp_path / "a.tar"
    with tarfile.open(tarred, "w") as tar:
        tar.addfile(tarfile.TarInfo(name))
    for one in (archive, tarred):
        with pytest.raises(PackError, match="which leads out of it"):
            unpack_archive(one, tmp_path / "out")
    assert not (tmp_path / "x").exists()


def test_an_archive_bomb_is_stopped_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("task_packs.importers.trees.RATIO_FLOOR_BYTES", 1 << 20)
    archive = zipped(tmp_path / "a.zip", {"big": bytes(64 << 20)})
    with pytest.raises(PackError, match="an archive bomb"):
        unpack_archive(archive, tmp_path / "out")
    assert (tmp_path / "out/big").stat().st_size < 32 << 20


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_an_archive_with_links_or_devices_is_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        entry = tarfile.TarInfo("x")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(PackError, match=r"is a link|is neither file"):
        unpack_archive(tmp_path / "a.tar", tmp_path / "out")


def test_half_an_archive_is_one_sentence(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", {"x": os.urandom(4096)})
    (tmp_path / "b.zip").write_bytes(whole.read_bytes()[:2000])
    with pytest.raises(PackError, match=r"b\.zip: is neither|cannot be unpacked"):
        unpack_archive(tmp_path / "b.zip", tmp_path / "out")
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
