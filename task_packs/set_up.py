"""What runs in a task's environment before its session: the program that prepares, then the checks of its health."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from task_packs.harbor.parts import Healthcheck
from task_packs.harbor.task import dockerfile_entrypoint
from task_packs.harbor.variables import NAME
from task_packs.surroundings import container_env, health_checks
from task_packs.task import Task

PREPARE_S = 1800.0

SET_UP = r"""
while [ "$1" != -- ]; do export "$1"; shift; done; shift
while [ "$1" != -- ]; do
  sh -c "$1" </dev/null >/dev/null 2>&1 &
  sleep "$2"
  if ! kill -0 $! 2>/dev/null; then wait $! || { echo "the image's ENTRYPOINT ended: $1" >&2; exit 1; }; fi
  shift 2
done; shift
n=0
while [ "$1" != -- ]; do
  n=$((n + 1))
  eval "command$n=\$1 every$n=\$2 limit$n=\$3 grace$n=\$4 early$n=\$5 times$n=\$6"
  shift 6
done; shift
[ $# = 0 ] || "$@" || exit
up() { read -r now _ </proc/uptime; now=${now%%.*}; }
tried() { if command -v timeout >/dev/null; then timeout "$limit" sh -c "$1" 2>&1; else sh -c "$1" 2>&1; fi; }
i=0
while [ $i -lt $n ]; do
  i=$((i + 1))
  eval "command=\$command$i every=\$every$i limit=\$limit$i grace=\$grace$i early=\$early$i times=\$times$i"
  up; began=$now failed=0
  until said=$(tried "$command"); do
    up
    if [ $((now - began)) -lt "$grace" ]; then sleep "$early"; continue; fi
    failed=$((failed + 1))
    if [ $failed -ge "$times" ]; then
      echo "the task's health check failed $failed times: $command: $said" >&2
      exit 1
    fi
    sleep "$every"
  done
done
"""
"""Variables up to --, what the image starts and how long it is given up to --, health checks of six words each up to
--, and the program that prepares, which comes before them."""
STARTING_S = 2
"""How long what an image starts by itself is let alone, as nothing says when it is ready."""


def set_up_argv(task: Task, prepare: str, known: Mapping[str, str]) -> list[str]:
    """What runs as root before the session; empty where nothing need be. `prepare` is the place of prepare.sh."""
    checks = health_checks(task)
    argv = task.prepare_argv(prepare) if prepare else []
    entry = _entrypoint(task)
    if not checks and not argv and not entry:
        return []
    env = {name: value for name, value in container_env(task, known).items() if NAME.fullmatch(name)}
    if not checks and not env and not entry:
        return argv
    given = [f"{name}={value}" for name, value in env.items()]
    told = [word for check in checks for word in _words(check)]
    return ["/bin/sh", "-c", SET_UP, "sh", *given, "--", *entry, "--", *told, "--", *argv]


def _entrypoint(task: Task) -> list[str]:
    """The ENTRYPOINT of the task's own Dockerfile, as Harbor starts it, and the time it is given; else nothing.

    The session's container idles by a program of ours, so that it is started beside that.
    """
    if not task.builds or task.harbor.image:
        return []
    argv = dockerfile_entrypoint(task.path / "environment/Dockerfile")
    return [shlex.join([*argv, "sh", "-c", "sleep 2147483647"]), str(STARTING_S)] if argv else []


def set_up_s(task: Task) -> float:
    """How long it may take."""
    checks = health_checks(task)
    most_s = sum(one.start_period_s + one.retries * (one.interval_s + one.timeout_s) + 60 for one in checks)
    return most_s + (PREPARE_S if task.prepares else 60)


def _words(check: Healthcheck) -> list[str]:
    limit_s, grace_s = max(1, round(check.timeout_s)), round(check.start_period_s)
    every_s, early_s = f"{check.interval_s:g}", f"{check.start_interval_s:g}"
    return [check.command, every_s, str(limit_s), str(grace_s), early_s, str(check.retries)]
