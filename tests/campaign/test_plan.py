"""Plan files: read in full, hashed canonically, and every mistake one sentence that names file and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agenttime_tui.campaign.machine import MachineConfig, merge, parse_memory_bytes
from agenttime_tui.campaign.plan import Plan, load_plan, make_plan, parse_plan
from agenttime_tui.errors import UserError
from agenttime_tui.protocols.duration import WORDING
from agenttime_tui.toml_file import toml_text
from tests.campaign.plans import TOML, small


def refused(text: str) -> list[str]:
    """The sentences with which this plan is refused."""
    with pytest.raises(UserError) as caught:
        parse_plan(text, "plan p.toml")
    assert caught.value.code == 2
    return str(caught.value).splitlines()


def changed(old: str, new: str) -> str:
    assert old in TOML
    return TOML.replace(old, new)


def test_the_documented_plan_reads_whole() -> None:
    plan = parse_plan(TOML)
    assert (plan.name, plan.studies, plan.order, plan.seed) == (
        "pilot-3", ("duration", "natural", "forecast"), "shuffled", 1,
    )  # fmt: skip
    astra, punctual = plan.agents
    assert (astra.model, astra.effort, astra.version, astra.account) == ("gpt-6-astra", "max", "0.153.4", "openai-1")
    assert punctual.options == {"persona": "punctual"}
    assert plan.tasks[0].requests_ms == (300_000, 1_200_000, 4_800_000)
    assert plan.takers(plan.tasks[0]) == plan.agents
    assert plan.takers(plan.tasks[1]) == (punctual,)
    assert plan.accounts["openai-1"].max_running == 10
    machine = plan.machines["hel1-a"]
    assert (machine.host, machine.slots, machine.memory_bytes, machine.tags) == (
        "root@192.0.2.7", 17, 128 * 1024**3, ("kvm",),
    )  # fmt: skip
    assert plan.machines["local"] == MachineConfig()


def test_defaults() -> None:
    plan = make_plan({"name": "x", "studies": ["natural"], "agent": [{"id": "a", "harness": "scripted"}],
                      "tasks": [{"pack": "demo"}]})  # fmt: skip
    assert (plan.order, plan.seed, plan.repeats, plan.wording, plan.cutoff_ms) == ("shuffled", 1, 1, None, None)
    assert plan.study.retrospection.answers == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"duration", ', '"duratoin", ', 'studies number 1 is "duratoin": use one of'),
        ('harness = "codex"', 'harness = "codx"', 'agent "astra": harness is "codx": use one of'),
        ('effort = "max"', 'efort = "max"', 'unknown key agent "astra": efort: did you mean "effort"?'),
        ("seed = 1", "sed = 1", 'unknown key sed: did you mean "seed"?'),
        ("seed = 1", "seed = true", "seed is true: it should be a valid integer"),
        ("repeats = 1", "repeats = 0", "repeats is 0: it should be greater than or equal to 1"),
        ('variant = "paper"', 'wariant = "paper"', 'unknown key study.forecast.wariant: did you mean "variant"?'),
        ('"5m"', '"5q"', 'tasks "terminal-bench": requests number 1: duration "5q" has unknown unit "q"'),
        ('"5m"', "5", "requests number 1: 5 is not a duration: write it in quotes with a unit"),
        ('["5m", "20m", "80m"]', '["20m", "5m"]', "list the requests from shortest to longest, each once"),
        ('["5m", "20m", "80m"]', '["5m", "300s"]', "list the requests from shortest to longest, each once"),
        ('["5m", "20m", "80m"]', '["1m", "2m", "3m", "4m"]', "holds 4 requests"),
        ('["5m", "20m", "80m"]', "[]", "holds 0 requests"),
        ('["cad-model"]', "[]", 'tasks "terminal-bench": include: is empty'),
        ('["cad-model"]', '["a", "a"]', '"a" is listed twice'),
        ('["cad-model"]', '"cad-model"', 'include must be a list, not "cad-model"'),
        ('agents = ["punctual"]', 'agents = ["nobody"]', 'tasks of pack "demo" name agent "nobody"'),
        ('id = "punctual"', 'id = "astra"', 'agent id "astra" is used twice'),
        ('id = "punctual"', 'id = "../x"', '"../x" is not a plain name'),
        ('model = "gpt-6-astra"\n', "", 'agent "astra": model is missing: harness "codex" needs one'),
        ("[account.openai-1]", "[account.openai-2]", "add a table [account.openai-1]"),
        ('key_env = "OPENAI_API_KEY"\n', "", "account.openai-1: give exactly one of key_env, token_env and auth_file"),
        ('route = "direct"', 'route = "tor"', "neither direct, openrouter nor a base URL"),
        ('memory = "128G"', 'memory = "128"', 'memory "128" is not a size'),
        ("slots = 17", "slots = 0", "machine.hel1-a.slots is 0"),
        ('engine = "auto"', 'engine = "podman"', 'machine.hel1-a.engine is "podman": use one of'),
        ("[machine.local]", '[machine.local]\nhost = "x"', "machine.local is this machine and takes no host"),
        ('host = "root@192.0.2.7"', 'host = "a b"', '"a b" is not a host'),
        ("[machine.local]", '[machine."a b"]', '"a b" is not a plain name'),
        ('order = "shuffled"', 'order = "random"', 'order is "random": use one of'),
        ('name = "pilot-3"', 'name = ""', "name: must be one line"),
        ('name = "pilot-3"', 'name = "a\\nb"', "name: must be one line"),
        ('name = "pilot-3"', 'wording = "{N} long"\nname = "x"', "wording: wording must hold {N} and {unit}"),
        ('name = "pilot-3"', 'cutoff = "0s"\nname = "x"', "cutoff: duration"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_and_key(old: str, new: str, said: str) -> None:
    (sentence,) = refused(changed(old, new))
    assert sentence.startswith("plan p.toml: ")
    assert said in sentence


def test_several_mistakes_are_all_said_once() -> None:
    sentences = refused("name = 3\nagent = 3\ntasks = [{}]\nfoo = 1\n[machine]\na = 2\n")
    assert sentences == [
        "plan p.toml: name is 3: it should be a valid string",
        "plan p.toml: studies is missing",
        "plan p.toml: agent must be a list, not 3",
        "plan p.toml: tasks number 1: pack is missing",
        "plan p.toml: machine.a must be a table, not 2",
        "plan p.toml: unknown key foo: known keys are name, studies, order, seed, repeats, wording, cutoff, "
        "budget_usd, study, agent, tasks, account, machine",
    ]


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('name = "x"\nstudies = = 3\n')
    with pytest.raises(UserError, match=rf"plan {path}, line 2, column 11: not valid TOML") as caught:
        load_plan(path)
    assert caught.value.code == 2


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = 1\nb = '\xe9'"])
def test_text_that_is_not_utf8_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match="not UTF-8"):
        load_plan(path)


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"plan .*nope\.toml cannot be read: no such file"):
        load_plan(tmp_path / "nope.toml")
    with pytest.raises(UserError, match="cannot be read: is a directory"):
        load_plan(tmp_path)


def test_the_hash_depends_on_content_alone() -> None:
    plan = parse_plan(TOML)
    same = [
        TOML + "# a comment\n",
        changed('"5m", "20m"', '"300s", "0.3333333333333333h"').replace('"0.3333333333333333h"', '"1200s"'),
        changed("slots = 17", "slots = 3"),
        changed("max_running = 10", "max_running = 2"),
        changed('order = "shuffled"\n', ""),
        f'wording = "{WORDING}"\n{TOML}',
        toml_text(plan.model_dump(mode="json", by_alias=True, exclude_none=True)),
    ]
    assert {parse_plan(text).plan_hash for text in same} == {plan.plan_hash}
    other = [
        changed("seed = 1", "seed = 2"),
        changed('effort = "max"', 'effort = "high"'),
        changed('"80m"', '"81m"'),
        changed('persona = "punctual"', 'persona = "early"'),
        f'wording = "Take {{N}} {{unit}}."\n{TOML}',
    ]
    assert len({parse_plan(text).plan_hash for text in other} | {plan.plan_hash}) == len(other) + 1


def test_options_of_a_harness_may_be_any_plain_values() -> None:
    options: dict[str, Any] = {"argv": ["sh", "-c", "true"], "n": 1, "on": True, "f": 0.5, "t": {"a": "b"}}
    assert small(agent=[{"id": "a", "harness": "command", "options": options}]).agent("a").options == options
    (sentence,) = refused(changed('persona = "punctual"', "when = 2026-01-01"))
    assert 'agent "punctual": options.when' in sentence


@pytest.mark.parametrize(("text", "size"), [("512M", 512 << 20), ("1.5T", 3 << 39), ("2g", 2 << 30), ("8GiB", 8 << 30)])
def test_memory_sizes(text: str, size: int) -> None:
    assert parse_memory_bytes(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "1.5", "0G", "1e3M", "1 G"])
def test_wrong_memory_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="memory"):
        parse_memory_bytes(text)


def test_a_plans_machine_table_overrides_only_what_it_sets() -> None:
    registry = {"a": MachineConfig(host="u@a", slots=4, tags=("kvm",)), "b": MachineConfig(host="u@b")}
    plan: Plan = small(machine={"a": {"slots": 2}, "c": {"gpus": 1}})
    merged = merge(registry, plan.machines)
    assert merged["a"] == MachineConfig(host="u@a", slots=2, tags=("kvm",))
    assert merged["b"].host == "u@b"
    assert merged["c"].gpus == 1


def test_a_plan_keeps_the_hash_that_it_had_before_later_keys_came() -> None:
    text = 'name = "p"\nstudies = ["duration", "natural"]\n[[agent]]\nid = "a"\nharness = "scripted"\n'
    plan = parse_plan(text + '[[tasks]]\npack = "demo"\n')
    assert plan.plan_hash == "c67f7603ccce87d773f5630b19fd6cd8d02be9bf894a9cde33cb4913f7e00ff7"
    polled = parse_plan(text + '[[tasks]]\npack = "demo"\n[study.eta]\ninterval = "1s"\n')
    assert polled.plan_hash != plan.plan_hash


def test_the_budget_is_no_part_of_the_hash() -> None:
    plan = parse_plan(TOML)
    assert plan.budget_usd is None
    for text in ("3000", "0.5"):
        said = parse_plan(f"budget_usd = {text}\n{TOML}")
        assert (said.budget_usd, said.plan_hash) == (float(text), plan.plan_hash)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "true", '"3000"', "1e12"])
def test_a_budget_is_a_sum_above_nothing(text: str) -> None:
    (sentence,) = refused(f"budget_usd = {text}\n{TOML}")
    assert sentence.startswith("plan p.toml: budget_usd")
