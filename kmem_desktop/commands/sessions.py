"""`kmem sessions`: earlier conversations, restored and summarised."""

import argparse
from dataclasses import asdict

from kmem_desktop.commands import session_life
from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.imports import transcripts
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.sessions.conversations import SummaryFormat
from kmem_desktop.domain.sessions.recall import USUAL_RESTORE_TOKENS, SessionOrder, SessionState

YOU = Origin(OriginKind.COMMAND_LINE, "You")
STATES = (*SessionState, "all")


def add_commands(add: Add) -> None:
    """Add `sessions` with its own commands."""
    sessions = add("sessions", "earlier conversations", _run_list)
    _add_list_options(sessions)
    action = actions_of(sessions)
    _add_list_options(action("list", "list sessions, the last active first", _run_list))
    show = action("show", "what fits of a session into a budget of tokens", _run_show)
    show.add_argument("session", help="its id")
    show.add_argument("--token-budget", type=int, default=USUAL_RESTORE_TOKENS)
    show.add_argument("--whole", action="store_true", help="all of it")
    summary = action("summary", "a summary in the session's own words", _run_summary)
    summary.add_argument("session", help="its id")
    summary.add_argument(
        "--style", choices=list(SummaryFormat), default=SummaryFormat.BULLET_POINTS
    )
    session_life.add_actions(action)
    transcripts.add_actions(action)


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--status", choices=STATES, default="all")
    parser.add_argument("--sort-by", choices=list(SessionOrder), default=SessionOrder.LAST_ACTIVE)


def _run_list(options: argparse.Namespace, profile: Paths) -> int:
    state = None if options.status == "all" else SessionState(options.status)
    sessions = with_services(
        profile,
        lambda services: services.recall.list_sessions(
            limit=options.limit, state=state, order=SessionOrder(options.sort_by)
        ),
    )
    if options.json:
        print_json([asdict(facts) for facts in sessions])
        return 0
    for facts in sessions:
        project = f", {printable(facts.project)}" if facts.project else ""
        print(f"{facts.uuid}  {facts.last_active:%Y-%m-%d %H:%M}  {printable(facts.title)}")
        print(
            f"  {facts.entry_count} turns, {facts.token_count} tokens, {facts.state},"
            f" from {printable(facts.client)}{project}"
        )
    if not sessions:
        print("There are no sessions.")
    return 0


def _run_show(options: argparse.Namespace, profile: Paths) -> int:
    restored = with_services(
        profile,
        lambda services: services.recall.load(
            options.session, budget_tokens=options.token_budget, whole=options.whole
        ),
    )
    if options.json:
        print_json(asdict(restored))
        return 0
    for turn in restored.context.turns:
        print(f"[{turn.position}] {printable(turn.speaker) or turn.role}:")
        for line in turn.text.splitlines():
            print(f"    {printable(line)}")
    left = restored.context.left_out_turns
    print(f"{len(restored.context.turns)} turns shown, {left} left out.")
    return 0


def _run_summary(options: argparse.Namespace, profile: Paths) -> int:
    _, summary = with_services(
        profile,
        lambda services: services.recall.summarise(
            options.session, SummaryFormat(options.style), YOU
        ),
    )
    if options.json:
        print_json(asdict(summary))
        return 0
    for line in summary.text.splitlines():
        print(printable(line))
    return 0
