"""Asks once whether the transcripts that a program on this computer deletes are to be kept here."""

from collections.abc import Callable

from kmem_desktop.domain.sessions.importing import TranscriptProgram
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.importing import sentences


class FirstQuestion:
    """The question of the first run; the page Import goes on offering the same."""

    def __init__(self, context: Context, keep: Callable[[TranscriptProgram], object]) -> None:
        """Look whether there is something to be asked.

        Args:
            context: Asks.
            keep: Called with the program whose transcripts a person wants to keep.
        """
        self._context = context
        self._keep = keep
        if not context.settings.current.asked_about_transcripts:
            context.tasks.run(context.services.transcripts.programs(), self._ask)

    def _ask(self, programs: list[TranscriptProgram]) -> None:
        deleting = [p for p in programs if p.kept_days is not None and not p.is_followed]
        if not deleting or not deleting[0].session_count:
            return
        program = deleting[0]
        self._context.settings.change(asked_about_transcripts=True)
        self._context.shell.ask(
            sentences.program_words(program), "Keep them here", lambda: self._keep(program)
        )
