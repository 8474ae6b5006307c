"""`packs images build`: makes a pack's images on a machine ahead of its runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agenttime_tui.campaign.machine import LOCAL
from agenttime_tui.errors import UserError
from agenttime_tui.fleet.images import GRADER, SESSION, Images, Wanted
from agenttime_tui.fleet.visit import visit
from agenttime_tui.look.sanitise import clean
from agenttime_tui.verbs.context import Context
from agenttime_tui.verbs.machines import known_machine
from task_packs.images.of_tasks import has_grader_image
from task_packs.load import Pack, load_pack
from task_packs.task import Task


def build(context: Context) -> int:
    """One image for the pack, or one for each task that brings its own; 3 when some could not be had, 1 when none."""
    pack = load_pack(context.args.pack, context.pack_dirs)
    tasks = with_images(pack)
    more = others(pack)
    if not tasks and not more:
        raise UserError(f"pack {pack.name} {pack.standing.text}: there is no image to make; {pack.standing.command}")
    name = context.args.machine or LOCAL
    made, failed = asyncio.run(_build(context, name, [*((key, task, SESSION) for key, task in tasks.items()), *more]))
    if context.json:
        context.answer({"pack": pack.name, "machine": name, "images": made, "failed": failed})
    else:
        for task, tag in made.items():
            context.say(f"{name}: {tag}" + (f" for {clean(task)}" if task else f" for every task of {pack.name}"))
        for task, why in failed.items():
            context.tell(f"{clean(task or pack.name)}: {clean(why)}")
    return 0 if not failed else 3 if made else 1


def with_images(pack: Pack) -> dict[str, Task]:
    """The tasks whose images are made: the first under the name "" where the pack has one image for all."""
    if pack.image is not None:
        return {"": pack.tasks[0]}
    return {task.id: task for task in pack.tasks if task.present and task.builds}


def others(pack: Pack) -> list[tuple[str, Task, Wanted]]:
    """What else is made beside them: images of separate graders and of services, with the names they go by."""
    found: list[tuple[str, Task, Wanted]] = []
    for task in pack.tasks:
        if task.present and not task.hindrance:
            found += [(f"grader of {task.id}", task, GRADER)] if task.separate and has_grader_image(task) else []
            found += [(f"service {one.name} of {task.id}", task, one) for one in task.composed.services]
    return found


async def _build(
    context: Context, name: str, asked: Sequence[tuple[str, Task, Wanted]]
) -> tuple[dict[str, str], dict[str, str]]:
    settings = context.settings
    images = Images(settings.cache / "images", lambda line: None if context.json else context.say(clean(line)))
    made: dict[str, str] = {}
    failed: dict[str, str] = {}
    async with visit(settings, name, known_machine(settings, name)) as there:
        answer, _ = await there.client.call("probe")
        for key, task, what in asked:
            try:
                made[key] = await images.make(name, there.link, answer["facts"], there.shipped.python, task, what)
            except UserError as error:
                failed[key] = str(error)
    return made, failed
