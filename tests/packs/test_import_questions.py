from __future__ import annotations

import json
from pathlib import Path

import pytest

from task_packs.answers import NotGraded, gpqa_choice, grade_message, read_key
from task_packs.checking.pack import check_pack, grade_in_directory, verify_pack
from task_packs.errors import PackError
from task_packs.grading import grade
from task_packs.importers import importer_of
from task_packs.load import load_pack
from task_packs.lock import read_lock
from tests.packs.copies import files, gpqa_csv, imported, in_tar, json_lines

ROSTER = [task.id for task in load_pack("gpqa-diamond").tasks]


def test_a_table_becomes_tasks_of_the_roster(tmp_path: Path) -> None:
    gpqa_csv(tmp_path / "gpqa_diamond.csv", [*ROSTER, "made-up"])
    pack, brought = imported("gpqa-diamond", tmp_path, tmp_path)
    assert brought.written == ROSTER
    assert check_pack(pack.path) == []
    text = pack.tasks[0].instruction().decode()
    assert text.startswith(f"What is the correct answer to this question: Which one, {ROSTER[0]}?\n\nChoices:\n(A) ")
    assert text.endswith('\n\nFormat your response as follows: "The correct answer is (insert answer here)"')
    assert sorted(line[4:] for line in text.splitlines() if line[:1] == "(") == sorted(
        ["right", "wrong 1", 'wrong "3"', "wrong, 2"]
    )


def test_the_order_of_choices_is_frozen_by_the_first_import(tmp_path: Path) -> None:
    whole = gpqa_csv(tmp_path / "gpqa_diamond.csv", ROSTER)
    first, _ = imported("gpqa-diamond", whole, tmp_path)
    before = {task.id: task.instruction() for task in first.tasks}
    assert len({locked.frozen for locked in read_lock(first.path).values()}) > 3
    shorter = gpqa_csv(tmp_path / "turned.csv", reversed(ROSTER[:9]))
    again, brought = imported("gpqa-diamond", shorter, tmp_path)
    assert sorted(brought.unchanged) == sorted(ROSTER[:9])
    assert {task.id: task.instruction() for task in again.tasks} == before


def test_only_the_right_letter_passes(tmp_path: Path) -> None:
    pack, _ = imported("gpqa-diamond", gpqa_csv(tmp_path / "q.csv", ROSTER[:1]), tmp_path)
    task = pack.tasks[0]
    key = read_key(task.path)
    right = next(line[1] for line in task.instruction().decode().splitlines() if line.endswith(") right"))
    for letter in "ABCD":
        found = grade(pack.grade, grade_message(key, f"The correct answer is ({letter})", pack.path))
        assert (found.status, found.passed) == ("scored", letter == right)
    silent = grade(pack.grade, grade_message(key, None, pack.path))
    assert (silent.status, silent.value, silent.passed) == ("empty", 0.0, False)
    vague = grade(pack.grade, grade_message(key, "I cannot say.", pack.path))
    assert (vague.status, vague.value) == ("scored", 0.0)


@pytest.mark.parametrize(
    ("message", "letter"),
    [
        ("The correct answer is (B)", "B"),
        ("First (A), then. The correct answer is (C).", "C"),
        ("Answer: (D)", "D"),
        ("answer (A)", "A"),
        ("It must be (B) or (C)", "B"),
        ("The answer is (E). answer: (A)", "A"),
        ("The answer is B", None),
    ],
)
def test_the_five_patterns_in_their_order(message: str, letter: str | None) -> None:
    assert gpqa_choice(message) == letter


def test_ready_only_after_no_answer_failed_and_the_reference_passed(tmp_path: Path) -> None:
    gpqa_csv(tmp_path / "q.csv", ROSTER)
    pack, _ = imported("gpqa-diamond", tmp_path / "q.csv", tmp_path)
    assert (pack.standing.state, pack.standing.command) == ("unchecked", "agenttime packs check gpqa-diamond")
    assert verify_pack(pack, grade_in_directory) == []
    assert pack.standing.state == "ready"
    locked = read_lock(pack.path)[ROSTER[0]]
    assert locked.untouched.startswith("empty 0")
    assert locked.reference.startswith("scored 1")


def test_a_task_that_changed_is_to_be_checked_again(tmp_path: Path) -> None:
    gpqa_csv(tmp_path / "q.csv", ROSTER)
    pack, _ = imported("gpqa-diamond", tmp_path / "q.csv", tmp_path)
    verify_pack(pack, grade_in_directory)
    (tmp_path / "q.csv").write_text((tmp_path / "q.csv").read_text().replace(f"Which one, {ROSTER[3]}", "Which now"))
    again, brought = imported("gpqa-diamond", tmp_path / "q.csv", tmp_path)
    assert brought.written == [ROSTER[3]]
    assert again.standing.text == "imported, 1 not checked"


def test_the_agent_sees_neither_key_nor_reference(tmp_path: Path) -> None:
    pack, _ = imported("gpqa-diamond", gpqa_csv(tmp_path / "q.csv", ROSTER[:2]), tmp_path)
    assert in_tar(pack.tasks[0].workspace_tar()) == {"workspace": b""}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.csv", "Record ID,Question\na,b\n", "row 1 has no 'Correct Answer'"),
        ("q.csv", "", "holds no rows"),
        ("q.csv", "Record ID,Question\n1,2,3\n", "row 1 has more fields than the header"),
        ("q.xlsx", "x", "is none of .csv"),
        ("q.jsonl", '{"a": 1}\n{', "line 2 is not JSON"),
        ("q.json", "[1]", "row 1 is not an object"),
    ],
)
def test_a_broken_table_is_one_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(PackError) as caught:
        importer_of("gpqa-diamond").find(tmp_path / name, load_pack("gpqa-diamond").manifest, {})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parquet_without_its_reader_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "q.parquet").write_bytes(b"PAR1")
    with pytest.raises(PackError, match=r"install agenttime\[parquet\]|is not parquet"):
        importer_of("humanitys-last-exam").find(tmp_path / "q.parquet", load_pack("humanitys-last-exam").manifest, {})


def test_hle_takes_questions_without_pictures_and_waits_for_its_judge(tmp_path: Path) -> None:
    ids = [task.id for task in load_pack("humanitys-last-exam").tasks][:2]
    row = {"question": "Which?", "answer": "B", "answer_type": "multipleChoice", "image": ""}
    json_lines(tmp_path / "hle.jsonl", [{"id": ids[0], **row}, {"id": ids[1], **row, "image": "data:image/png;..."}])
    manifest = load_pack("humanitys-last-exam").manifest
    found = importer_of("humanitys-last-exam").find(tmp_path, manifest, {})
    assert found.missing[ids[1]] == "has a picture, and prompts here are text"
    pack, _ = imported("humanitys-last-exam", tmp_path, tmp_path)
    task = pack.task(ids[0])
    assert task.instruction() == b"Which?"
    assert task.system.startswith("Your response should be in the following format:\nExplanation: {")
    with pytest.raises(NotGraded, match="judge has no key"):
        grade_message(read_key(task.path), "Answer: B", pack.path)
    assert any("not_graded (the judge has no key" in fault for fault in verify_pack(pack, grade_in_directory))
    assert pack.standing.state == "unsound"


SCORER = """\
def question_scorer(prediction, gold):
    return (1.0 if prediction == gold else 0.5 if gold in prediction else 0.0), 1.0
"""


def test_assistantbench_is_scored_by_the_users_own_scorer(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    json_lines(copy / "v.jsonl", [{"task": f"Find {n}.", "answer": f"{n} km"} for n in range(33)])
    without, _ = imported("assistantbench", copy, tmp_path / "a")
    with pytest.raises(NotGraded, match=r"scorer of browsergym-assistantbench is not in"):
        grade_message(read_key(without.tasks[0].path), "0 km", without.path)
    files(copy / "pkg", {"evaluation/__init__.py": "", "evaluation/evaluator.py": SCORER})
    pack, brought = imported("assistantbench", copy, tmp_path / "b")
    assert brought.written == [task.id for task in load_pack("assistantbench").tasks]
    task = pack.task("validation:13")
    assert task.instruction() == b"Find 13."
    assert json.loads((task.path / "tests/answer.json").read_text())["correct"] == "13 km"
    for message, percent, passed in (("13 km", 100.0, True), ("about 13 km", 50.0, False), ("no", 0.0, False)):
        found = grade(pack.grade, grade_message(read_key(task.path), message, pack.path))
        assert (found.percent, found.passed) == (percent, passed)
    assert verify_pack(pack, grade_in_directory) == []
