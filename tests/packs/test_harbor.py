from __future__ import annotations

from pathlib import Path

import pytest

from task_packs.errors import PackError
from task_packs.harbor.parts import Artifact, GraderPlace, Healthcheck, Hook, McpServer
from task_packs.harbor.task import (
    dockerfile_entrypoint,
    dockerfile_workdir,
    hindrance,
    read_instruction,
    read_task_toml,
)


def instruction(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "instruction.md"
    path.write_bytes(data)
    return read_instruction(path)


@pytest.mark.parametrize(
    ("native", "delivered"),
    [
        (b"Do it.\n", "Do it.\n"),
        (b"<!-- x-canary GUID 1 -->\n\n\nDo it.\n", "Do it.\n"),
        (b"# terminal CANARY string\n<!-- canary -->\n \nDo it.", "Do it."),
        (b"Do it.\n# canary later stays\n", "Do it.\n# canary later stays\n"),
        (b"# canary\r\n\r\nDo it.\r\nNow.\r\n", "Do it.\nNow.\n"),
        (b"# A heading\n\nText", "# A heading\n\nText"),
        (b"\n\nText", "Text"),
    ],
)
def test_an_instruction_is_delivered_as_harbor_does(tmp_path: Path, native: bytes, delivered: str) -> None:
    assert instruction(tmp_path, native) == delivered


def test_an_instruction_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"instruction.md: is not UTF-8 at byte 2"):
        instruction(tmp_path, b"ab\xff")


def toml(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "task.toml"
    path.write_text(text)
    return path


def test_a_current_task_file(tmp_path: Path) -> None:
    found = read_task_toml(
        toml(
            tmp_path,
            """
            schema_version = "1.4"
            something_new = true
            [agent]
            timeout_sec = 10800
            user = "agent"
            [verifier]
            timeout_sec = 30.5
            env = { MODE = "strict" }
            [environment]
            cpus = 2
            memory_mb = 2048
            gpus = 1
            network_mode = "no-network"
            workdir = "/work"
            docker_image = "some/image:1"
            [environment.unheard_of]
            x = 1
            """,
        )
    )
    assert (found.schema, found.agent_timeout_s, found.verifier_timeout_s) == ("1.4", 10800.0, 30.5)
    assert (found.cpus, found.memory_bytes, found.gpus) == (2.0, 2 * 1024**3, 1)
    assert (found.network, found.workdir, found.image, found.agent_user) == ("none", "/work", "some/image:1", "agent")
    assert found.verifier_env == (("MODE", "strict"),)


def test_legacy_keys(tmp_path: Path) -> None:
    found = read_task_toml(toml(tmp_path, 'version = "1.0"\n[environment]\nmemory = "2G"\nallow_internet = false\n'))
    assert (found.schema, found.memory_bytes, found.network) == ("1.0", 2 * 1024**3, "none")


def test_defaults(tmp_path: Path) -> None:
    found = read_task_toml(toml(tmp_path, ""))
    assert (found.network, found.agent_timeout_s, found.verifier_timeout_s, found.cpus) == ("public", None, 600.0, 0.0)


def test_the_agents_own_network_goes_before_the_environments(tmp_path: Path) -> None:
    text = (
        '[environment]\nnetwork_mode = "public"\n[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.example"]\n'
    )
    found = read_task_toml(toml(tmp_path, text))
    assert (found.network, found.allowed_hosts) == ("allowlist", ("a.example",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[agent]\ntimeout_sec = 'long'", "agent.timeout_sec: 'long' is not a number"),
        ("[agent]\ntimeout_sec = -1", "agent.timeout_sec: -1 is not a number"),
        ("[agent]\ntimeout_sec = nan", "agent.timeout_sec: nan is not a number"),
        ("agent = 1", "agent: must be a table"),
        ("[environment]\nmemory = 'lots'", "environment.memory: 'lots' is not a size"),
        ("[environment]\nnetwork_mode = 'some'", "environment.network_mode: 'some' is not one of no-network"),
        ("[environment", "is not TOML"),
        ("[environment]\nmcp_servers = [{}]", "environment.mcp_servers[0].name: is missing"),
        ("[environment]\nmcp_servers = [1]", "environment.mcp_servers: must be a list of tables"),
        ("[environment]\nmcp_servers = [{ name = 'a' }]", "environment.mcp_servers[0].url: is missing"),
        ("[environment]\nmcp_servers = [{ name = 'a', url = 'ftp://x' }]", "environment.mcp_servers[0].url: 'ftp://x'"),
        ("[environment]\nmcp_servers = [{ name = 'a b', url = 'http://x' }]", "environment.mcp_servers[0].name: 'a b'"),
        ("[environment]\nmcp_servers = [{ name = 'a', transport = 'ws', url = 'http://x' }]",
         "environment.mcp_servers[0].transport: 'ws' is not one of stdio, sse, http, streamable-http"),
        ("[environment]\nmcp_servers = [{ name = 'a', transport = 'stdio' }]",
         "environment.mcp_servers[0].command: is missing"),
        ("[environment]\nmcp_servers = [{ name = 'a', url = 'http://x', headers = { A = \"1\\n2\" } }]",
         "environment.mcp_servers[0].headers: 'A' is not a header of one line"),
        ("[environment]\nmcp_servers = [{ name = 'a', url = 'http://x' }, { name = 'a', url = 'http://y' }]",
         "environment.mcp_servers: there are two of the name 'a'"),
        ("[environment]\nhealthcheck = 'x'", "environment.healthcheck: must be a table"),
        ("[environment.healthcheck]\nretries = 1", "environment.healthcheck.command: is missing"),
        ("[environment.healthcheck]\ncommand = 'x'\ninterval_sec = 'soon'", "environment.healthcheck.interval_sec:"),
        ("[environment]\nenv = ['A=1']", "environment.env: must be a table of text values"),
        ("[environment]\nenv = { A = ['1'] }", "environment.env: must be a table of text values"),
        ("[environment]\nallowed_hosts = 'a'", "environment.allowed_hosts: must be a list of texts"),
        ("[verifier]\nenvironment_mode = 'own'", "verifier.environment_mode: 'own' is not one of shared, separate"),
        ("[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]\ncpus = 1",
         "verifier.environment_mode: 'shared' and [verifier.environment] exclude each other"),
        ("[verifier]\nuser = true", "verifier.user: must be text"),
        ("[verifier]\ncollect = [{ command = 'x', service = '-' }]", "verifier.collect[0].service: '-' is not"),
        ("[verifier]\ncollect = [{ command = 'x', timeout_sec = -1 }]", "verifier.collect[0].timeout_sec: -1 is not"),
        ("artifacts = ['../x']", "artifacts[0].source: '../x' must not go up"),
        ("artifacts = [{ source = 'x', service = 'db' }]", "artifacts[0].source: 'x' of service 'db' must be"),
        ("artifacts = [{ source = '/x', exclude = 'a' }]", "artifacts[0].exclude: must be a list of texts"),
        ('[environment]\nallow_internet = "no"', "environment.allow_internet: 'no' is neither true nor false"),
        ('[environment]\nworkdir = "app"', "environment.workdir: 'app' is not the absolute path"),
        ('[environment]\nworkdir = "/a/../b"', "environment.workdir: '/a/../b' is not the absolute path"),
        ('[environment]\nallowed_hosts = ["a.b"]', "environment.allowed_hosts: stands beside no network_mode"),
        ('[agent]\nallowed_hosts = ["a.b"]', "agent.allowed_hosts: stands beside no network_mode"),
        ('[environment.env]\nA = "b\\u0000"', "environment.env.A: holds a zero byte"),
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.b", "http://x/y"]',
         "environment.allowed_hosts: 'http://x/y' is neither the name of a host nor an address"),
        ('artifacts = ["/"]', "artifacts[0].source: '/' is all of a container"),
        ('artifacts = ["."]', "artifacts[0].source: '.' is all of a container"),
        ('[agent]\nuser = "a b"', "agent.user: 'a b' is not the name or number of a user"),
        ('[environment.env]\n"A=B" = "c"', "environment.env: 'A=B' is no name"),
        ('[environment.env]\n"" = "c"', "environment.env: '' is no name"),
        ('[environment]\nmcp_servers = [{ name = "a", url = "http://" }]', "environment.mcp_servers[0].url: 'http://'"),
        ('[environment]\nmcp_servers = [{ name = "a", url = "http://h:99999" }]', "environment.mcp_servers[0].url: "),
        ('[environment]\nmcp_servers = [{ name = "a", url = "http://a b" }]', "environment.mcp_servers[0].url: "),
        ("a = " + "[" * 5000, "is not TOML: "),
    ],
)  # fmt: skip
def test_wrong_values_name_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = toml(tmp_path, text)
    with pytest.raises(PackError) as caught:
        read_task_toml(path)
    assert str(caught.value).startswith(f"{path}: {said}")


@pytest.mark.parametrize(
    ("text", "workdir"),
    [
        ("FROM a\nWORKDIR /src\nWORKDIR app\n", "/src/app"),
        ("FROM a\nworkdir '/x y'\n", "/x y"),
        ("FROM a AS b\nWORKDIR /old\nFROM c\nRUN true\n", None),
        ("FROM a\nWORKDIR $HOME\n", None),
        ("FROM a\n", None),
    ],
)
def test_where_an_image_starts_by_its_dockerfile(tmp_path: Path, text: str, workdir: str | None) -> None:
    (tmp_path / "Dockerfile").write_text(text)
    assert dockerfile_workdir(tmp_path / "Dockerfile") == workdir
    assert dockerfile_workdir(tmp_path / "none") is None


def test_steps_artifacts_and_a_separate_verifier(tmp_path: Path) -> None:
    text = """
        artifacts = ["model.patch", { source = "/out/a" }]
        [verifier]
        environment_mode = "separate"
        [[verifier.collect]]
        command = "git diff"
    """
    found = read_task_toml(toml(tmp_path, text))
    assert [one.path for one in found.artifacts] == ["/model.patch", "/out/a"]
    assert (found.separate, found.collect) == (True, (Hook("git diff"),))
    assert hindrance(tmp_path) == ""


def test_a_schema_of_another_kind_stops_the_launch(tmp_path: Path) -> None:
    toml(tmp_path, 'schema_version = "2.0"')
    assert hindrance(tmp_path) == "is of schema 2.0 (schema_version in task.toml), and 1.0 to 1.4 are understood"
    toml(tmp_path, 'version = "2.0"')
    assert hindrance(tmp_path) == ""


@pytest.mark.parametrize("text", ["artifacts = 1", "artifacts = [1]", 'steps = [{ title = "x" }]', 'steps = [""]'])
def test_lists_of_the_wrong_shape_name_their_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(PackError, match="must be a list of texts or of tables"):
        read_task_toml(toml(tmp_path, text))


def test_what_stands_around_a_session(tmp_path: Path) -> None:
    found = read_task_toml(
        toml(
            tmp_path,
            """
            artifacts = ["/a/", { source = "/b", service = "db", exclude = ["*.log"], destination = "elsewhere" }]
            [environment]
            env = { A = "${A:-b}", N = 3 }
            skills_dir = "/skills"
            tpu = { type = "v4", topology = "2x2" }
            [[environment.mcp_servers]]
            name = "tools"
            transport = "streamable-http"
            url = "http://tools:8000/mcp"
            headers = { X-Team = "a" }
            [[environment.mcp_servers]]
            name = "local"
            transport = "stdio"
            command = "serve"
            args = ["--all"]
            [[environment.mcp_servers]]
            name = "old"
            url = "http://old:1/sse"
            [environment.healthcheck]
            command = "true"
            start_period_sec = 2
            [verifier]
            user = 1000
            network_mode = "no-network"
            [[verifier.collect]]
            command = "dump"
            service = "db"
            timeout_sec = 7
            user = "db"
            [verifier.environment]
            docker_image = "judge:1"
            workdir = "/judge"
            env = { B = "1" }
            memory = "1G"
            [solution]
            env = { S = "1" }
            """,
        )
    )
    assert found.env == (("A", "${A:-b}"), ("N", "3"))
    assert found.mcp_servers == (
        McpServer("tools", "http", "http://tools:8000/mcp", headers=(("X-Team", "a"),)),
        McpServer("local", "stdio", command="serve", args=("--all",)),
        McpServer("old", "sse", "http://old:1/sse"),
    )
    assert found.healthcheck == Healthcheck("true", start_period_s=2.0)
    assert (found.skills_dir, found.tpu) == ("/skills", True)
    assert found.artifacts == (Artifact("/a"), Artifact("/b", "db", ("*.log",)))
    assert (found.verifier_user, found.verifier_network, found.separate) == ("1000", "none", True)
    assert found.grader == GraderPlace("judge:1", "/judge", (("B", "1"),), memory_bytes=1 << 30)
    assert (found.collect, found.solution_env) == ((Hook("dump", "db", 7.0, "db"),), (("S", "1"),))


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ('FROM a\nENTRYPOINT ["/run", "it"]\n', ("/run", "it")),
        ("FROM a\nEntrypoint /run it\n", ("/bin/sh", "-c", "/run it")),
        ('FROM a AS b\nENTRYPOINT ["/run"]\nFROM c\n', ()),
        ("FROM a\nENTRYPOINT []\n", ()),
        ("FROM a\nCMD x\n", ()),
        ('FROM a\nENTRYPOINT ["/a"]\nENTRYPOINT \\\n# no\n  ["/b"]\n', ("/b",)),
    ],
)
def test_what_an_image_starts_by_its_dockerfile(tmp_path: Path, text: str, argv: tuple[str, ...]) -> None:
    (tmp_path / "Dockerfile").write_text(text)
    assert dockerfile_entrypoint(tmp_path / "Dockerfile") == argv
