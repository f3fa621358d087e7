"""How commands print: safe for a terminal, or JSON for programs."""

import argparse
import json
import sys
from typing import Any

from kmem_desktop.errors import KmemError


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: control characters become visible."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in " ".join(text.split()))


def print_json(value: Any) -> None:
    """Print a value for programs."""
    print(json.dumps(value, ensure_ascii=True, indent=2, default=str))


def print_error(options: argparse.Namespace, error: KmemError) -> None:
    """Say what went wrong, and what to do."""
    if options.json:
        print_json({"error": error.code, "message": error.message, "details": error.details})
    else:
        print(f"kmem: {printable(error.message)} {printable(error.hint)}".rstrip(), file=sys.stderr)
