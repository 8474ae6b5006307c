"""A compose file is understood as compose does, or refused by the one key that cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_packs.compose.parts import Check
from task_packs.compose.reading import read_compose
from task_packs.compose.services import Composed, Copied, Service, Volume
from task_packs.compose.yaml_text import read_yaml
from task_packs.errors import PackError
from task_packs.harbor.variables import Known, Unfilled, interpolated, resolved
from task_packs.surroundings import compose_file, dotenv

ENV = Known({"HOME": "/h", "EMPTY": "", "API_KEY": "of-the-operator"}, {"GIVEN": "g", "TASK_TOKEN": "dummy"})

CHECK = Check.model_validate(
    {"test": ["CMD-SHELL", "curl -f x"], "interval": "90s", "timeout": "2000ms", "start_period": "0.5s", "retries": "5"}
)


def compose(tmp_path: Path, text: str, known: Known = ENV) -> Composed:
    folder = tmp_path / "environment"
    (folder / "api").mkdir(parents=True, exist_ok=True)
    (folder / "api/Dockerfile").write_text("FROM x\n")
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/seed.sql").write_text("select 1;\n")
    if not (folder / "ring").is_symlink():
        (folder / "ring").symlink_to("ring")
    (folder / "docker-compose.yaml").write_text(text)
    return read_compose(folder / "docker-compose.yaml", known, 2, 1 << 30, "pinned:1")


def one(tmp_path: Path, body: str) -> Service:
    """The service `a` of a file that has nothing else, by the lines of its body."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    (found,) = compose(tmp_path, f"services:\n  a:\n    image: i\n{indented}volumes: {{v: {{}}}}\n").services
    return found


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(PackError) as caught:
        compose(tmp_path, text)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}/environment/docker-compose.yaml: ")
    assert "\n" not in said
    return said.removeprefix(f"{tmp_path}/environment/docker-compose.yaml: ")


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        ("command: redis-server --save '60 1' --x", "argv", ("redis-server", "--save", "60 1", "--x")),
        ("command: [sh, -c, 'echo $$X', 1]", "argv", ("sh", "-c", "echo $X", "1")),
        ("command: []", "argv", ()),
        ("command:", "argv", None),
        ("entrypoint: /run it", "entrypoint", ("/run", "it")),
        ("environment: {A: 1, B: true, C: 1.50, D: yes, E: '', F: 2024-01-01}", "env",
         (("A", "1"), ("B", "true"), ("C", "1.5"), ("D", "yes"), ("E", ""), ("F", "2024-01-01"))),
        ("environment: [A=1=2, GIVEN, B=]", "env", (("A", "1=2"), ("GIVEN", "g"), ("B", ""))),
        ("environment: {GIVEN: , HOME: '${HOME}'}", "env", (("GIVEN", "g"), ("HOME", "/h"))),
        ("environment: ['KEY=${API_KEY:-none}', 'T=${TASK_TOKEN}']", "env", (("KEY", "none"), ("T", "dummy"))),
        ("user: 1000", "user", "1000"),
        ("working_dir: /srv", "workdir", "/srv"),
        ("tmpfs: /run:size=1m,mode=1777", "tmpfs", ("/run:size=1m,mode=1777",)),
        ("tmpfs: [/run, /tmp]", "tmpfs", ("/run", "/tmp")),
        ("volumes: [{type: tmpfs, target: /t}]", "tmpfs", ("/t",)),
        ("volumes: [{type: tmpfs, target: /t, tmpfs: {size: 1k}}]", "tmpfs", ("/t:size=1024",)),
        ("environment: {A: 3.14159265, B: 12345678.5}", "env", (("A", "3.14159265"), ("B", "12345678.5"))),
        ("shm_size: 64m", "shm_bytes", 64 << 20),
        ("mem_limit: 1.5gb", "memory_bytes", 3 << 29),
        ("cpus: '0.5'", "cpus", 0.5),
        ("deploy: {resources: {limits: {cpus: '1.5', memory: 512M}}}", "memory_bytes", 512 << 20),
        ("deploy: {resources: {limits: {cpus: 1.5}}}", "cpus", 1.5),
        ("init: true", "init", True),
        ("volumes: ['v:/data', /anonymous]", "volumes", (Volume("v", "/data"),)),
        ("volumes: [{type: volume, source: v, target: /d/, read_only: true}]", "volumes", (Volume("v", "/d", True),)),
        ("ports: ['80:80']\nexpose: [80]\nrestart: always\nlabels: {a: b}\nplatform: linux/amd64\nx-own: 1\n"
         "container_name: c\npull_policy: always\nlogging: {driver: none}\nstop_grace_period: 1s", "init", False),
        ("networks: [default]", "ready", "started"),
        ("networks: {default: }", "ready", "started"),
        ("healthcheck: {test: curl -f x, interval: 1m30s, timeout: 2s, start_period: 500ms, retries: 5}", "check",
         CHECK),
        ("healthcheck: {test: [CMD, true]}", "ready", "healthy"),
        ("healthcheck: {test: [NONE]}", "check", None),
        ("healthcheck: {disable: true}", "ready", "started"),
        ("hostname: a", "name", "a"),
    ],
)  # fmt: skip
def test_what_a_service_says(tmp_path: Path, body: str, field: str, value: object) -> None:
    assert getattr(one(tmp_path, body), field) == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("privileged: true", "services.a.privileged: is not supported"),
        ("devices: [/dev/kvm]", "services.a.devices: is not supported"),
        ("cap_add: [SYS_ADMIN]", "services.a.cap_add: is not supported"),
        ("network_mode: host", "services.a.network_mode: is not supported"),
        ("pid: host", "services.a.pid: is not supported"),
        ("ipc: host", "services.a.ipc: is not supported"),
        ("extra_hosts: ['a:1.2.3.4']", "services.a.extra_hosts: is not supported"),
        ("security_opt: [seccomp=unconfined]", "services.a.security_opt: is not supported"),
        ("secrets: [s]", "services.a.secrets: is not supported"),
        ("configs: [s]", "services.a.configs: is not supported"),
        ("extends: {service: b}", "services.a.extends: is not supported"),
        ("env_file: .env", "services.a.env_file: is not supported"),
        ("gpus: all", "services.a.gpus: is not supported"),
        ("tty: true", "services.a.tty: is not supported"),
        ("deploy: {resources: {reservations: {devices: [{driver: nvidia}]}}}",
         "services.a.deploy.resources.reservations.devices: is not supported"),
        ("deploy: {replicas: 2}", "services.a.deploy.replicas: Input should be 1"),
        ("networks: [back]", "services.a.networks: only the default network is there"),
        ("networks: {default: {aliases: [b]}}", "services.a.networks: only the default network is there"),
        ("hostname: other", "services.a.hostname: is not supported: its name is a"),
        ("volumes: ['/etc:/x']", "services.a.volumes: '/etc' is a place of the machine, not below environment/"),
        ("volumes: ['~/x:/x']", "services.a.volumes: '~/x' is a place of the machine, not below environment/"),
        ("volumes: ['../tests:/x']", "services.a.volumes: '../tests' leads out of environment/"),
        ("volumes: ['./data/../../solution:/x']", "services.a.volumes: './data/../../solution' leads out"),
        ("volumes: ['w:/x']", "services.a.volumes: 'w' is not one of the file's volumes"),
        ("volumes: ['v:x']", "services.a.volumes.0.target: 'x' is not the absolute path"),
        ("volumes: ['v:/']", "services.a.volumes.0.target: '/' is not the absolute path"),
        ("volumes: ['v:/a/../b']", "services.a.volumes.0.target: '/a/../b' is not the absolute path"),
        ("volumes: ['v:/x:shared']", "services.a.volumes: 'v:/x:shared' has a mode that is not supported"),
        ("volumes: [{type: npipe, source: x, target: /x}]", "services.a.volumes.0.type: "),
        ("volumes: 1", "services.a.volumes: Input should be a valid tuple"),
        ("build: ../api", "services.a.build.context: '../api' leads out of environment/"),
        ("build: https://example.org/x.git", "services.a.build: there is no Dockerfile in https://example.org/x.git"),
        ("build: {context: api, dockerfile_inline: FROM x}", "services.a.build.dockerfile_inline: is not supported"),
        ("build: {context: api, dockerfile: ../Other}", "services.a.build: there is no ../Other in api"),
        ("build: {context: api, args: [API_KEY]}", "services.a.build.args: takes API_KEY from your environment"),
        ("environment: [API_KEY]", "services.a.environment: takes API_KEY from your environment: keys do not enter"),
        ("environment: [NOT_THERE]", "services.a.environment: takes NOT_THERE from your environment, where it is not"),
        ("environment: {A: '${API_KEY}'}", "services.a.environment.A: takes API_KEY from your environment: keys do"),
        ("environment: {A: '$NOPE'}", "services.a.environment.A: takes NOPE from your environment, where it"),
        ("environment: {A: '${NOPE:?say it}'}", "services.a.environment.A: needs NOPE in your environment (say it)"),
        ("environment: {A: [1]}", "services.a.environment.A: Input should be a valid string"),
        ("depends_on: [[b]]", "services.a.depends_on: must be a list of names or a table"),
        ("depends_on: {b: [c]}", "services.a.depends_on: b: condition must be one of"),
        (f"mem_limit: {'9' * 400}", "services.a.mem_limit: is more than a machine can have"),
        (f"healthcheck: {{test: x, interval: {'9' * 400}s}}", "services.a.healthcheck.interval: '999"),
        ("healthcheck: {test: x, interval: 1us}", "services.a.healthcheck.interval: '1us' is not from 1ms to 24h"),
        ("healthcheck: {test: ''}", "services.a.healthcheck.test: must be text, or a list"),
        ("healthcheck: {test: [CMD-SHELL, a, b]}", "services.a.healthcheck.test: has more than one text"),
        ("cpus: inf", "services.a.cpus: Input should be a finite number"),
        ("working_dir: srv", "services.a.working_dir: 'srv' is not an absolute path"),
        ("tmpfs: run", "services.a.tmpfs: 'run' is not the absolute path"),
        ("volumes: [{type: volume, source: v, target: /x, volume: {subpath: s}}]",
         "services.a.volumes.0.volume.subpath: is not supported"),
        ("volumes: ['v:/x', './data:/x/']", "services.a.volumes: more than one of them is at /x"),
        ("volumes: ['./ring:/x']", "services.a.volumes: './ring' is no place below environment/"),
        (f"volumes: ['./{'a' * 5000}:/x']", "services.a.volumes: './aaa"),
        ('environment: {A: "b\\0c"}', "services.a.environment.A: holds a zero byte"),
        ("environment: {A=B: c}", "services.a.environment: 'A=B' is not the name of a variable"),
        ("environment: ['=c']", "services.a.environment: '' is not the name of a variable"),
        ("environment: 5", "services.a.environment: Input should be a valid dictionary"),
        ("command: 'a \"b'", "services.a.command: No closing quotation"),
        ("command: {a: 1}", "services.a.command: Input should be a valid tuple"),
        ("healthcheck: {test: [curl]}", "services.a.healthcheck.test: must be text, or a list that begins with CMD"),
        ("healthcheck: {test: [CMD]}", "services.a.healthcheck.test: names no command"),
        ("healthcheck: {test: x, interval: 5}", "services.a.healthcheck.interval: 5 is not a time such as 2s"),
        ("healthcheck: {test: x, retries: -1}", "services.a.healthcheck.retries: Input should be greater"),
        ("mem_limit: lots", "services.a.mem_limit: 'lots' is not a size such as 64m"),
        ("depends_on: [b]", "services.a.depends_on: 'b' is not a service that is started"),
        ("depends_on: [a]", "services: wait for each other: a -> a"),
        ("depends_on: {b: {condition: soon}}", "services.a.depends_on: b: condition must be one of service_started"),
        ("depends_on: {main: {condition: service_healthy}}", "services.a.depends_on: waits for main to be healthy"),
    ],
)  # fmt: skip
def test_what_a_service_does_not_get_is_refused_by_its_name(tmp_path: Path, body: str, said: str) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"services:\n  a:\n    image: i\n{indented}volumes: {{v: {{}}}}\n"
    assert refused(tmp_path, text).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: [a]", "services: must be a mapping"),
        ("services: {a: x}", "services.a: must be a mapping"),
        ("services: {a: {}}", "services.a: has neither image nor build"),
        ("services: {'a b': {image: x}}", "services.a b: is not the name of a service"),
        ("include: [other.yaml]", "include: is not supported"),
        ("secrets: {a: {file: x}}", "secrets: is not supported"),
        ("networks: {back: {}}", "networks.back: is not supported"),
        ("networks: {default: {internal: true}}", "networks.default: is not supported"),
        ("volumes: {v: {external: true}}", "volumes.v.external: is not supported"),
        ("volumes: {v: {driver: nfs}}", "volumes.v.driver: is not supported"),
        ("services: {main: {privileged: true}}", "services.main.privileged: is not supported"),
        ("services: {main: {image: other}}", "services.main.image: is not supported: the agent's image"),
        ("services: {main: {build: api}}", "services.main.build: is not supported: the agent's image"),
        ("services: {main: {command: serve}}", "services.main.command: is not supported: the agent's container"),
        ("services: {main: {entrypoint: serve}}", "services.main.entrypoint: is not supported"),
        ("services: {main: {mem_limit: 4g}}", "services.main: limits itself otherwise than task.toml"),
        ("services: {main: {depends_on: [a]}, a: {image: x, depends_on: [main]}}",
         "services: wait for each other: main -> a -> main"),
        ("services: {a: {image: x, depends_on: [b]}, b: {image: x, depends_on: [c]}, c: {image: x, depends_on: [a]}}",
         "services: wait for each other: a -> b -> c -> a"),
        ("services: {a: {image: x, depends_on: {b: {condition: service_healthy}}}, "
         "b: {image: x, healthcheck: {disable: true}}}", "services.b.healthcheck: is off, and another service waits"),
        ("services: {a: {image: x, depends_on: [b]}, b: {image: x, profiles: [debug]}}",
         "services.a.depends_on: 'b' is not a service that is started"),
        ("services: {main: {volumes: ['./data:/d']}, a: {image: x, volumes: ['./data/seed.sql:/s:ro']}}",
         "services.main.volumes: './data' is written, and a has it too: mount it read-only"),
        ("services: {main: {profiles: [debug]}}", "services.main.profiles: is not supported"),
        ("services: {main: {tmpfs: ['/t:size=1m']}}", "services.main.tmpfs: '/t:size=1m' says how"),
        ("services: {DB: {image: x}, db: {image: x}}", "services.db: cannot be told from DB"),
        ("services: {localhost: {image: x}}", "services.localhost: cannot be told from localhost"),
        ("services: {" + ", ".join(f"s{n}: {{image: x, depends_on: [s{n + 1}]}}" for n in range(1500)) + "}",
         "services: are more than 100"),
        ("services: {a: {image: x, image: y}}", "is no YAML that can be read: has the key 'image' twice in line 1"),
        ("a: [", "is no YAML that can be read: "),
        ("", "must be a mapping"),
        ("- a", "must be a mapping"),
        ("a: !!python/name:os.system x", "is no YAML that can be read: could not determine a constructor"),
        ("a: &a [*a]", "is no YAML that can be read: "),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_followed_names_the_place(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, text).startswith(said)


def test_what_harbor_says_itself_of_the_agents_container_is_left_to_it(tmp_path: Path) -> None:
    found = compose(
        tmp_path,
        """
        services:
          main:
            image: ${MAIN_IMAGE_NAME}
            build: {context: "${CONTEXT_DIR}"}
            command: [sh, -c, sleep infinity]
            volumes:
              - ${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}
              - {type: bind, source: "${HOST_AGENT_LOGS_PATH}", target: /logs/agent}
            deploy: {resources: {limits: {cpus: "${CPUS}", memory: "${MEMORY}"}}}
            tty: true
            init: true
        """,
    )
    assert found == Composed()


def test_what_a_task_says_of_the_agents_container_is_taken(tmp_path: Path) -> None:
    found = compose(
        tmp_path,
        """
        services:
          main:
            image: pinned:1
            environment: {URL: "http://a:80", G: $GIVEN}
            working_dir: /w
            user: 7
            tmpfs: /scratch
            volumes: ["./data/seed.sql:/etc/seed.sql:ro", "v:/v:ro"]
            healthcheck: {test: [CMD, test, -e, "/a b"]}
        volumes: {v: }
        """,
    ).inside
    assert (found.env, found.workdir, found.user) == ((("URL", "http://a:80"), ("G", "g")), "/w", "7")
    assert found.tmpfs == ("/scratch",)
    assert found.copies == (Copied((tmp_path / "environment/data/seed.sql").resolve(), "/etc/seed.sql"),)
    assert found.volumes == (Volume("v", "/v", True),)
    assert found.check is not None


def test_services_start_after_what_they_wait_for_and_each_is_as_ready_as_anybody_asks(tmp_path: Path) -> None:
    found = compose(
        tmp_path,
        """
        services:
          web: {image: w, depends_on: [api]}
          main: {depends_on: {api: {condition: service_healthy}}}
          api: {build: ./api, depends_on: {seed: {condition: service_completed_successfully}, db: }}
          seed: {image: s, depends_on: {db: {condition: service_healthy}}}
          db: {image: d, healthcheck: {test: pg_isready}}
          debug: {image: x, profiles: [debug], privileged: true}
        """.replace("db: }}", "db: {condition: service_started}}}"),
    ).services
    assert [(one.name, one.ready) for one in found] == [
        ("db", "healthy"), ("seed", "completed"), ("api", "healthy"), ("web", "started"),
    ]  # fmt: skip
    api = found[2]
    assert api.built is not None
    assert (api.built.context.name, api.built.dockerfile) == ("api", "Dockerfile")
    assert api.check == Check(), "somebody waits for its health, which its image tells"


def test_merges_and_own_keys_are_as_yaml_has_them(tmp_path: Path) -> None:
    text = "x-all: &all {image: i, user: a}\nservices:\n  a: {<<: *all, user: b}\n  c: {<<: [*all, {user: z}]}\n"
    assert [(one.image, one.user) for one in compose(tmp_path, text).services] == [("i", "b"), ("i", "a")]


def test_a_bomb_of_aliases_or_merges_does_not_go_off(tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    levels = [f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 20)]
    path.write_text("\n".join(["b0: &b0 [x, x]", *levels]))
    with pytest.raises(PackError, match="unfolds to more"):
        read_yaml(path)
    merges = [f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 9)}]}}" for n in range(1, 20)]
    path.write_text("\n".join(["b0: &b0 {x: y}", *merges]))
    assert read_yaml(path)["b19"] == {"x": "y"}
    path.write_text("a: " + "[" * 3000)
    with pytest.raises(PackError, match="nested too deep"):
        read_yaml(path)
    path.write_text("a: " + "x" * 300_000)
    with pytest.raises(PackError, match="larger than 256 KiB"):
        read_yaml(path)


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="ab:-[]{}&*!?|>'\"#% \n\t<,1", max_size=60))
def test_any_text_is_read_or_refused_in_one_sentence(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text)
    said = ""
    try:
        read_compose(path, Known({}))
    except PackError as error:
        said = str(error)
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a$$b", "a$b"), ("$GIVEN-x", "g-x"), ("${GIVEN}x", "gx"), ("${NO:-d}", "d"), ("${NO-d}", "d"),
        ("${EMPTY:-d}", "d"), ("${EMPTY-d}", ""), ("${EMPTY}", ""), ("${NO:-}", ""), ("${NO:-${GIVEN}}", "g"),
        ("${NO:-a:-b}", "a:-b"), ("${GIVEN:+yes}", "yes"), ("${NO:+yes}", ""), ("${EMPTY+yes}", "yes"),
        ("${GIVEN:?no}", "g"), ("${API_KEY:-}", ""), ("${API_KEY:-d}", "d"), ("${TASK_TOKEN}", "dummy"),
        ("${API_KEY:+it is set}", ""), ("plain", "plain"),
    ],
)  # fmt: skip
def test_variables_are_filled_in_as_compose_does_and_keys_never(text: str, value: str) -> None:
    assert interpolated(text, ENV) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("${NO}", "takes NO"), ("$NO", "takes NO"), ("${API_KEY}", "keys do not enter"), ("${NO:?x}", "needs NO"),
        ("${", "has no }"),
        ("${1}", "names no variable"), ("a $ b", "begins no variable"), ("${EMPTY:?}", "needs EMPTY"),
        ("${API_KEY:?must}", "keys do not enter"), ("${a:-" * 12 + "}" * 12, "nests its variables"),
    ],
)  # fmt: skip
def test_a_variable_that_cannot_be_filled_in_says_why(text: str, said: str) -> None:
    with pytest.raises(Unfilled, match=said):
        interpolated(text, ENV)


@pytest.mark.parametrize(
    ("text", "value"),
    [("${HOME}", "/h"), ("${NO:-d}", "d"), ("${EMPTY:-d}", ""), ("x ${HOME}", "x ${HOME}"), ("$HOME", "$HOME")],
)
def test_a_value_of_task_toml_is_filled_in_where_it_is_a_variable_as_a_whole(text: str, value: str) -> None:
    assert resolved(text, ENV) == value


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "token", "DB_PASSWORD", "AWS_SECRET", "AUTH_HEADER", "DB_PASS", "DB_PWD"]
)
def test_names_of_keys_are_known(name: str) -> None:
    with pytest.raises(Unfilled, match="keys do not enter"):
        resolved(f"${{{name}}}", Known({name: "x"}))


@pytest.mark.parametrize("name", ["MAX_TOKENS", "AUTHOR", "KEYBOARD", "TOKENIZER", "KEYWORDS", "PWD", "PASSED"])
def test_names_that_only_sound_like_keys_are_not(name: str) -> None:
    assert resolved(f"${{{name}}}", Known({name: "x"})) == "x"


def test_one_compose_file_is_meant_and_it_is_one_of_the_tasks_own(tmp_path: Path) -> None:
    folder = tmp_path / "environment"
    folder.mkdir()
    assert compose_file(tmp_path) is None
    (folder / "docker-compose.yml").write_text("services: {}\n")
    assert compose_file(tmp_path) == folder / "docker-compose.yml"
    (folder / "docker-compose.yaml").symlink_to("nowhere")
    with pytest.raises(PackError, match=r"docker-compose.yml: lies beside docker-compose.yaml"):
        compose_file(tmp_path)
    (folder / "docker-compose.yml").unlink()
    with pytest.raises(PackError, match=r"docker-compose.yaml: is no file below environment/"):
        compose_file(tmp_path)
    (folder / "docker-compose.yaml").unlink()
    (tmp_path / "elsewhere.yaml").write_text("services: {}\n")
    (folder / "docker-compose.yaml").symlink_to("../elsewhere.yaml")
    with pytest.raises(PackError, match=r"docker-compose.yaml: is no file below environment/"):
        compose_file(tmp_path)


def test_a_file_of_variables_is_read_whatever_quotes_it_leaves_open(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=b\\\nB=\"it's\"\nC='x y' # no\nD=\"open\nHOME=/other\nAPI_KEY=own\n")
    assert dotenv(tmp_path, ENV) == {"A": "b\\", "B": "it's", "C": "x y", "D": '"open', "API_KEY": "own"}
