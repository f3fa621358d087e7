"""`kmem rules`: the folders that are read, the rules that are kept, and those for a task."""

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.rule_library import (
    MODES,
    IngestionReport,
    RuleAnswer,
    RuleQuery,
    StoredDirective,
    StoredRule,
    SubmittedDocument,
)
from kmem_desktop.domain.rules import LAYER_LABELS, RuleFormat, RuleStatus, Severity, TaskContext

YOU = Origin(OriginKind.COMMAND_LINE, "You")


def add_commands(add: Add) -> None:
    """Add `rules` with its own commands."""
    rules = add("rules", "the rules of your projects, and those that matter for a task", _run_help)
    action = actions_of(rules)
    query = action("query", "the directives that matter for a task", _run_query)
    query.add_argument("task", nargs="+")
    query.add_argument("--mode", choices=MODES, default="")
    query.add_argument("--scope", default="", help="only this project's, as project:<name>")
    query.add_argument("--max-items", type=int, default=8)
    query.add_argument("--token-budget", type=int, default=1_000)
    query.add_argument("--severity", choices=list(Severity), action="append", default=[])
    query.add_argument("--strict-layer", action="store_true")
    query.add_argument("--explain", action="store_true", help="say why each stands where it does")
    detect = action("detect", "what a task is about: its layer and topics", _run_detect)
    detect.add_argument("task", nargs="+")
    allow = action("allow", "read and watch the rule files of a project's folder", _run_allow)
    allow.add_argument("folder")
    forget = action("forget", "let go of a folder and the rules read from it", _run_forget)
    forget.add_argument("folder")
    action("folders", "the folders that are read", _run_folders)
    take = action("import", "read rule documents once", _run_import)
    take.add_argument("files", nargs="+")
    take.add_argument("--dry-run", action="store_true", help="only tell what would be stored")
    take.add_argument("--overwrite", action="store_true")
    take.add_argument("--scope", default="global")
    action("list", "the documents that are kept", _run_list)
    remove = action("remove", "forget documents; a watched file is not read again", _run_remove)
    remove.add_argument("ids", nargs="+", type=int, help="numbers of documents")
    back = action("take-back", "read a file again that was forgotten", _run_take_back)
    back.add_argument("file")
    action("proposed", "directives that wait for your word", _run_proposed)
    for name, run in (("approve", _run_approve), ("reject", _run_reject)):
        judge = action(name, f"{name} proposed directives by their numbers", run)
        judge.add_argument("ids", nargs="+", type=int)
    export = action("export", "write documents in another notation", _run_export)
    export.add_argument("ids", nargs="+", type=int, help="numbers of documents")
    export.add_argument("--format", choices=list(RuleFormat), default=RuleFormat.CLAUDE)
    export.add_argument("--output", type=Path, help="a file; else it is printed")
    rules.set_defaults(parser=rules)


def _run_help(options: argparse.Namespace, profile: Paths) -> int:
    del profile
    options.parser.print_help()
    return 2


def _run_query(options: argparse.Namespace, profile: Paths) -> int:
    query = RuleQuery(
        task=" ".join(options.task),
        mode=options.mode,
        strict_layer=options.strict_layer,
        max_items=options.max_items,
        token_budget=options.token_budget,
        severities=tuple(Severity(name) for name in options.severity),
        scope=options.scope,
    )

    async def work(services: Services) -> RuleAnswer:
        await services.embedding.meaning_of(query.task)  # a command may wait for the model
        return await services.rules.queries.query(query)

    answer = with_services(profile, work)
    if options.json:
        print_json(asdict(answer))
        return 0
    print(answer.block)
    if options.explain:
        _print_reasons(answer)
    _print_summary(answer)
    return 0


def _run_detect(options: argparse.Namespace, profile: Paths) -> int:
    task = " ".join(options.task)

    async def work(services: Services) -> TaskContext:
        await services.embedding.meaning_of(task)  # a command may wait for the model
        return await services.rules.queries.detect(task)

    context = with_services(profile, work)
    if options.json:
        print_json(asdict(context))
        return 0
    others = [f"{LAYER_LABELS[layer]} {share:.0%}" for layer, share in context.alternatives]
    for name, words in (
        ("Layer", f"{LAYER_LABELS[context.layer]}, {context.confidence:.0%} sure"),
        ("Or", ", ".join(others)),
        ("Topics", ", ".join(context.topics)),
        ("Names", ", ".join(context.technologies)),
        ("Keywords", ", ".join(context.keywords)),
        ("Detected by", context.model or context.method),
    ):
        if words:
            print(f"{name:12} {printable(words)}")
    return 0


def _print_summary(answer: RuleAnswer) -> None:
    saves = answer.tokens < answer.source_tokens
    share = f", {answer.tokens / answer.source_tokens:.1%} of all" if saves else ""
    print(
        f"{answer.selected} of {answer.searched} directives, {answer.tokens} tokens{share};"
        f" {answer.context.confidence:.0%} sure of {LAYER_LABELS[answer.context.layer]};"
        f" {answer.ms:.0f} ms."
    )
    if answer.fallback:
        print(f"Less than everything was used: {answer.fallback}.")


def _print_reasons(answer: RuleAnswer) -> None:
    shown = {citation.id for citation in answer.citations}
    for each in answer.ranked:
        if each.id not in shown:
            continue
        parts = asdict(each.breakdown)
        known = ", ".join(
            f"{name} {value:.2f}" for name, value in parts.items() if value is not None
        )
        print(f"  {each.score:.3f}  {printable(each.directive.text[:60])}: {known}")
    print()


def _run_allow(options: argparse.Namespace, profile: Paths) -> int:
    folder, report = with_services(profile, lambda s: s.rules.folders.allow(options.folder, YOU))
    if options.json:
        print_json({"folder": asdict(folder), "report": asdict(report)})
        return 0
    print(f"{printable(folder.path)} is read as {printable(folder.scope)}, and watched by kmem.")
    _print_report(report)
    return 0


def _run_forget(options: argparse.Namespace, profile: Paths) -> int:
    folder = with_services(profile, lambda s: s.rules.folders.forget(options.folder, YOU))
    if options.json:
        print_json(asdict(folder))
    else:
        print(f"{printable(folder.path)} is no longer read; its {folder.rules} documents are gone.")
    return 0


def _run_folders(options: argparse.Namespace, profile: Paths) -> int:
    folders = with_services(profile, lambda s: s.rules.folders.list_folders())
    if options.json:
        print_json([asdict(folder) for folder in folders])
        return 0
    for folder in folders:
        missing = "" if folder.is_there else "  NOT THERE NOW"
        print(f"{printable(folder.path)}  {printable(folder.scope)}, {folder.rules} files{missing}")
        for path in folder.ignored:
            print(f"  forgotten: {printable(path)}  (kmem rules take-back FILE)")
    if not folders:
        print("No folder is read. Add one with: kmem rules allow FOLDER")
    return 0


def _run_import(options: argparse.Namespace, profile: Paths) -> int:
    submitted = [SubmittedDocument(name) for name in options.files]
    report = with_services(
        profile,
        lambda services: services.rules.ingestion.upsert(
            submitted,
            YOU,
            overwrite=options.overwrite,
            validate_only=options.dry_run,
            scope=options.scope,
        ),
    )
    if options.json:
        print_json(asdict(report))
    else:
        _print_report(report)
    return 1 if report.errors else 0


def _print_report(report: IngestionReport) -> None:
    print(
        f"{report.rules} documents, {report.directives} directives in {report.sections} sections,"
        f" {report.patterns} examples; {report.unchanged} documents were known."
    )
    for message in (*report.errors, *report.warnings):
        print(f"  {printable(message)}")


def _run_list(options: argparse.Namespace, profile: Paths) -> int:
    rules = with_services(profile, lambda s: s.rules.library.rules())
    if options.json:
        print_json([asdict(rule) for rule in rules])
        return 0
    for rule in rules:
        waiting = f", {rule.proposed} proposed" if rule.proposed else ""
        print(
            f"{rule.id:5}  {printable(rule.place)}  [{printable(rule.scope)}]"
            f" {rule.directives} directives{waiting}, {rule.tokens} tokens"
        )
    print(f"{len(rules)} documents.")
    return 0


def _run_remove(options: argparse.Namespace, profile: Paths) -> int:
    async def work(services: Services) -> list[StoredRule]:
        return [await services.rules.library.delete(rule_id, YOU) for rule_id in options.ids]

    gone = with_services(profile, work)
    if options.json:
        print_json([asdict(rule) for rule in gone])
        return 0
    for rule in gone:
        stays = "; it is not read again until you take it back" if rule.folder_id else ""
        print(f"Forgotten: {printable(rule.path)}, {rule.directives} directives{stays}.")
    return 0


def _run_take_back(options: argparse.Namespace, profile: Paths) -> int:
    folder, report = with_services(profile, lambda s: s.rules.folders.take_back(options.file, YOU))
    if options.json:
        print_json({"folder": asdict(folder), "report": asdict(report)})
        return 0
    print(f"{printable(options.file)} is read again.")
    _print_report(report)
    return 0


def _run_proposed(options: argparse.Namespace, profile: Paths) -> int:
    waiting = with_services(profile, lambda s: s.rules.library.proposed())
    if options.json:
        print_json([_directive_json(each) for each in waiting])
        return 0
    for each in waiting:
        print(f"{each.id:6}  [{each.directive.severity}] {printable(each.directive.text)}")
        print(f"        {printable(each.rule.place)}, from {printable(each.rule.stored_by)}")
    print(f"{len(waiting)} wait for your word: kmem rules approve NUMBER ...")
    return 0


def _directive_json(stored: StoredDirective) -> dict[str, Any]:
    return {
        "id": stored.id,
        "status": stored.status.value,
        "rule": stored.rule.name,
        "path": stored.rule.path,
        **asdict(stored.directive),
    }


def _run_approve(options: argparse.Namespace, profile: Paths) -> int:
    return _judge(options, profile, RuleStatus.APPROVED)


def _run_reject(options: argparse.Namespace, profile: Paths) -> int:
    return _judge(options, profile, RuleStatus.REJECTED)


def _judge(options: argparse.Namespace, profile: Paths, status: RuleStatus) -> int:
    work: Callable[[Services], Awaitable[int]] = lambda s: s.rules.library.set_status(  # noqa: E731
        options.ids, status, YOU
    )
    count = with_services(profile, work)
    if options.json:
        print_json({"changed": count})
    else:
        print(f"{count} of {len(options.ids)} directives are {status} now.")
    return 0 if count == len(options.ids) else 1


def _run_export(options: argparse.Namespace, profile: Paths) -> int:
    text = with_services(
        profile,
        lambda s: s.rules.library.export(
            options.ids, RuleFormat(options.format), target=options.output
        ),
    )
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    if options.json:
        print_json({"format": options.format, "path": options.output, "text": text})
    elif options.output:
        print(f"Written to {printable(str(options.output))}.")
    else:
        print(text)
    return 0
