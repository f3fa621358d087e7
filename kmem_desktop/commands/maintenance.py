"""`kmem maintain`: checks the memory and gives back the space that it does not need."""

import argparse
import sys
from dataclasses import asdict

from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json
from kmem_desktop.config import Paths


def add_commands(add: Add) -> None:
    """Add `maintain`."""
    add("maintain", "check the memory and give back space that it does not need", _run_maintain)


def _run_maintain(options: argparse.Namespace, profile: Paths) -> int:
    def tell(step: str) -> None:
        if not options.json and sys.stderr.isatty():
            print(f"{step} ...", file=sys.stderr)

    outcome = with_services(profile, lambda services: services.maintenance.run(tell))
    if options.json:
        print_json(asdict(outcome))
        return 0
    before, after = (size / 1e6 for size in (outcome.before_bytes, outcome.after_bytes))
    print(f"The memory took {before:.1f} MB and takes {after:.1f} MB now ({outcome.took_s:.1f} s).")
    if outcome.waits_for_others:
        print("Another program reads an older state: the rest comes back when it is done.")
    return 0
