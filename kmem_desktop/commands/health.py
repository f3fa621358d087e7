"""`kmem doctor` and `kmem connect`: what is there, and how an assistant reaches it."""

import argparse
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.models import Models, look, models_summary, print_models
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.services.connecting import connection_help, recipes
from kmem_desktop.services.maintenance import Health
from kmem_desktop.services.residence import Residence


def add_commands(add: Add) -> None:
    """Add `doctor` and `connect`."""
    add("doctor", "check the memory and what belongs to it", _run_doctor)
    add("connect", "tell how to connect an assistant", _run_connect)


def _run_doctor(options: argparse.Namespace, profile: Paths) -> int:
    residence = Residence(profile)
    try:
        resident = residence.ask("status")
    except TimeoutError:
        resident = None
    health, models = with_services(profile, _checked)
    if options.json:
        told = models_summary(models)
        parts = {"database": profile.database, "resident": resident, "models": told}
        print_json({**parts, **asdict(health)})
    else:
        _print_health(profile, residence, resident, health)
        print_models(models, is_brief=True)
        print("The memory is whole." if health.is_whole else "The memory is damaged.")
    return 0 if health.is_whole else 1


async def _checked(services: Services) -> tuple[Health, Models]:
    return await services.maintenance.check(), await look(services)


def _print_health(
    profile: Paths, residence: Residence, resident: dict[str, Any] | None, health: Health
) -> None:
    print(f"kmem {version('kmem')}")
    print(f"  database   {profile.database}")
    print(f"  log        {profile.log}")
    print(f"  socket     {residence.address}")
    if resident is None:
        print("  serving    no; the first assistant that needs it starts it")
    else:
        face = "with a window" if resident.get("windows") else "without a window"
        clients = resident.get("clients", 0)
        print(f"  serving    yes, {face}, process {resident.get('pid')}, {clients} connected")
    print(f"  texts      {health.texts}, {health.without_vector} of them wait for their vector")
    print(f"  meaning    {health.meaning or 'compared by the bundled model'}")
    for problem in health.problems:
        print(f"  PROBLEM    {printable(problem)}")


def _run_connect(options: argparse.Namespace, profile: Paths) -> int:
    if options.json:
        print_json([asdict(recipe) for recipe in recipes(profile)])
    else:
        print(connection_help(profile))
    return 0
