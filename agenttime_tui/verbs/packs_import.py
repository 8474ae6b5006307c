"""`packs import`: a family's tasks out of the user's own copy, first to look at, then to keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from agenttime_tui.errors import UserError
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.context import Context
from task_packs.importers import Found, importer_of, manual
from task_packs.importers.bring import bring, chosen
from task_packs.load import Pack, load_pack
from task_packs.lock import read_lock

LISTED_AT_MOST = 12


def import_pack(context: Context) -> int:
    """Looks through the copy and writes what the roster asks for; 3 when some tasks could not be taken, 1 when none."""
    args = context.args
    pack = load_pack(args.family)
    if pack.manifest.source.access == "bundled":
        raise UserError(f"pack {pack.name} comes with the app: there is nothing to import", 2)
    if args.source is None:
        _by_hand(context, pack)
        return 0
    source = args.source.expanduser()
    if not source.exists():
        raise UserError(f"{source} does not exist: name your copy of {pack.manifest.source.what} with --from", 2)
    dest = context.settings.home / "packs" / pack.name
    frozen = {task: locked.frozen for task, locked in read_lock(dest).items() if locked.frozen}
    found = importer_of(pack.name).find(source, pack.manifest, frozen)
    tasks = chosen(found, pack.manifest, args.task or (), args.all)
    beyond = len({task.id for task in found.tasks} - {entry.id for entry in pack.manifest.task})
    if not context.json:
        _report(context, found, [entry.id for entry in pack.manifest.task], beyond, str(source))
        pin = pack.manifest.source.commit
        if re.fullmatch(r"[0-9a-f]{40}", found.commit) and pin and not found.commit.startswith(pin):
            context.say(f"  this copy is at {found.commit[:7]}, the study's tasks are from {pin}")
    if args.dry_run or not tasks:
        _answer(context, pack.name, found, [task.id for task in tasks], dest if tasks else None, dry=True)
        if not context.json:
            context.say(f"nothing was written; without --dry-run {len(tasks)} of these go to {dest}")
        return 0 if tasks else 1
    brought = bring(found, pack.manifest, dest, tasks, _said(context))
    done = {"written": brought.written, "unchanged": brought.unchanged, "refused": brought.refused}
    _answer(context, pack.name, found, [task.id for task in tasks], dest, dry=False, done=done)
    if not context.json:
        context.say(
            f"{len(brought.written)} written, {len(brought.unchanged)} unchanged, {len(brought.refused)} refused, "
            f"in {dest}; next: agenttime packs check {pack.name}"
        )
    if not brought.refused:
        return 0
    return 3 if brought.written or brought.unchanged else 1


def _report(context: Context, found: Found, roster: list[str], beyond: int, source: str) -> None:
    commit = f", {found.commit}" if found.commit else ""
    context.say(f"{clean(source)}: {found.form}{commit}")
    more = f"; {beyond} beyond the roster (--all takes them too)" if beyond else ""
    there = sum(task not in found.missing for task in roster)
    context.say(f"{there} of the roster's {len(roster)} tasks found{more}")
    for task, why in list(found.missing.items())[:LISTED_AT_MOST]:
        context.say(f"  missing {clean(task)}: {clean(why)}")
    if len(found.missing) > LISTED_AT_MOST:
        context.say(f"  and {len(found.missing) - LISTED_AT_MOST} more")
    for one in found.tasks:
        if one.note:
            context.say(f"  {clean(one.id)} {clean(one.note)}")
    for note in found.notes:
        context.say(f"  {clean(note)}")


def _answer(
    context: Context,
    pack: str,
    found: Found,
    tasks: list[str],
    dest: Path | None,
    dry: bool,
    done: Mapping[str, object] | None = None,
) -> None:
    if context.json:
        context.answer(
            {
                "pack": pack,
                "form": found.form,
                "commit": found.commit,
                "found": tasks,
                "missing": dict(found.missing),
                "hindrances": {task.id: task.note for task in found.tasks if task.note},
                "notes": list(found.notes),
                "to": str(dest) if dest else None,
                "dry_run": dry,
                **(done or {}),
            }
        )


def _by_hand(context: Context, pack: Pack) -> None:
    text = manual(pack)
    if context.json:
        context.answer({"pack": pack.name, "form": importer_of(pack.name).form, "manual": text})
        return
    for line in text.splitlines():
        context.say(line)


def _said(context: Context) -> Callable[[str], None]:
    return (lambda line: None) if context.json else (lambda line: context.say(clean(line)))
