"""Starting with the session: off until a person ticks it."""

import asyncio

from kmem_desktop.platforms import autostart


class StartupService:
    """Reads and changes what the system starts at login."""

    def __init__(self, entry: autostart.LoginEntry | None = None) -> None:
        """Use the system's own place for such entries, or the one given."""
        self._entry = entry or autostart.login_entry()

    async def starts_at_login(self) -> bool:
        """Return whether the system starts kmem; read from the system each time."""
        return await asyncio.to_thread(self._entry.exists)

    async def set_start_at_login(self, *, enabled: bool) -> None:
        """Let the system start kmem in the tray at login, or stop that.

        Raises:
            KmemError: The system refused.
        """
        change = self._entry.write if enabled else self._entry.remove
        await asyncio.to_thread(change)

    def command(self) -> list[str]:
        """Return the command that starts this kmem, for clients' configuration."""
        return autostart.program_command()
