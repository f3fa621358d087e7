"""`kmem tests`: questions that must find an item."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.retrieval_tests import USUAL_AMONG_FIRST, RetrievalTest, State, TestRun

_STATE_WORDS = {
    State.GREEN: "green",
    State.RED: "RED",
    State.GREY: "grey",
    State.NEW: "new",
}


def add_commands(add: Add) -> None:
    """Add `tests` with its four deeds."""
    tests = add("tests", "questions that must find an item", _list)
    add_deed = actions_of(tests)
    add_deed("list", "list the tests with what they came to last", _list)
    adding = add_deed("add", "keep a test, and run it", _add)
    adding.add_argument("question")
    adding.add_argument("item", help="the id or UUID of the item that must be found")
    adding.add_argument(
        "--within",
        type=int,
        default=USUAL_AMONG_FIRST,
        metavar="N",
        help=f"among the first N results (default {USUAL_AMONG_FIRST})",
    )
    adding.add_argument("--scope", default="", help="project:<name> or repo:<name>")
    removing = add_deed("remove", "remove a test", _remove)
    removing.add_argument("test", help="its number or UUID")
    running = add_deed("run", "run all tests; the exit code is 1 when one is red", _run)
    running.add_argument("tests", nargs="*", metavar="TEST", help="only these, by number or UUID")


def _list(options: argparse.Namespace, profile: Paths) -> int:
    tests = with_services(profile, lambda services: services.retrieval_tests.tests())
    if options.json:
        print_json([_json(test) for test in tests])
        return 0
    _print_tests(tests)
    if not tests:
        print('There are no tests. Keep one by: kmem tests add "question" ITEM-ID')
    return 0


def _add(options: argparse.Namespace, profile: Paths) -> int:
    test = with_services(
        profile,
        lambda services: services.retrieval_tests.add(
            options.question, options.item, scope=options.scope, among_first=options.within
        ),
    )
    if options.json:
        print_json(_json(test))
    else:
        _print_tests([test])
    return 0


def _remove(options: argparse.Namespace, profile: Paths) -> int:
    removed = with_services(profile, lambda services: services.retrieval_tests.remove(options.test))
    if options.json:
        print_json(_json(removed.test))
    else:
        print(f"Removed: {printable(removed.test.question)}")
    return 0


def _run(options: argparse.Namespace, profile: Paths) -> int:
    ran = with_services(
        profile, lambda services: services.retrieval_tests.run_these(options.tests or None)
    )
    if options.json:
        counts = {state.value: ran.count(state) for state in State}
        print_json({**counts, "tests": [_json(test) for test in ran.tests]})
    else:
        _print_tests(ran.tests)
        print(_summary(ran))
    return 1 if ran.count(State.RED) else 0


def _summary(ran: TestRun) -> str:
    named = [(ran.count(state), _STATE_WORDS[state]) for state in State]
    count = len(ran.tests)
    said = ", ".join(f"{number} {words}" for number, words in named if number) or "none"
    return f"{count} {'test' if count == 1 else 'tests'}: {said}."


def _print_tests(tests: Sequence[RetrievalTest]) -> None:
    for test in tests:
        print(f"{test.id:>4}  {_STATE_WORDS[test.state]:<5}  {printable(test.question)}")
        title = printable(test.item.title) or test.item.uuid
        print(f"             must find {title}: {_outcome(test)}")


def _outcome(test: RetrievalTest) -> str:
    if test.state is State.GREY:
        return "it was deleted"
    if test.last is None:
        return "not run yet"
    last = test.last
    now = "not found" if last.place is None else f"place {last.place}"
    words = f"{now}, wanted among the first {test.among_first}"
    if test.before is not None:
        place = test.before.place
        words += f"; before that {'not found' if place is None else f'place {place}'}"
    return words


def _json(test: RetrievalTest) -> dict[str, Any]:
    return {**asdict(test), "state": test.state.value}
