"""What a task's environment/docker-compose.yaml asks for: services beside the agent's container, in their order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from task_packs.compose.parts import HARMLESS, Beside, Check, MainService, Mount, Sidecar
from task_packs.compose.services import Built, Composed, Copied, Inside, Service, Volume
from task_packs.compose.yaml_text import read_yaml
from task_packs.errors import PackError
from task_packs.harbor.parts import MAIN
from task_packs.harbor.variables import Known, Unfilled, interpolated

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
IDLE = re.compile(r"sleep (infinity|inf|[0-9]+)|tail -f /dev/null")
LOGS = re.compile(r"\$\{?HOST_[A-Z_]+_PATH\b")
"""What Harbor mounts into the agent's container by itself."""
SERVICES_AT_MOST = 100
RANK = ("started", "healthy", "completed")
IMAGE, CONTEXT = "MAIN_IMAGE_NAME", "CONTEXT_DIR"


def read_compose(path: Path, known: Known, cpus: float = 0, memory_bytes: int = 0, image: str = "") -> Composed:
    """What `path` asks for, its variables filled in from `known`; PackError names file and key where it cannot be had.

    `cpus`, `memory_bytes` and `image` are what task.toml says of the agent's own container.
    """
    return _File(path, known).read(cpus, memory_bytes, image)


Model = TypeVar("Model", bound=Beside)


class _File:
    """One compose file while it is read."""

    def __init__(self, path: Path, known: Known) -> None:
        self._path = path
        self._folder = path.parent.resolve()
        self._known = known

    def read(self, cpus: float, memory_bytes: int, image: str) -> Composed:
        raw = {key: value for key, value in read_yaml(self._path).items() if not key.startswith("x-")}
        for key in raw:
            if key not in ("services", "volumes", "networks", "version", "name"):
                raise self._wrong(key, "is not supported")
        services = self._table(raw.get("services"), "services")
        self._networks(raw.get("networks"))
        volumes = self._volumes(raw.get("volumes"))
        started = {
            name: body
            for name, body in services.items()
            if name == MAIN or not self._table(body, f"services.{name}").get("profiles")
        }
        self._check_names(started)
        main = self._main(started.pop(MAIN, None), cpus, memory_bytes, image)
        sidecars = {name: self._sidecar(name, body) for name, body in started.items()}
        self._check_shared({MAIN: main, **sidecars})
        inside = Inside(
            self._env(MAIN, main), main.working_dir, main.user, main.tmpfs, self._copies(MAIN, main),
            self._named(MAIN, main, volumes), None if main.healthcheck is None or main.healthcheck.off
            else main.healthcheck,
        )  # fmt: skip
        ready = self._ready(main, sidecars)
        order = self._order(main, sidecars)
        return Composed(inside, tuple(self._service(name, sidecars[name], volumes, ready[name]) for name in order))

    def _wrong(self, where: str, why: str) -> PackError:
        return PackError(f"{self._path}: {where}: {why}")

    def _table(self, value: Any, where: str) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(where, "must be a mapping")
        return value

    def _check_names(self, started: Mapping[str, Any]) -> None:
        if len(started) > SERVICES_AT_MOST:
            raise self._wrong("services", f"are more than {SERVICES_AT_MOST}")
        seen = {"localhost": "localhost"}
        for name in started:
            if other := seen.get(name.lower()):
                raise self._wrong(f"services.{name}", f"cannot be told from {other}: names of hosts are of one case")
            seen[name.lower()] = name

    def _networks(self, raw: Any) -> None:
        for name, body in self._table(raw, "networks").items():
            if name != "default" or body:
                raise self._wrong(f"networks.{name}", "is not supported: there is one network, the default one")

    def _volumes(self, raw: Any) -> frozenset[str]:
        for name, body in self._table(raw, "volumes").items():
            for key, value in self._table(body, f"volumes.{name}").items():
                if key not in ("name", "labels") and (key, value) != ("driver", "local"):
                    raise self._wrong(f"volumes.{name}.{key}", "is not supported")
        return frozenset(raw or ())

    def _main(self, raw: Any, cpus: float, memory_bytes: int, image: str) -> MainService:
        where = f"services.{MAIN}"
        body = dict(self._table(raw, where))
        mounts = body.get("volumes")
        if isinstance(mounts, list):
            sources = [str(one.get("source") if isinstance(one, dict) else one) for one in mounts]
            body["volumes"] = [one for one, source in zip(mounts, sources, strict=True) if not LOGS.match(source)]
        ours = {IMAGE: IMAGE, CONTEXT: str(self._folder), "CPUS": f"{cpus:g}", "MEMORY": str(memory_bytes)}
        main = self._model(MainService, where, body, ours)
        if told := next((place for place in main.tmpfs if ":" in place), ""):
            raise self._wrong(f"{where}.tmpfs", f"{told!r} says how: the agent's container has its own")
        if main.image not in ("", IMAGE, image):
            raise self._wrong(
                f"{where}.image", "is not supported: the agent's image is that of task.toml or Dockerfile"
            )
        if (build := main.build) is not None and (
            self._below(f"{where}.build.context", build.context) != self._folder
            or (build.dockerfile, build.args, build.target) != ("Dockerfile", {}, "")
        ):
            raise self._wrong(f"{where}.build", "is not supported: the agent's image is made of environment/Dockerfile")
        if main.command and not IDLE.fullmatch(_said(main.command)):
            raise self._wrong(f"{where}.command", "is not supported: the agent's container idles until the session")
        if main.most_cpus not in (0, cpus) or main.most_bytes not in (0, memory_bytes):
            raise self._wrong(where, "limits itself otherwise than task.toml: say it there, in environment")
        return main

    def _sidecar(self, name: str, raw: Any) -> Sidecar:
        where = f"services.{name}"
        if not NAME.fullmatch(name):
            raise self._wrong(where, "is not the name of a service: letters, digits, '.', '_' and '-', at most 63")
        found = self._model(Sidecar, where, self._table(raw, where), {CONTEXT: str(self._folder)})
        if not found.image and found.build is None:
            raise self._wrong(where, "has neither image nor build")
        if found.hostname not in ("", name):
            raise self._wrong(f"{where}.hostname", f"is not supported: its name is {name}")
        return found

    def _model(self, kind: type[Model], where: str, body: dict[str, Any], ours: Mapping[str, str]) -> Model:
        known = self._known.plus(ours)
        wanted = {key: value for key, value in body.items() if key not in HARMLESS}
        try:
            return kind.model_validate(self._filled(where, wanted, known))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join([where, *(str(part) for part in first["loc"])])
            if first["type"] == "extra_forbidden":
                raise self._wrong(place, "is not supported") from None
            raise self._wrong(place, first["msg"].removeprefix("Value error, ")) from None

    def _filled(self, where: str, value: Any, known: Known) -> Any:
        if isinstance(value, str):
            try:
                made = interpolated(value, known)
            except Unfilled as error:
                raise self._wrong(where, str(error)) from None
            if "\0" in made:
                raise self._wrong(where, "holds a zero byte, which no program can be given")
            return made
        if isinstance(value, dict):
            return {key: self._filled(f"{where}.{key}", item, known) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(f"{where}[{number}]", item, known) for number, item in enumerate(value)]
        return value

    def _env(self, name: str, service: Beside) -> tuple[tuple[str, str], ...]:
        """Its variables; one without a value is taken from the operator's environment."""
        return self._pairs(f"services.{name}.environment", service.environment)

    def _pairs(self, where: str, pairs: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
        found = []
        for variable, value in pairs.items():
            try:
                found.append((variable, self._known.value(variable) if value is None else value))
            except Unfilled as error:
                raise self._wrong(where, str(error)) from None
        return tuple(found)

    def _below(self, where: str, text: str) -> Path:
        """A place among the task's own files."""
        inside = text == str(self._folder) or text.startswith(f"{self._folder}/")
        if text.startswith("~") or (text.startswith("/") and not inside):
            raise self._wrong(where, f"{text!r} is a place of the machine, not below environment/")
        try:
            found = (self._folder / text).resolve()
            found.exists()  # a name can be too long to be one
        except (OSError, RuntimeError, ValueError):
            raise self._wrong(
                where, f"{text[:80]!r} is no place below environment/: a ring of links, or no name"
            ) from None
        if not found.is_relative_to(self._folder):
            raise self._wrong(where, f"{text!r} leads out of environment/")
        return found

    def _copies(self, name: str, service: Beside) -> tuple[Copied, ...]:
        return tuple(
            Copied(self._below(f"services.{name}.volumes", mount.source), mount.target)
            for mount in service.volumes
            if mount.type == "bind"
        )

    def _named(self, name: str, service: Beside, volumes: frozenset[str]) -> tuple[Volume, ...]:
        found = []
        for mount in service.volumes:
            if mount.type == "volume" and mount.source:
                if mount.source not in volumes:
                    raise self._wrong(f"services.{name}.volumes", f"{mount.source!r} is not one of the file's volumes")
                found.append(Volume(mount.source, mount.target, mount.read_only))
        return tuple(found)

    def _check_shared(self, services: Mapping[str, Beside]) -> None:
        """Files that one service writes for another need a volume: each gets a copy of its own."""
        binds: list[tuple[str, Mount, Path]] = [
            (name, mount, self._below(f"services.{name}.volumes", mount.source))
            for name, service in services.items()
            for mount in service.volumes
            if mount.type == "bind"
        ]
        for name, mount, place in binds:
            for other, _, there in binds:
                if (
                    not mount.read_only
                    and other != name
                    and (place.is_relative_to(there) or there.is_relative_to(place))
                ):
                    raise self._wrong(
                        f"services.{name}.volumes",
                        f"{mount.source!r} is written, and {other} has it too: mount it read-only, or make it a volume",
                    )

    def _ready(self, main: MainService, sidecars: Mapping[str, Sidecar]) -> dict[str, str]:
        """What is waited for of each: the strongest that anybody asks, and health where it says how it is told."""
        found = {}
        for name, service in sidecars.items():
            check = service.healthcheck
            asked = ["healthy" if check is not None and not check.off else "started"]
            asked += [one.depends_on[name] for one in (main, *sidecars.values()) if name in one.depends_on]
            if "healthy" in asked and check is not None and check.off:
                raise self._wrong(f"services.{name}.healthcheck", "is off, and another service waits for it")
            found[name] = max(asked, key=RANK.index)
        return found

    def _order(self, main: MainService, sidecars: Mapping[str, Sidecar]) -> list[str]:
        for name, service in {MAIN: main, **sidecars}.items():
            for needed, condition in service.depends_on.items():
                where = f"services.{name}.depends_on"
                if needed == MAIN and condition != "started":
                    raise self._wrong(where, f"waits for {MAIN} to be {condition}, which idles until the session")
                if needed not in sidecars and needed != MAIN:
                    raise self._wrong(where, f"{needed!r} is not a service that is started")
        order: list[str] = []
        self._visit(
            MAIN, {MAIN: main.depends_on, **{name: one.depends_on for name, one in sidecars.items()}}, order, ()
        )
        for name, service in sidecars.items():
            needs = {name: [one for one in service.depends_on if one != MAIN]}
            others = {key: [one for one in value.depends_on if one != MAIN] for key, value in sidecars.items()}
            self._visit(name, {**others, **needs}, order, ())
        return [name for name in order if name != MAIN]

    def _visit(self, name: str, needs: Mapping[str, Iterable[str]], order: list[str], way: tuple[str, ...]) -> None:
        if name in way:
            raise self._wrong("services", f"wait for each other: {' -> '.join([*way[way.index(name) :], name])}")
        if name not in order:
            for needed in needs[name]:
                self._visit(needed, needs, order, (*way, name))
            order.append(name)

    def _service(self, name: str, found: Sidecar, volumes: frozenset[str], ready: str) -> Service:
        where = f"services.{name}"
        built = None
        if (build := found.build) is not None:
            context = self._below(f"{where}.build.context", build.context)
            recipe = self._below(f"{where}.build.dockerfile", str(context / build.dockerfile))
            if not recipe.is_file() or not recipe.is_relative_to(context):
                raise self._wrong(f"{where}.build", f"there is no {build.dockerfile} in {build.context}")
            args = self._pairs(f"{where}.build.args", build.args)
            built = Built(context, recipe.relative_to(context).as_posix(), args, build.target)
        places = tuple(
            mount.target + (f":size={mount.tmpfs.size}" if mount.tmpfs and mount.tmpfs.size else "")
            for mount in found.volumes
            if mount.type == "tmpfs"
        )
        check = found.healthcheck
        if check is None and ready == "healthy":
            check = Check()
        return Service(
            name, found.image, built, found.command, found.entrypoint, self._env(name, found), found.user,
            found.working_dir, self._copies(name, found), self._named(name, found, volumes), (*found.tmpfs, *places),
            found.most_cpus, found.most_bytes, found.shm_size, found.init,
            None if check is None or check.off else check, ready,
        )  # fmt: skip


def _said(command: tuple[str, ...]) -> str:
    """A command without the shell around it."""
    return command[2] if len(command) == 3 and command[1] == "-c" else shlex.join(command)
