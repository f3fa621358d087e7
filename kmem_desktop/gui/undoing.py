"""Taking back what was done in the window."""

from kmem_desktop.gui.context import Shell, Undo


def undo_of(shell: Shell, change_id: int) -> Undo | None:
    """Return how a change is taken back; None where nothing changed."""
    return Undo("Undo", lambda: shell.undo_change(change_id)) if change_id else None
