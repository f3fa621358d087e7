"""`kmem sessions programs`, `follow` and `unfollow`: transcripts that other programs keep."""

import argparse
from dataclasses import asdict

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.imports.importing import (
    YOU,
    Telling,
    cancelled_by_ctrl_c,
    print_sessions_report,
)
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.sessions.importing import (
    PROGRAMS,
    SessionImportReport,
    TranscriptKind,
    TranscriptProgram,
)
from kmem_desktop.errors import NotFoundError


def add_actions(action: Add) -> None:
    """Add the actions to `kmem sessions`."""
    action("programs", "programs on this computer that keep transcripts", _run_programs)
    follow = action("follow", "keep a program's transcripts here while they grow", _run_follow)
    follow.add_argument("program", nargs="?", choices=[kind.value for kind in PROGRAMS])
    unfollow = action("unfollow", "keep no more of them; what is here stays", _run_unfollow)
    unfollow.add_argument("program", nargs="?", choices=[kind.value for kind in PROGRAMS])


def _run_programs(options: argparse.Namespace, profile: Paths) -> int:
    programs = with_services(profile, lambda services: services.transcripts.programs())
    if options.json:
        print_json([{**asdict(program), "is_safe": program.is_safe} for program in programs])
        return 0
    for program in programs:
        followed = "kept while they grow" if program.is_followed else "not followed"
        print(f"{program.key}  {printable(program.folder)}")
        print(f"  {program.session_count} sessions, {program.stored_count} here, {followed}")
        if program.expiring_count:
            print(f"  {_expiry(program)}")
    if not programs:
        print("No program on this computer keeps transcripts that kmem knows.")
    return 0


def _expiry(program: TranscriptProgram) -> str:
    expire = "session expires" if program.expiring_count == 1 else "sessions expire"
    words = f"{program.expiring_count} {expire} in the next 7 days"
    if program.is_safe:
        return f"{words}, all safe here."
    return f"{words}; {program.expiring_stored_count} of them are here."


def _run_follow(options: argparse.Namespace, profile: Paths) -> int:
    reports = with_services(profile, lambda services: _followed(services, options))
    if options.json:
        print_json([asdict(report) for report in reports])
    else:
        for report in reports:
            print_sessions_report(report)
        if not any(report.was_cancelled for report in reports):
            print("From now on they are kept here while they grow, whenever kmem runs.")
    return 130 if any(report.was_cancelled for report in reports) else 0


async def _followed(services: Services, options: argparse.Namespace) -> list[SessionImportReport]:
    chosen = [TranscriptKind(options.program)] if options.program else []
    programs = chosen or [program.key for program in await services.transcripts.programs()]
    if not programs:
        raise NotFoundError("No program on this computer keeps transcripts that kmem knows.")
    reports: list[SessionImportReport] = []
    telling = Telling(is_on=not options.json)
    with cancelled_by_ctrl_c() as cancel:
        try:
            for program in programs:
                report = await services.transcripts.follow(
                    program, YOU, tell=telling.tell, cancel=cancel
                )
                reports += [report] if report else []
        finally:
            telling.end()
    return reports


def _run_unfollow(options: argparse.Namespace, profile: Paths) -> int:
    programs = [TranscriptKind(options.program)] if options.program else list(PROGRAMS)

    async def work(services: Services) -> None:
        for program in programs:
            await services.transcripts.follow(program, YOU, on=False)

    with_services(profile, work)
    if options.json:
        print_json({"follows": False, "programs": programs})
    else:
        print("They are no longer followed; what is here stays.")
    return 0
