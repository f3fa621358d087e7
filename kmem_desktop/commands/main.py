"""Reads a command line and runs what it asks for."""

import argparse
import os
import sys
from importlib.metadata import version
from typing import Any

from kmem_desktop.address import chosen_database
from kmem_desktop.commands import (
    health,
    inbox,
    maintenance,
    models,
    privacy,
    rules,
    searching,
    serving,
    sessions,
    testing,
)
from kmem_desktop.commands.adding import Action
from kmem_desktop.commands.imports import importing
from kmem_desktop.commands.library import copying, figures, tagging
from kmem_desktop.commands.printing import print_error
from kmem_desktop.config import paths
from kmem_desktop.errors import KmemError


def run(arguments: list[str]) -> int:
    """Run a command line without its program name; return the exit code."""
    options = _parser().parse_args(arguments)
    profile = paths(chosen_database(options.db))
    try:
        return int(options.run(options, profile))
    except KmemError as error:
        print_error(options, error)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output is gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kmem", description="One memory for all your AI assistants."
    )
    _add_common(parser, default=None)
    parser.add_argument("--version", action="version", version=f"kmem {version('kmem')}")
    parser.add_argument("--background", action="store_true", help="start in the tray only")
    parser.set_defaults(run=serving.run_app)
    commands = parser.add_subparsers(metavar="COMMAND")

    def add(name: str, summary: str, action: Action) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        # Without a default here, what was given before the command's name still counts.
        _add_common(command, default=argparse.SUPPRESS)
        command.set_defaults(run=action)
        return command

    for module in (
        serving,
        searching,
        sessions,
        inbox,
        rules,
        testing,
        importing,
        copying,
        tagging,
        figures,
        models,
        privacy,
        health,
        maintenance,
    ):
        module.add_commands(add)
    return parser


def _add_common(parser: argparse.ArgumentParser, default: Any) -> None:
    parser.add_argument(
        "--db", metavar="PATH", default=default, help="another database (or the variable KMEM_DB)"
    )
    parser.add_argument(
        "--json", action="store_true", default=default, help="print JSON for programs"
    )
