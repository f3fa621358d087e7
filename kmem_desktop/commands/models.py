"""`kmem models`: who serves AI models, which one does what, and what left the computer."""

import argparse
import getpass
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.models import (
    AUTOMATIC,
    KeyPlace,
    ModelInfo,
    Program,
    ProgramKind,
    ProviderReport,
    Purpose,
    Sent,
    Snapshot,
    Use,
)
from kmem_desktop.services.models.choices import parse_choice

GIGABYTE = 10**9
MEGABYTE = 10**6
LISTED_MODELS = 8


def add_commands(add: Add) -> None:
    """Add `models` with its own commands."""
    models = add("models", "the AI models that are there, and what they are used for", _run_list)
    action = actions_of(models)
    action("list", "who is there, and what each purpose uses", _run_list)
    use = action("use", "choose a model for a purpose", _run_use)
    use.add_argument("purpose", choices=list(Purpose))
    use.add_argument("choice", help="auto, off, a provider, or provider:model")
    use.add_argument("--send-to", metavar="HOST", default="", help="let texts go to this host")
    test = action("test", "put a real question to a provider", _run_test)
    test.add_argument("provider")
    test.add_argument("model", nargs="?", default="")
    start = action("start", "start a program that is installed", _run_start)
    start.add_argument("program", choices=list(ProgramKind))
    key = action("key", "keep a provider's key in the system's keychain", _run_key)
    key.add_argument("provider")
    key.add_argument("--forget", action="store_true", help="remove it instead")
    server = action("server", "add a server that speaks OpenAI's language", _run_server)
    server.add_argument("name")
    server.add_argument("address", nargs="?", default="", help="its URL; none removes the server")
    action("sent", "what left the computer, when, to whom and how much", _run_sent)


@dataclass(frozen=True, slots=True)
class Models:
    """What is known of models.

    Attributes:
        found: Who is there.
        uses: What serves each purpose.
        key_places: Where the keys of other hosts are, as far as that is known unasked.
        sent: What left the computer last, the newest first.
    """

    found: Snapshot
    uses: dict[Purpose, Use]
    key_places: dict[str, KeyPlace]
    sent: Sequence[Sent]


async def look(services: Services) -> Models:
    """Look who is there now."""
    models = services.models
    found = await models.discover()
    return Models(found, await models.uses(), await models.key_places(), await models.sent())


def models_summary(models: Models) -> dict[str, Any]:
    """Return what `kmem models list` and `kmem doctor` tell programs."""
    return {
        **asdict(models.found),
        "choices": {str(p): asdict(use.choice) for p, use in models.uses.items()},
        "uses": {str(p): asdict(use) for p, use in models.uses.items()},
        "keys": {name: str(place) for name, place in models.key_places.items()},
        "sent": [asdict(each) for each in models.sent],
    }


def print_models(models: Models, *, is_brief: bool = False) -> None:
    """Print what `kmem models list` and `kmem doctor` tell people; briefly: only who is there."""
    snapshot = models.found
    for report in snapshot.providers:
        place = models.key_places.get(report.id, KeyPlace.NOWHERE)
        key = f", key: {place}" if place is not KeyPlace.NOWHERE else ""
        if report.is_available:
            print(f"  {printable(report.name):<13}{_available(report)}{key}")
            _print_list(report.models)
        elif not is_brief:
            print(f"  {printable(report.name):<13}{printable(report.problem)}{key}")
    if is_brief and not any(report.is_available for report in snapshot.providers):
        print("  models       no program serves any; kmem does without")
    for program in snapshot.programs:
        if program.is_installed and not (is_brief and program.is_running):
            print(f"  {program.name:<13}{_installed(program)}")
    for purpose, use in models.uses.items():
        print(f"  {purpose:<13}{printable(_used(use))}")
    for hint in snapshot.hints:
        print(f"  hint         {printable(str(hint))}")
    print(f"  sent         {printable(_sent_in_short(models.sent))}")


def _used(use: Use) -> str:
    words = str(use.choice)
    if use.provider and not use.problem and str(use.choice.provider) == AUTOMATIC:
        words += f": {use.model} of {use.provider}"
    if use.choice.send_to:
        words += f", texts go to {use.choice.send_to}"
    return f"{words} ({use.problem})" if use.problem else words


def _sent_in_short(sent: Sequence[Sent]) -> str:
    if not sent:
        return "nothing has left this computer"
    calls, tokens = sum(each.calls for each in sent), sum(each.tokens for each in sent)
    last = sent[0]
    when = last.minute.astimezone().strftime("%Y-%m-%d %H:%M")
    return f"{calls} calls, about {tokens} tokens; last to {last.host} at {when}"


def _run_list(options: argparse.Namespace, profile: Paths) -> int:
    models = with_services(profile, look)
    if options.json:
        print_json(models_summary(models))
    else:
        print_models(models)
        print(f"Looked in {models.found.took_ms:.0f} ms.")
    return 0


def _run_use(options: argparse.Namespace, profile: Paths) -> int:
    purpose = Purpose(options.purpose)
    wanted = parse_choice(options.choice, options.send_to)
    choice = with_services(profile, lambda services: services.models.choose(purpose, wanted))
    if options.json:
        print_json({"purpose": purpose, **asdict(choice)})
        return 0
    print(f"{purpose} uses {printable(str(choice))}.")
    if choice.send_to:
        print(f"Texts for {purpose} are sent to {printable(choice.send_to)}.")
    if purpose is Purpose.EMBEDDINGS:
        print("Its vectors are made in the background, while kmem runs: one that runs now begins")
        print("within seconds, and compares by the model before until all texts have theirs.")
    return 0


def _run_test(options: argparse.Namespace, profile: Paths) -> int:
    trial = with_services(
        profile, lambda services: services.models.test(options.provider, options.model)
    )
    if options.json:
        print_json(asdict(trial))
    elif trial.is_working:
        print(f"{printable(trial.provider)}:{printable(trial.model)} answered after")
        print(f"{trial.latency_ms:.0f} ms: {printable(trial.answer[:300])}")
    else:
        print(f"It does not work: {printable(trial.problem)}")
    return 0 if trial.is_working else 1


def _run_start(options: argparse.Namespace, profile: Paths) -> int:
    kind = ProgramKind(options.program)
    program = with_services(profile, lambda services: services.models.start_program(kind))
    if options.json:
        print_json(asdict(program))
    elif program.is_running:
        print(f"{program.name} runs already.")
    else:
        print(f"Started: {printable(' '.join(program.command))}")
    return 0


def _run_key(options: argparse.Namespace, profile: Paths) -> int:
    if options.forget:
        with_services(profile, lambda services: services.models.forget_key(options.provider))
        print("The key is forgotten.")
        return 0
    # Never an argument: those stand in the process list and in the shell's history.
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    key = getpass.getpass("Key: ") if is_terminal else sys.stdin.readline()
    place = with_services(profile, lambda services: services.models.set_key(options.provider, key))
    if place is KeyPlace.KEYCHAIN:
        print("The key is kept in the system's keychain.")
        return 0
    print("There is no keychain that keeps the key, and kmem writes it nowhere else.")
    print("Enter it in the window after each start, or set the provider's variable.")
    return 1


def _run_server(options: argparse.Namespace, profile: Paths) -> int:
    async def work(services: Services) -> None:
        if options.address:
            await services.models.add_server(options.name, options.address)
        else:
            await services.models.remove_server(options.name)

    with_services(profile, work)
    print(f"{printable(options.name)} is {'added' if options.address else 'removed'}.")
    return 0


def _run_sent(options: argparse.Namespace, profile: Paths) -> int:
    sent = with_services(profile, lambda services: services.models.sent())
    if options.json:
        print_json([asdict(each) for each in sent])
        return 0
    for each in sent:
        when = each.minute.astimezone().strftime("%Y-%m-%d %H:%M")
        size = f"{each.characters} characters, about {each.tokens} tokens"
        print(f"{when}  {printable(each.host)}  {each.purpose}, {each.calls} calls, {size}")
    if not sent:
        print("Nothing has left this computer.")
    return 0


def _available(report: ProviderReport) -> str:
    parts = [f"{len(report.models)} models", f"{report.latency_ms:.0f} ms", report.address]
    if report.version:
        parts.insert(0, report.version)
    if report.free_vram_bytes:
        parts.append(f"{report.free_vram_bytes / GIGABYTE:.1f} GB of graphics memory free")
    return printable(", ".join(parts))


def _print_list(models: Sequence[ModelInfo]) -> None:
    for model in models[:LISTED_MODELS]:
        print(f"    {printable(model.name)}  {printable(_traits(model))}")
    if len(models) > LISTED_MODELS:
        print(f"    and {len(models) - LISTED_MODELS} more")


def _traits(model: ModelInfo) -> str:
    parts = [str(model.kind)]
    if model.size_bytes:
        parts.append(_size(model.size_bytes))
    if model.quantisation:
        parts.append(model.quantisation)
    if model.context_tokens:
        parts.append(f"reads {model.context_tokens} tokens")
    if model.is_loaded:
        parts.append("loaded")
    if model.vram_bytes:
        parts.append(f"{_size(model.vram_bytes)} of graphics memory")
    if model.remote_host:
        parts.append(f"runs at {model.remote_host}")
    return ", ".join(parts)


def _size(size_bytes: int) -> str:
    if size_bytes >= GIGABYTE:
        return f"{size_bytes / GIGABYTE:.1f} GB"
    return f"{size_bytes / MEGABYTE:.0f} MB"


def _installed(program: Program) -> str:
    state = "runs" if program.is_running else "is installed and does not run"
    return printable(f"{state} ({', '.join(program.evidence)})")
