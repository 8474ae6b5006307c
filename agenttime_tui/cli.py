"""The command line: which verbs there are and what they take. Each verb's code is loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from agenttime_tui import __version__
from agenttime_tui.errors import UserError

DONE, FAILED, USAGE, SOME, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb; the exit code. Bad input is one sentence on stderr and never a traceback."""
    parser = build_parser()
    args = parser.parse_args(argv)
    module, function = args.verb.split(":")
    try:
        from agenttime_tui.verbs.context import Context

        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that knows no Unicode gets what it can show
        verb = getattr(importlib.import_module(f"agenttime_tui.verbs.{module}"), function)
        code = verb(Context(args))
        sys.stdout.flush()
        return int(code or DONE)
    except KeyboardInterrupt:
        print("interrupted; runs on the machines go on", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        return _explain(str(error), code, bool(getattr(args, "json", False)))


def _code_of(error: Exception) -> int | None:
    """The exit code of an error that is the operator's to mend; None for a fault of ours."""
    from store.errors import StoreError
    from task_packs.errors import ImageError, PackError

    if isinstance(error, UserError):
        return error.code
    if isinstance(error, PackError):
        return USAGE
    return FAILED if isinstance(error, StoreError | ImageError) else None


def _explain(sentence: str, code: int, as_json: bool) -> int:
    from agenttime_tui.look.sanitise import lines

    for line in lines(sentence):
        print(f"agenttime: {line}", file=sys.stderr)
    if as_json:
        print(json.dumps({"schema": 1, "error": sentence, "code": code}))
    return code


def build_parser() -> argparse.ArgumentParser:
    """Every verb with its arguments."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--home", type=Path, default=argparse.SUPPRESS, metavar="DIR", help="where everything is kept")
    reads = argparse.ArgumentParser(add_help=False, parents=[common])
    reads.add_argument("--json", action="store_true", help="answer in JSON")

    parser = argparse.ArgumentParser(
        prog="agenttime",
        description="Watches, launches and reviews studies of whether agents control their own runtime.",
        parents=[common],
    )
    parser.add_argument("--version", action="version", version=f"agenttime {__version__}")
    parser.set_defaults(verb="status:opened", json=False, since=None)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    _campaigns(verbs, common, reads)
    _reading(verbs, reads)
    _saying(verbs, reads)
    _machines(verbs, reads)
    _resources(verbs, common, reads)
    return parser


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    parent: argparse.ArgumentParser,
    name: str,
    target: str,
    about: str,
) -> argparse.ArgumentParser:
    made = verbs.add_parser(name, parents=[parent], help=about, description=about[0].upper() + about[1:] + ".")
    made.set_defaults(verb=target)
    return made


def _campaigns(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    common: argparse.ArgumentParser,
    reads: argparse.ArgumentParser,
) -> None:
    verb = _verb(
        verbs, reads, "demo", "demo:demo", "a small real campaign on this machine, from nothing to the results"
    )
    verb.add_argument("--plain", action="store_true", help="plain lines instead of the screens")
    verb.add_argument("--studies", action="store_true", help="the other studies too: forecast, retrospection, ETABench")
    verb = _verb(verbs, reads, "plan", "plan:plan", "the cells a plan makes, with prompts, cutoffs and machines")
    verb.add_argument("plan", type=Path, metavar="PLAN.toml")
    verb = _verb(verbs, common, "run", "run:run", "launch a plan and follow it; ctrl-c stops watching, never the runs")
    verb.add_argument("plan", type=Path, metavar="PLAN.toml")
    verb.add_argument("--plain", action="store_true", help="plain lines instead of the screens")
    verb = _verb(verbs, reads, "launch", "launch:launch", "launch one cell and follow it")
    for flag, about in (
        ("--pack", "pack name"),
        ("--task", "task id"),
        ("--agent", "agent id of the plan, or a persona"),
    ):
        verb.add_argument(flag, required=True, help=about)
    verb.add_argument("--request", help='how long to ask for, as "5m"; not for --study natural')
    verb.add_argument("--study", default="duration", help="duration (default) or natural")
    verb.add_argument("--machine", help="machine name (default: local)")
    verb.add_argument("--plan", type=Path, metavar="PLAN.toml", help="plan with the agent and its account")
    verb.add_argument("--detach", action="store_true", help="return once the machine has taken it")
    verb.add_argument("--dry-run", action="store_true", help="show what would be launched")
    verb.add_argument("--plain", action="store_true", help="plain lines instead of the screens")
    verb = _verb(verbs, common, "watch", "watch:watch", "the screens on a campaign, following its machines")
    verb.add_argument("campaign", nargs="?", metavar="CAMPAIGN")
    verb.add_argument("--plain", action="store_true", help="plain lines instead of the screens")
    verb = _verb(verbs, common, "review", "watch:review", "the same screens offline, over a campaign or release files")
    verb.add_argument("what", nargs="?", metavar="FILE|CAMPAIGN")
    verb.add_argument("--plain", action="store_true", help="a table instead of the screens")
    verb = _verb(verbs, reads, "stop", "stop:stop", "stop one run: TERM, five seconds, KILL; its time is a lower bound")
    verb.add_argument("id", metavar="ID")
    verb.add_argument("--reason", default="", help="why, for the record")
    verb.add_argument("--dry-run", action="store_true", help="say what would be stopped")


def _reading(verbs: argparse._SubParsersAction[argparse.ArgumentParser], reads: argparse.ArgumentParser) -> None:
    verb = _verb(verbs, reads, "status", "status:status", "where every campaign stands and what needs you")
    verb.add_argument("--since", help='also what ended since, as "8h"')
    verb = _verb(verbs, reads, "runs", "runs:runs", "every run with its facts")
    verb.add_argument("--campaign", help="id, prefix or name (default: all)")
    verb = _verb(verbs, reads, "show", "show:show", "one run: facts, siblings, what people said")
    verb.add_argument("id", metavar="ID")
    verb = _verb(verbs, reads, "events", "show:events", "the journal of one run")
    verb.add_argument("id", metavar="ID")
    verb.add_argument("--kind", action="append", help="only records of this kind (may be given again)")
    verb = _verb(verbs, reads, "transcript", "show:transcript", "what one run's agent wrote")
    verb.add_argument("id", metavar="ID")
    verb.add_argument("--raw", action="store_true", help="the captured bytes, exactly")
    verb.add_argument("--stream", choices=("out", "err"), help="stdout or stderr alone (--raw: out)")
    verb = _verb(
        verbs,
        reads,
        "import",
        "imports:import_files",
        "runs, labels and grades from files: run directories, a bundle, tables",
    )
    verb.formatter_class, verb.epilog = argparse.RawDescriptionHelpFormatter, import_help()
    verb.add_argument("files", nargs="+", type=Path, metavar="FILE")
    verb.add_argument("--dry-run", action="store_true", help="read and check, write nothing")
    verb = _verb(verbs, reads, "report", "report:report", "timing error, shares and counts of campaigns")
    verb.add_argument("campaigns", nargs="*", metavar="CAMPAIGN")
    verb.add_argument("--markdown", action="store_true", help="a table for a document")
    verb = _verb(verbs, reads, "compare", "compare:compare", "two agents or campaigns, paired cell by cell")
    verb.add_argument("first", metavar="A", help="CAMPAIGN, AGENT or CAMPAIGN/AGENT")
    verb.add_argument("second", metavar="B")
    verb = _verb(verbs, reads, "search", "search:search", "words in every transcript")
    verb.add_argument("text", nargs="+", metavar="TEXT")
    verb.add_argument("--limit", type=int, default=50, help="at most this many hits")
    verb = _verb(verbs, reads, "export", "export:export", "a campaign's runs, or all of it, as a file")
    verb.add_argument("campaign", nargs="?", metavar="CAMPAIGN")
    verb.add_argument("--format", choices=("release-json", "release-csv", "jsonl", "csv", "bundle"), required=True)
    verb.add_argument("--include-gated", action="store_true", help="also runs of gated families")
    verb.add_argument("--out", type=Path, metavar="FILE")


def import_help() -> str:
    """The files that `import` takes, with the columns of each table; * marks what a table must have."""
    from store.columns import IMPORTED, TABLES

    lines = [
        "files: run directories of a machine (~/.agenttime or parts of it) and bare journals; bundles;",
        "those of the public release; CSV tables, told apart by their columns:",
    ]
    for name, besides in IMPORTED.items():
        needed = f" (needs {besides})" if besides else ""
        columns = ", ".join(column.name + "*" * column.needed for column in TABLES[name])
        lines += ["", f"{name}{needed}", *textwrap.wrap(columns, 100, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join([*lines, "", "* must be there. Further columns are kept. What each means: README.md."])


def _saying(verbs: argparse._SubParsersAction[argparse.ArgumentParser], reads: argparse.ArgumentParser) -> None:
    says = argparse.ArgumentParser(add_help=False, parents=[reads])
    says.add_argument("id", metavar="ID")
    says.add_argument("--dry-run", action="store_true", help="say what would be recorded")
    verb = _verb(verbs, says, "note", "saying:note", "a remark on a run or campaign, under your name")
    verb.add_argument("text", nargs="+", metavar="TEXT")
    verb = _verb(verbs, says, "label", "saying:label", "what the agent did at the end, in your judgement")
    verb.add_argument("label", choices=("working", "rechecked", "slept", "waited", "unclear"), metavar="LABEL")
    verb = _verb(verbs, says, "count", "saying:count", "whether a run counts, against the default")
    verb.add_argument("counts", choices=("yes", "no"))
    verb.add_argument("--reason", help="why, for the record")
    verb = _verb(verbs, says, "grade", "grade:grade", "grade a run here, or a held one, again; earlier grades stay")
    verb.add_argument(
        "--missing", action="store_true", help="ID is a campaign: all its runs that want a grade from here"
    )
    verb.add_argument("--release", action="store_true", help="let a held run go as it is: its slot is free afterwards")
    verb = _verb(verbs, says, "abandon", "saying:abandon", "give up a run that will not come back")
    verb.add_argument("--reason", help="why, for the record")


def _machines(verbs: argparse._SubParsersAction[argparse.ArgumentParser], reads: argparse.ArgumentParser) -> None:
    machines = verbs.add_parser(
        "machines", help="machines: add, check, drain, recover, pull, reap, remove"
    ).add_subparsers(metavar="VERB", required=True)
    _verb(machines, reads, "list", "machines:listed", "every machine and what is known of it")
    verb = _verb(machines, reads, "add", "registry:add", "connect to a machine, accept its host key, keep it")
    verb.add_argument("name", metavar="NAME")
    verb.add_argument("target", nargs="?", metavar="user@host", help="default: NAME is a Host of ~/.ssh/config")
    verb.add_argument("--accept", action="append", metavar="SHA256:..", help="the host key you expect")
    verb.add_argument("--slots", type=int, metavar="N", help="runs at once (default: one per two processors)")
    verb.add_argument("--engine", choices=("auto", "docker", "process"), help="where runs live (default: auto)")
    verb = _verb(machines, reads, "check", "machines:check", "connect and look: engine, Python, clocks, disk")
    verb.add_argument("name", nargs="?", metavar="NAME")
    names = argparse.ArgumentParser(add_help=False, parents=[reads])
    names.add_argument("name", metavar="NAME")
    verb = _verb(machines, names, "drain", "registry:drain", "no new launches on a machine; what runs there goes on")
    verb.add_argument("--off", action="store_true", help="launches again")
    verb.add_argument("--dry-run", action="store_true", help="say what would change")
    verb = _verb(machines, names, "remove", "registry:remove", "forget a machine and its host key")
    verb.add_argument("--dry-run", action="store_true", help="say what would change")
    _verb(machines, names, "recover", "pull:recover", "give runs that lost their supervisor a new one")
    _verb(machines, names, "pull", "pull:pull", "rebuild campaigns, runs and records from a machine")
    verb = _verb(machines, names, "reap", "reap:reap", "remove ended runs that are here whole, and what nothing needs")
    verb.add_argument("--dry-run", action="store_true", help="only list")
    verb.add_argument("--yes", action="store_true", help="do not ask")
    verb = _verb(verbs, reads, "doctor", "doctor:doctor", "whether this computer and the machines are fit")
    verb.add_argument("--machine", metavar="M", help="one machine of the registry (with --script also user@host)")
    verb.add_argument("--script", action="store_true", help="print what to paste on a blank Debian or Ubuntu box")
    verb = _verb(verbs, reads, "backup", "backup:backup", "a consistent copy of the store")
    verb.add_argument("file", type=Path, metavar="FILE")


def _resources(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    common: argparse.ArgumentParser,
    reads: argparse.ArgumentParser,
) -> None:
    verb = _verb(
        verbs, common, "screenshots", "screenshots:screenshots", "every screen as SVG and PNG, from recordings"
    )
    verb.add_argument("scenes", nargs="*", metavar="SCENE", help="names or their beginnings (default: all)")
    verb.add_argument("--out", type=Path, required=True, metavar="DIR")
    packs = verbs.add_parser("packs", help="task packs: list, show, check, import, requests").add_subparsers(
        metavar="VERB", required=True
    )
    _verb(packs, reads, "list", "packs:listed", "every pack, its tasks and its state")
    _verb(packs, reads, "show", "packs:show", "one pack and its tasks").add_argument("pack", metavar="PACK")
    verb = _verb(packs, reads, "check", "packs:check", "whether a pack is sound: untouched fails, solved passes")
    verb.add_argument("pack", metavar="DIR", help="directory with pack.toml, or a pack's name")
    verb = _verb(packs, reads, "import", "packs_import:import_pack", "tasks out of your own copy of a family")
    verb.add_argument("family", metavar="FAMILY")
    verb.add_argument("--from", dest="source", type=Path, metavar="PATH", help="your copy (without it: what it takes)")
    verb.add_argument("--task", action="append", metavar="ID", help="only this task (may be given again)")
    verb.add_argument("--all", action="store_true", help="also tasks that are not in the study's roster")
    verb.add_argument("--dry-run", action="store_true", help="say what was found and what is missing, write nothing")
    images = packs.add_parser("images", help="images of a pack: build").add_subparsers(metavar="VERB", required=True)
    verb = _verb(images, reads, "build", "packs_images:build", "make a pack's images on a machine ahead of its runs")
    verb.add_argument("pack", metavar="PACK")
    verb.add_argument("--machine", metavar="M", help="machine name (default: local)")
    verb = _verb(packs, reads, "requests", "packs_requests:requests", "requests out of a campaign's natural runtimes")
    verb.add_argument("pack", metavar="P")
    verb.add_argument("--from", dest="campaign", required=True, metavar="CAMPAIGN", help="its id, prefix or name")
    agent = verbs.add_parser("agent", help="the remote agent: build, version").add_subparsers(
        metavar="VERB", required=True
    )
    verb = _verb(agent, common, "build", "agent:build", "write the remote agent as one file")
    verb.add_argument("--out", type=Path, required=True, metavar="FILE")
    _verb(agent, reads, "version", "agent:version", "version and hash of the remote agent")


if __name__ == "__main__":
    sys.exit(main())
