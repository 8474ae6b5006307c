from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from agenttime_tui.look.durations import extent
from task_packs.checking.pack import check_pack
from task_packs.load import Pack, find_packs, load_pack

ROSTER = Path(__file__).resolve().parents[2] / ".." / "shared/data/roster.csv"
PASS_RULES = {
    "gpqa-diamond", "humanitys-last-exam", "appworld", "assistantbench", "osworld", "terminal-bench", "programbench",
    "agents-last-exam", "core-bench", "deepswe", "tua-bench",
}  # fmt: skip
RANGES_S = {
    "assistantbench": (18, 75, 1200), "gpqa-diamond": (28, 75, 1200), "humanitys-last-exam": (24, 75, 1200),
    "osworld": (16, 900, 15000), "pptarena": (10, 90, 1500), "paperbench": (3, 300, 12000),
    "programbench": (14, 480, 30000), "sakana-ale-bench": (10, 600, 15000), "tua-bench": (12, 75, 6000),
    "wildclawbench": (10, 60, 2400), "agents-last-exam": (12, 240, 9000), "appworld": (18, 90, 2400),
    "core-bench": (12, 150, 12000), "deepswe": (12, 240, 9000), "terminal-bench": (16, 240, 30000),
    "posttrainbench": (2, 7200, 108000), "metr-public-tasks": (2, 7200, 216000), "yc-bench": (3, 480, 7500),
}  # fmt: skip
"""Tasks, shortest and longest request of each family in seconds."""
PRINTED = {
    "assistantbench": "1.25–20 min", "gpqa-diamond": "1.25–20 min", "humanitys-last-exam": "1.25–20 min",
    "osworld": "15 min–4.2 h", "pptarena": "1.5–25 min", "paperbench": "5 min–3.3 h", "programbench": "8 min–8.3 h",
    "sakana-ale-bench": "10 min–4.2 h", "tua-bench": "1.25 min–1.7 h", "wildclawbench": "1–40 min",
    "agents-last-exam": "4 min–2.5 h", "appworld": "1.5–40 min", "core-bench": "2.5 min–3.3 h",
    "deepswe": "4 min–2.5 h", "terminal-bench": "4 min–8.3 h", "posttrainbench": "2–30 h",
    "metr-public-tasks": "2–60 h", "yc-bench": "8 min–2.1 h",
}  # fmt: skip
"""The same as the study's table of benchmarks prints them."""


def families() -> list[Pack]:
    return [pack for pack in find_packs() if pack.manifest.source.access != "bundled"]


def test_eighteen_families_with_222_tasks_and_666_cells() -> None:
    found = families()
    assert len(found) == 18
    assert sum(len(pack.tasks) for pack in found) == 222
    assert sum(len(task.requests) for pack in found for task in pack.tasks) == 666


def test_the_ranges_of_the_table() -> None:
    found = {}
    for pack in families():
        requests = [ms for task in pack.tasks for ms in task.requests_ms]
        found[pack.family] = (len(pack.tasks), min(requests) / 1000, max(requests) / 1000)
    assert found == RANGES_S


def test_the_ranges_as_the_table_prints_them() -> None:
    assert {name: extent(low, high) for name, (_, low, high) in RANGES_S.items()} == PRINTED
    assert (extent(2, 10), extent(59, 3599.9), extent(3600, 36000)) == ("2–10 s", "59 s–60 min", "1–10 h")


def test_eleven_pass_rules_and_two_without_a_percentage() -> None:
    assert {pack.name for pack in families() if pack.grade.passes} == PASS_RULES
    assert {pack.name for pack in families() if not pack.grade.percent} == {"sakana-ale-bench", "yc-bench"}


@pytest.mark.parametrize("name", sorted(RANGES_S))
def test_a_family_says_what_a_user_brings_and_is_sound(name: str) -> None:
    pack = load_pack(name)
    assert pack.state.startswith("needs your copy of ")
    assert check_pack(pack.path) == []


def test_what_else_a_family_needs() -> None:
    assert load_pack("osworld").state.endswith("; a machine tagged kvm; a key in OPENAI_API_KEY")
    assert load_pack("posttrainbench").state.endswith("; a GPU")
    assert load_pack("gpqa-diamond").manifest.prompt.tools == "clock-only"
    assert load_pack("sakana-ale-bench").task("ahc031").grade.better == "lower"
    assert load_pack("sakana-ale-bench").task("ahc007").grade.better == "higher"


@pytest.mark.shared
def test_the_rosters_are_the_studys() -> None:
    if not ROSTER.exists():
        pytest.skip("the study's roster.csv does not lie beside this checkout")
    with ROSTER.open(newline="") as file:
        wanted = {
            (row["benchmark"], row["task_id"]): tuple(Fraction(row[f"request{n}_s"]) * 1000 for n in (1, 2, 3))
            for row in csv.DictReader(file)
        }
    found = {
        (pack.family, task.id): tuple(map(Fraction, task.requests_ms)) for pack in families() for task in pack.tasks
    }
    assert found == wanted
    whole: dict[str, list[float]] = {}
    for (family, _), requests in wanted.items():
        whole.setdefault(family, []).extend(float(one) / 1000 for one in requests)
    assert {family: extent(min(every), max(every)) for family, every in whole.items()} == PRINTED
