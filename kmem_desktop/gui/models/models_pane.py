"""Models on the page Connections: what was found, what each purpose uses, what left the computer.

Everything is asked of `services.models` beside the window and shown when it comes. While the pane
is seen, it hears of every look: one happens when a program starts or ends, or the network changes.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.domain.models import (
    Choice,
    KeyPlace,
    Offer,
    Program,
    ProgramKind,
    ProviderReport,
    Purpose,
    Sent,
    Snapshot,
    Trial,
    Use,
)
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.context import Context, Undo
from kmem_desktop.gui.models.far_rows import FarRows
from kmem_desktop.gui.models.parts import CommandLine, Lined, Section
from kmem_desktop.gui.models.provider_row import ProviderRow
from kmem_desktop.gui.models.purpose_row import PurposeRow
from kmem_desktop.gui.models.sent_list import SentList
from kmem_desktop.gui.models.sentences import duration_words
from kmem_desktop.gui.models.server_form import ServerForm
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.models.service import ModelService

PROGRESS_EVERY_MS = 500
NOTHING_FOUND = (
    "No program that runs models answers here, and kmem needs none: search compares meanings by"
    " the model that came with it. With Ollama, LM Studio, LocalAI or llama.cpp it writes better"
    " summaries and understands tasks better."
)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the pane shows."""

    found: Snapshot
    uses: dict[Purpose, Use]
    offers: dict[Purpose, tuple[Offer, ...]]
    places: dict[str, KeyPlace]
    added: frozenset[str]
    sent: tuple[Sent, ...]
    has_keychain: bool


class ModelsPane(QWidget):
    """The pane."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the sections; nothing is looked for before the pane is seen."""
        super().__init__(parent)
        self._context = context
        self.near_rows: dict[str, ProviderRow] = {}
        self._rows, self._hints = QVBoxLayout(), QVBoxLayout()
        self._shown_hints: object = None
        self.found_section = Section("Models")
        self.add_server = Button("Add a server…")
        self.again = Button("Look again", key="F5")
        self.nothing = Label(NOTHING_FOUND, Type.BODY, "ink2", wrap=True)
        self.form = ServerForm()
        self.absent = Label("", Type.META, "ink3", wrap=True)
        self.far = FarRows(self._new_row)
        self.purpose_rows = {purpose: PurposeRow(purpose) for purpose in Purpose}
        self.sent = SentList()
        self._forget: Callable[[], None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(PROGRESS_EVERY_MS)
        self._timer.timeout.connect(self._show_change)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._fill_found()
        uses = Section("What they are used for")
        for purpose, row in self.purpose_rows.items():
            row.chosen.connect(lambda choice, purpose=purpose: self._choose(purpose, choice))
            uses.add_row(row)
        self.purpose_rows[Purpose.EMBEDDINGS].cancel_wanted.connect(self._cancel_change)
        sent = Section("What left this computer")
        sent.rows.addWidget(self.sent)
        for section in (self.found_section, uses, sent):
            column.addWidget(section)

    def _fill_found(self) -> None:
        section = self.found_section
        section.right.addWidget(self.add_server)
        section.right.addWidget(self.again)
        self.again.clicked.connect(self.look_again)
        self.add_server.clicked.connect(self.form.start)
        self.form.add_wanted.connect(self._add)
        self.form.cancelled.connect(self._on_form_cancelled)
        self.nothing.setContentsMargins(0, 14, 0, 14)
        self.absent.setContentsMargins(0, 11, 0, 11)
        for hidden in (self.nothing, self.form, self.absent):
            hidden.hide()
        for layout in (self._rows, self._hints):
            layout.setSpacing(0)
        section.rows.addWidget(self.nothing)
        section.rows.addWidget(self.form)
        section.rows.addLayout(self._rows)
        section.rows.addLayout(self._hints)
        section.rows.addWidget(self.far)
        section.rows.addWidget(self.absent)

    @property
    def _models(self) -> ModelService:
        return self._context.services.models

    @property
    def _embedding(self) -> EmbeddingService:
        return self._context.services.embedding

    def has_something_to_lose(self) -> bool:
        """Return whether a server is being typed."""
        return self.form.has_something_to_lose()

    def go_back(self) -> bool:
        """Close the form; return whether it was open."""
        was_open = self.form.isVisible()
        if was_open:
            self._on_form_cancelled()
        return was_open

    # Looking

    def showEvent(self, event: QShowEvent) -> None:
        if self._forget is None:
            self._forget = self._models.listen(self.show_found)
        self._timer.start()
        self._show_change()
        self.look_again()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        if self._forget is not None:
            self._forget()
            self._forget = None

    def look_again(self) -> None:
        """Look who is there now."""
        self.again.setEnabled(False)
        self.found_section.words.setText("Looking…")
        if self._models.found.at is not None:
            self.show_found()

        def failed(error: KmemError) -> bool:
            self.again.setEnabled(True)
            self.found_section.words.setText(f"{error.message} {error.hint}".strip())
            return True

        self._context.tasks.run(self._models.discover(), failed=failed)

    def show_found(self) -> None:
        """Show what was found at the last look."""
        self._context.tasks.run(self._gather(), self._show, topic="models")

    async def _gather(self) -> _Known:
        models = self._models
        return _Known(
            found=models.found,
            uses=await models.uses(),
            offers=await models.offers(),
            places=await models.key_places(),
            added=await models.added_servers(),
            sent=tuple(await models.sent()),
            has_keychain=await models.has_keychain(),
        )

    def _show(self, known: _Known) -> None:
        self.again.setEnabled(True)
        took = duration_words(known.found.took_ms)
        self.found_section.words.setText(f"Looked in {took}; again when a program starts or ends.")
        programs = {str(each.kind): each for each in known.found.programs}
        near = [each for each in known.found.providers if not each.host or each.id in known.added]
        shown = [each for each in near if _is_worth_a_row(each, programs, known.added)]
        self._show_near(shown, programs, known)
        self.far.show_reports(
            [each for each in known.found.providers if each not in near], known.places
        )
        self.nothing.setVisible(not shown)
        missing = [each for each in near if each not in shown and each.id in programs]
        self.absent.setText(
            f"Not on this computer: {', '.join(each.name for each in missing)}." if missing else ""
        )
        self.absent.setVisible(bool(missing))
        self._show_hints(known.found)
        for purpose, row in self.purpose_rows.items():
            row.set_facts(known.uses[purpose], known.offers[purpose])
        self.sent.set_sent(known.sent)
        for provider in self._all_rows():
            place = known.places.get(provider.report.id, KeyPlace.NOWHERE)
            if place is not KeyPlace.NOWHERE:
                provider.key_form.set_place(place, has_keychain=known.has_keychain)

    def _show_near(
        self, reports: list[ProviderReport], programs: dict[str, Program], known: _Known
    ) -> None:
        for name in set(self.near_rows) - {each.id for each in reports}:
            lined = self.near_rows.pop(name).parentWidget()
            if lined is not None:
                lined.hide()
                lined.deleteLater()
        for report in reports:
            if report.id not in self.near_rows:
                row = self.near_rows[report.id] = self._new_row(report)
                self._rows.addWidget(Lined(row))
            self.near_rows[report.id].set_facts(
                report,
                programs.get(report.id),
                place=known.places.get(report.id, KeyPlace.NOWHERE),
                is_added=report.id in known.added,
            )

    def _show_hints(self, found: Snapshot) -> None:
        # That a program can be started, its row says.
        hints = [each for each in found.hints if not each.command.startswith("kmem ")]
        if hints == self._shown_hints:
            return
        self._shown_hints = hints
        while (item := self._hints.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for hint in hints:
            self._hints.addWidget(Lined(CommandLine(hint.words, hint.command)))

    def _all_rows(self) -> list[ProviderRow]:
        return [*self.near_rows.values(), *self.far.rows.values()]

    def _new_row(self, report: ProviderReport) -> ProviderRow:
        row = ProviderRow(report)
        row.start_wanted.connect(lambda: self._start(row))
        row.test_wanted.connect(lambda model: self._test(row, model))
        row.remove_wanted.connect(lambda: self._remove(row))
        row.off_wanted.connect(lambda: self._switch_off(row))
        row.key_wanted.connect(lambda key: self._set_key(row, key))
        row.forget_wanted.connect(lambda: self._forget_key(row))
        row.opened.connect(lambda: self._show_key_place(row))
        return row

    # Doing

    def _start(self, row: ProviderRow) -> None:
        kind = ProgramKind(row.report.id)

        def failed(error: KmemError) -> bool:
            row.show_failed_start(f"{error.message} {error.hint}".strip())
            return True

        self._context.tasks.run(
            self._models.start_program(kind), lambda _program: row.show_starting(), failed=failed
        )

    def _test(self, row: ProviderRow, model: str) -> None:
        row.show_asking(model)

        def done(trial: Trial) -> None:
            row.show_trial(model, trial)
            self.show_found()  # what left the computer may have grown

        def failed(error: KmemError) -> bool:
            done(Trial(row.report.id, model, is_working=False, problem=error.message))
            return True

        self._context.tasks.run(self._models.test(row.report.id, model), done, failed=failed)

    def _choose(self, purpose: Purpose, choice: Choice) -> None:
        row = self.purpose_rows[purpose]

        async def choose() -> None:
            await self._models.choose(purpose, choice)
            await self._models.discover()

        def done(_nothing: None) -> None:
            row.show_present()
            self._show_change()
            self.show_found()

        def failed(error: KmemError) -> bool:
            row.show_failure(f"{error.message} {error.hint}".strip())
            return True

        self._context.tasks.run(choose(), done, failed=failed)

    def _cancel_change(self) -> None:
        serving = self._embedding.serving

        def done(_choice: Choice) -> None:
            self._show_change()
            self.show_found()

        self._context.tasks.run(self._models.embeddings.stay_with(serving), done)

    def _show_change(self) -> None:
        embedding = self._embedding
        row = self.purpose_rows[Purpose.EMBEDDINGS]
        progress = embedding.progress
        # Without a model that serves so far there is nothing that one could stay with.
        if embedding.serving and embedding.switching_to:
            row.show_change(embedding.switching_to, progress.done, progress.total)
        else:
            row.show_trouble(embedding.serving, embedding.failure)

    def _switch_off(self, row: ProviderRow) -> None:
        purposes = row.report.is_allowed_for

        async def switch_off() -> None:
            for purpose in purposes:
                await self._models.choose(purpose, Choice())
            await self._models.discover()

        words = f"Nothing is sent to {row.report.host} any more; what went there stays there."
        self._context.tasks.run(switch_off(), lambda _nothing: self._context.shell.say(words))

    def _set_key(self, row: ProviderRow, key: str) -> None:
        async def keep() -> None:
            await self._models.set_key(row.report.id, key)
            await self._models.discover()

        def failed(error: KmemError) -> bool:
            row.key_form.set_error(f"{error.message} {error.hint}".strip())
            return True

        self._context.tasks.run(keep(), lambda _n: self._show_key_place(row), failed=failed)

    def _forget_key(self, row: ProviderRow) -> None:
        async def forget() -> None:
            await self._models.forget_key(row.report.id)
            await self._models.discover()

        self._context.tasks.run(forget(), lambda _nothing: self._show_key_place(row))

    def _show_key_place(self, row: ProviderRow) -> None:
        """Say where a key is; only who wants to know makes the keychain open."""
        if not row.report.needs_key:
            return

        async def place() -> tuple[KeyPlace, bool]:
            models = self._models
            return await models.key_place(row.report.id), await models.has_keychain()

        def done(known: tuple[KeyPlace, bool]) -> None:
            row.key_form.set_place(known[0], has_keychain=known[1])
            self.show_found()

        self._context.tasks.run(place(), done)

    def _on_form_cancelled(self) -> None:
        self.form.hide()
        self.add_server.setFocus()

    def _add(self, name: str, address: str) -> None:
        async def add() -> None:
            await self._models.add_server(name, address)
            await self._models.discover()

        def failed(error: KmemError) -> bool:
            self.form.show_error(error)
            return True

        self._context.tasks.run(add(), lambda _nothing: self._on_form_cancelled(), failed=failed)

    def _remove(self, row: ProviderRow) -> None:
        name, address = row.report.id, row.report.address

        async def remove() -> None:
            await self._models.remove_server(name)
            await self._models.discover()

        def done(_nothing: None) -> None:
            undo = Undo("Undo", lambda: self._add(name, address))
            self._context.shell.say(f"{name} is not asked any more.", undo)

        self._context.tasks.run(remove(), done)


def _is_worth_a_row(
    report: ProviderReport, programs: dict[str, Program], added: frozenset[str]
) -> bool:
    """Return whether somebody is there, could be, or was named by a person."""
    program = programs.get(report.id)
    is_installed = program is not None and program.is_installed
    return report.is_available or report.is_ill or is_installed or report.id in added
