"""What reports, programs and past imports say to people."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kmem_desktop.domain.importing import ImportReport, MemoryProgram, MemoryProgress
from kmem_desktop.domain.library.copies import CopyReport
from kmem_desktop.domain.sessions.importing import (
    NAMES,
    PROGRAMS,
    ImportProgress,
    ImportRecord,
    SessionImportReport,
    TranscriptKind,
    TranscriptProgram,
)
from kmem_desktop.gui.wording import capitalised, counted, when

Report = SessionImportReport | ImportReport | CopyReport
Numbers = list[tuple[str, str, str]]
FOREVER_DAYS = 3_650
_MEMORIES: Mapping[str, str] = {
    MemoryProgram.REFERENCE: "Reference memory",
    MemoryProgram.AI_DEVKIT: "ai-devkit",
    MemoryProgram.MARK42: "mark42",
    MemoryProgram.MEMORY_SERVICE: "mcp-memory-service",
    MemoryProgram.BASIC_MEMORY: "basic-memory",
    "kmem": "a copy of kmem",
}
_COPIED: Mapping[str, tuple[str, ...]] = {
    "knowledge": ("piece of knowledge", "pieces of knowledge"),
    "entities": ("entity", "entities"),
    "observations": ("observation",),
    "relations": ("relation",),
    "sessions": ("conversation",),
    "turns": ("turn",),
}
"""What copies hold, in this order, as people call it."""
_PAGES = (
    ("knowledge", "knowledge"),
    ("turns", "sessions"),
    ("entities", "graph"),
    ("observations", "graph"),
    ("relations", "graph"),
)


KINDS = (
    (
        "Conversations",
        "Transcripts of Claude Code, Codex CLI and Gemini CLI; the zip or conversations.json that"
        " claude.ai and ChatGPT export.",
    ),
    (
        "Memories",
        "memory.json of the reference server; what ai-devkit, mark42, mcp-memory-service and"
        " basic-memory keep.",
    ),
    ("Copies of kmem", "JSON or markdown, saved by Settings or kmem export."),
)
"""What can be brought in, as the page tells who does not know it yet."""


def is_rehearsal(report: Report) -> bool:
    """Return whether nothing was written yet."""
    return report.is_dry_run if isinstance(report, CopyReport) else report.dry_run


def new_count(report: Report) -> int:
    """Return how many new things a report tells of."""
    if isinstance(report, SessionImportReport):
        return report.turns_new
    if isinstance(report, CopyReport):
        return sum(report.new.values()) + report.changed
    entities = report.entities_new + report.observations_new + report.relations_new
    return report.knowledge_new + entities


def page_of(report: Report) -> str:
    """Return the page that shows what was brought in."""
    if isinstance(report, SessionImportReport):
        return "sessions"
    if isinstance(report, CopyReport):
        return next((page for noun, page in _PAGES if report.new.get(noun)), "knowledge")
    return "knowledge" if report.knowledge_new else "graph"


def headline(report: Report) -> str:
    """Return what came, or would come, in one sentence."""
    name = _name(report.kind if isinstance(report, SessionImportReport) else "", report.path)
    new = new_count(report)
    is_dry = is_rehearsal(report)
    if isinstance(report, SessionImportReport):
        what = _conversations(report)
    elif isinstance(report, CopyReport) and len(list(_copied(report.new))) in (1, 2):
        what = " and ".join(_copied(report.new))
    else:
        what = counted(new, "new thing" if is_dry else "thing")
    if is_dry:
        return f"{name} would bring {what}" if new else f"{name} has nothing new"
    return f"{what} brought in from {name}" if new else f"{name} had nothing new"


def _name(kind: str, path: str) -> str:
    """Return what was imported: a program by its name, anything else by its file's."""
    is_folder = not Path(path).suffix
    return NAMES[kind] if kind in PROGRAMS and is_folder else Path(path).name or path


def _conversations(report: SessionImportReport) -> str:
    turns = counted(report.turns_new, "turn")
    if not report.sessions_new:
        return f"{turns} of conversations that are here"
    return f"{counted(report.sessions_new, 'conversation')} with {turns}"


def explanation(report: Report) -> str:
    """Return what else there is to know of a report, in sentences."""
    if isinstance(report, SessionImportReport):
        return " ".join(_of_conversations(report))
    if isinstance(report, CopyReport):
        return " ".join(_of_copy(report))
    return " ".join(_of_memories(report))


def _of_conversations(report: SessionImportReport) -> list[str]:
    words = [_what_it_means(report)]
    if report.was_cancelled:
        words.append("It was ended early: importing it again brings the rest.")
    if report.sessions_excluded:
        words.append(f"{counted(report.sessions_excluded, 'excluded conversation')} stayed out.")
    if report.sessions_deleted:
        count = counted(report.sessions_deleted, "conversation")
        words.append(f"{count} that you deleted here stayed out.")
    return words


def _of_memories(report: ImportReport) -> list[str]:
    words = [_what_it_means(report)]
    if report.dangling_relations:
        count = counted(report.dangling_relations, "relation names", "relations name")
        words.append(f"{count} an entity that is not there; kept all the same.")
    if report.excluded:
        words.append(f"{report.excluded:,} of excluded projects stayed out.")
    if report.problems:
        kept = f"; kept in {report.kept_lines_path}" if report.kept_lines_path else ""
        words.append(f"{counted(len(report.problems), 'line')} could not be understood{kept}.")
    return words


def _of_copy(report: CopyReport) -> list[str]:
    words = [_what_it_means(report)]
    if report.changed:
        would = "would be" if report.is_dry_run else "were"
        count = counted(report.changed, "piece")
        words.append(f"{count} of knowledge that the copy has newer {would} changed.")
    if report.problems:
        words.append(f"{counted(len(report.problems), 'piece')} could not be taken.")
    return words


def copied_words(counts: Mapping[str, int]) -> str:
    """Return what a copy holds: "28 pieces of knowledge, 3 conversations, 41 turns"."""
    return ", ".join(_copied(counts)) or "nothing yet"


def _copied(counts: Mapping[str, int]) -> Iterator[str]:
    for name, words in _COPIED.items():
        if count := counts.get(name):
            yield counted(count, *words)


def _what_it_means(report: Report) -> str:
    if not is_rehearsal(report):
        if not report.batch:
            return "Nothing was changed."
        return "They can be searched now, and the import can be undone as a whole."
    known = "What is known already stays as it is; importing twice changes nothing."
    return f"Nothing is written yet. {known}" if new_count(report) else known


def numbers(report: Report) -> Numbers:
    """Return the rows of the table: what, how many are new, how many are known."""
    if isinstance(report, SessionImportReport):
        rows = [
            _row("Conversations", report.sessions_new, report.sessions_known),
            _row("Turns", report.turns_new, report.turns_known),
            ("Files", f"{report.files:,}", ""),
            *_broken(report.problem_count),
        ]
    elif isinstance(report, CopyReport):
        rows = [
            _row(noun.capitalize(), report.new.get(noun, 0), report.known.get(noun, 0))
            for noun in _COPIED
            if report.new.get(noun) or report.known.get(noun)
        ]
        rows += [("Changed", f"{report.changed:,}", "")] if report.changed else []
    else:
        rows = [_row("Knowledge", report.knowledge_new, report.knowledge_known)]
        rows = rows if report.knowledge_new or report.knowledge_known else []
        rows += [
            _row("Entities", report.entities_new, report.entities_known),
            ("Observations", f"{report.observations_new:,} new", ""),
            _row("Relations", report.relations_new, report.relations_known),
            *_broken(len(report.problems)),
        ]
    removed = report.secrets if isinstance(report, CopyReport) else report.secrets_removed
    if removed:
        secrets = [f"{count:,} {kind}" for kind, count in removed.items()]
        rows.append(("Secrets replaced", ", ".join(secrets), ""))
    return rows


def _broken(count: int) -> Numbers:
    return [("Broken lines", f"{count:,}", "")] if count else []


def _row(name: str, new: int, known: int) -> tuple[str, str, str]:
    return name, f"{new:,} new", f"{known:,} known"


def problems(report: Report) -> list[tuple[str, str, str]]:
    """Return the lines that were not understood: where, why, what they say."""
    if isinstance(report, SessionImportReport):
        return [
            (f"{Path(each.file).name}, line {each.line:,}", each.message, each.text)
            for each in report.problems
        ]
    if isinstance(report, CopyReport):
        return [(capitalised(each.place), each.message, "") for each in report.problems]
    return [(f"line {each.line:,}", each.message, each.text) for each in report.problems]


def progress(found: ImportProgress | MemoryProgress) -> tuple[str, int, int]:
    """Return how far an import is: in words, and how much of all is done."""
    if isinstance(found, MemoryProgress):
        return f"{found.done:,} of {found.total:,} memories", found.done, found.total
    files = f"{found.files_done:,} of {counted(found.files_total, 'file')}"
    words = f"{files}, {counted(found.turns, 'turn')}, {found.turns_new:,} new"
    return words, found.bytes_done, found.bytes_total


def program_words(program: TranscriptProgram) -> str:
    """Return what a person should know of a program's transcripts."""
    if program.is_followed:
        return _of_followed(program)
    are = "is" if program.session_count == 1 else "are"
    count = f"{counted(program.session_count, 'conversation')} {are} on this computer"
    if program.kept_days is None or program.kept_days > FOREVER_DAYS:
        return f"{count}. Keep them here, where they can be searched?"
    go = "goes" if program.expiring_count == 1 else "go"
    return (
        f"{program.name} deletes its transcripts after {counted(program.kept_days, 'day')}."
        f" {count}, {program.expiring_count:,} of them {go} in the next 7 days. Keep them here?"
    )


def found_title(program: TranscriptProgram) -> str:
    """Return how many conversations a program has here, and how many it is about to delete."""
    found = f"{counted(program.session_count, 'conversation')} found"
    if not program.expiring_count:
        return f"{found} of {program.name}"
    leave = "leaves" if program.expiring_count == 1 else "leave"
    return f"{found}; {program.expiring_count:,} {leave} {program.name} this week"


def found_words(program: TranscriptProgram, others: Sequence[TranscriptProgram]) -> str:
    """Return what keeping a program's conversations means, and what else was found."""
    words = []
    if program.kept_days is not None and program.kept_days <= FOREVER_DAYS:
        words.append(f"{program.name} deletes them after {counted(program.kept_days, 'day')}.")
    words.append(
        "They are copied here in the background, secrets taken out, and can be searched; new ones"
        " follow by themselves."
    )
    if others:
        counts = (
            f"{counted(each.session_count, 'conversation')} of {each.name}" for each in others
        )
        words.append(f"The page Import offers the same for {' and '.join(counts)}.")
    return " ".join(words)


def _of_followed(program: TranscriptProgram) -> str:
    count = counted(program.session_count, "conversation")
    if program.stored_count == program.session_count:
        words = f"{count} on this computer, and kept here as {program.name} writes."
    else:
        words = f"{count} on this computer; {program.stored_count:,} are here as they are now."
    if not program.expiring_count:
        return words
    expire = "expires" if program.expiring_count == 1 else "expire"
    safe = "all safe here" if program.is_safe else f"{program.expiring_stored_count:,} safe here"
    return f"{words} {program.expiring_count:,} {expire} in the next 7 days, {safe}."


def import_name(record: ImportRecord) -> str:
    """Return what an import is called."""
    if record.is_following:
        return f"{NAMES[record.kind]}, as it writes"
    return _name(record.kind, record.path)


def import_words(record: ImportRecord) -> str:
    """Return what an import brought, when, and from where."""
    kind = NAMES.get(record.kind) or _MEMORIES.get(record.kind, record.kind)
    whose = "" if import_name(record).startswith(kind) else f", from {kind}"
    return f"{_brought(record)}{whose}, {when(record.started_at)}"


def _brought(record: ImportRecord) -> str:
    if record.kind in set(TranscriptKind):
        turns = counted(record.turn_count, "turn")
        return f"{counted(record.session_count, 'conversation')} with {turns}"
    counts = {name: int(record.facts.get(f"{name}_new") or 0) for name in _COPIED}
    return ", ".join(_copied(counts)) or "Nothing"


def import_state(record: ImportRecord) -> tuple[str, str]:
    """Return the state of an import and what kind of state that is; none for one that is done."""
    if record.undone_at is not None:
        return "undone", ""
    if record.is_following:
        return "goes on", "good"
    return ("", "") if record.finished_at else ("cut off", "warn")
