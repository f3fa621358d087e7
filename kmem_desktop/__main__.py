"""The command line's front door.

It imports nothing at first: `kmem mcp` is started by every client, and must be there at once.
"""

import sys


def main() -> int:
    """Run `kmem`."""
    if sys.argv[1:2] == ["mcp"]:
        return main_mcp(sys.argv[2:])
    if sys.argv[1:2] == ["read-conversations"]:  # started by an import; see services/importing
        from kmem_desktop.services.importing.reading import run_reader

        return run_reader()
    from kmem_desktop.commands.main import run

    return run(sys.argv[1:])


def main_mcp(arguments: list[str] | None = None) -> int:
    """Run `kmem mcp`, also installed as `kmem-mcp`."""
    given = sys.argv[1:] if arguments is None else arguments
    options = {"--db": "", "--tools": ""}
    rest = iter(given)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name not in options:
            # Help, --standalone, and mistakes: none of them is in a hurry.
            from kmem_desktop.commands.main import run

            return run(["mcp", *given])
        options[name] = value if equals else next(rest, "")
    from kmem_desktop.address import chosen_database
    from kmem_desktop.bridge import run as run_bridge

    return run_bridge(chosen_database(options["--db"] or None), options["--tools"])


if __name__ == "__main__":
    sys.exit(main())
