from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import task_packs
from task_packs.errors import PackError
from task_packs.manifest import Eta, Manifest, Table, TaskEntry, duration_ms, memory_bytes, read_manifest
from tests.packs.packfile import PACK, write_pack


def test_outputs_are_absolute_places(tmp_path: Path) -> None:
    write_pack(tmp_path, PACK.replace('title = "Small"', 'title = "Small"\noutputs = ["/srv/made"]'))
    assert read_manifest(tmp_path / "pack.toml").outputs == ("/srv/made",)
    for wrong in ("made", "/", "/srv/../etc"):
        write_pack(tmp_path, PACK.replace('title = "Small"', f'title = "Small"\noutputs = ["{wrong}"]'))
        with pytest.raises(PackError, match=r"pack.toml: outputs: .* must be an absolute path below the root"):
            read_manifest(tmp_path / "pack.toml")


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "pack.toml"
    path.write_text(text)
    return path


def test_requests_in_minutes_stay_exact(tmp_path: Path) -> None:
    text = PACK.replace('requests = ["2s", "4s", "8s"]', "requests_minutes = [1.25, 5, 20]")
    assert read_manifest(write(tmp_path, text)).task[0].requests_ms == (75_000, 300_000, 1_200_000)


def test_a_tenth_of_a_minute_is_no_binary_neighbour(tmp_path: Path) -> None:
    text = PACK.replace('requests = ["2s", "4s", "8s"]', "requests_minutes = [0.1, 0.2, 0.3]")
    assert read_manifest(write(tmp_path, text)).task[0].requests_ms == (6_000, 12_000, 18_000)


@pytest.mark.parametrize(
    ("text", "ms"), [("75s", 75_000), ("1.5h", 5_400_000), ("2d", 172_800_000), ("250ms", 250), ("0.05m", 3_000)]
)
def test_durations(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "5", "5 m", "-5m", "5w", "0s", "0.0001s", "1e3s", "５s "])
def test_durations_that_are_none(text: str) -> None:
    with pytest.raises(ValueError):
        duration_ms(text)


def test_sizes() -> None:
    assert memory_bytes("2G") == 2 * 1024**3
    assert memory_bytes("512M") == memory_bytes("0.5g")


REFUSED = {
    "unknown key at the top": ('name = "small"', 'name = "small"\ncolour = 1', "colour: unknown key"),
    "unknown key in a table": ('access = "bundled"', 'access = "bundled"\nlicense = "x"', "source.license: unknown"),
    "unknown key in a task": ('id = "one"', 'id = "one"\nrequest = 1', "task[0].request: unknown key"),
    "missing title": ('title = "Small"\n', "", "title: is missing"),
    "another schema": ("schema = 1", "schema = 2", "schema"),
    "requests that do not ascend": ('["2s", "4s", "8s"]', '["4s", "2s", "8s"]', "task[0]: the three requests must"),
    "two requests": ('["2s", "4s", "8s"]', '["2s", "4s"]', "task[0].requests"),
    "a request without a unit": ('["2s", "4s", "8s"]', '["2", "4s", "8s"]', "task[0]: '2' is not a duration"),
    "no requests": ('requests = ["2s", "4s", "8s"]', "", "give either requests or requests_minutes"),
    "half a millisecond": ('requests = ["2s", "4s", "8s"]', "requests_minutes = [0.00001, 1, 2]", "whole number"),
    "a percentage without bounds": ("bounds = [0, 1]\n", "", "grade: percent needs bounds"),
    "bounds upside down": ("[0, 1]", "[1, 0]", "grade: bounds must be [low, high]"),
    "an open formula": ('"100*reward"', '"reward**2"', "grade: percent"),
    "a condition that is code": ("bounds =", 'error_if = "import os"\nbounds =', "grade: error_if"),
    "an unknown settle": ('id = "one"', 'id = "one"\nsettle = "wait"', "task[0].settle"),
    "text for a number": ("min = 1", 'min = "1"', "grade.pass.min"),
    "truth for a number": ("min = 1", "min = true", "grade.pass.min"),
    "a path out of the pack": ('id = "one"', 'id = "one"\npath = "../x"', "task[0].path: '../x' must be a path inside"),
    "no tasks": ('[[task]]\nid = "one"\nrequests = ["2s", "4s", "8s"]\n', "", "task: is missing"),
    "a task twice": ("[[task]]", '[[task]]\nid = "one"\nrequests = ["1s","2s","3s"]\n[[task]]', "listed twice"),
    "a user copy that is not named": ('"bundled"', '"user-copy"', "source: 'what' must say"),
    "a workspace that shows the solution": (
        "[grade]", '[environment]\nworkspace = "solution"\n[grade]', "environment.workspace: 'solution' would show",
    ),
    "a workspace that is the whole task": (
        "[grade]", '[environment]\nworkspace = "."\n[grade]', "environment.workspace: '.' would show",
    ),
    "a package that is an option": (
        "[grade]", '[image]\nkind = "debian"\npackages = ["--foo"]\n[grade]', "image.packages: '--foo' is not the name",
    ),
    "broken TOML": ("[grade]", "[grade", "is not TOML"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_manifest_is_refused_in_one_sentence_with_file_and_key(tmp_path: Path, case: str) -> None:
    old, new, said = REFUSED[case]
    assert old in PACK
    path = write(tmp_path, PACK.replace(old, new))
    with pytest.raises(PackError) as caught:
        read_manifest(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_directory_without_a_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"pack\.toml: cannot be read: No such file"):
        read_manifest(tmp_path / "pack.toml")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pack.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PackError, match="is not TOML"):
        read_manifest(path)


def documented() -> list[str]:
    """The pack files that the guide shows."""
    guide = Path(task_packs.__file__).with_name("README.md").read_text(encoding="utf-8")
    return re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)


def test_the_small_pack_of_the_guide_is_one(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path, documented()[0]))
    assert manifest.task[0].requests_ms == (300_000, 1_200_000, 4_800_000)


def keys_of(table: type[Table]) -> set[str]:
    """The keys of a table of pack.toml as they are written there."""
    return {field.alias or name for name, field in table.model_fields.items()}


def test_the_guide_has_every_key_and_no_other() -> None:
    shown = tomllib.loads(documented()[1])
    assert shown.keys() == keys_of(Manifest)
    (task,) = shown["task"]
    assert task.keys() | {"requests_minutes", "steps"} == keys_of(TaskEntry)
    assert shown["eta"].keys() == keys_of(Eta)
    for name, field in Manifest.model_fields.items():
        kinds = [kind for kind in (field.annotation, *getattr(field.annotation, "__args__", ())) if kind]
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, Table) and kind is not TaskEntry:
                assert shown[name].keys() == keys_of(kind), name
