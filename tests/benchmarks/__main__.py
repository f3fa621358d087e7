"""`python -m tests.benchmarks [name ...]`: measure, and print a table."""

import sys

from tests.benchmarks.embedding import embedding
from tests.benchmarks.measures import BENCHMARKS as SPEED
from tests.benchmarks.measures import machine
from tests.benchmarks.peers import peers
from tests.benchmarks.quality import quality
from tests.benchmarks.relations import relations
from tests.benchmarks.rule_queries import rule_queries
from tests.benchmarks.rules import rules
from tests.benchmarks.scale import million, scale
from tests.benchmarks.sessions import sessions
from tests.benchmarks.space import space
from tests.benchmarks.transcripts import transcripts

BENCHMARKS = {
    **SPEED,
    "scale": scale,
    "embedding": embedding,
    "space": space,
    "quality": quality,
    "rules": rules,
    "rule-queries": rule_queries,
    "sessions": sessions,
    "transcripts": transcripts,
    "relations": relations,
}
ON_DEMAND = {"million": million, "peers": peers}
"""Run only when they are named."""


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    known = {**BENCHMARKS, **ON_DEMAND}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There are {', '.join(known)}, not {', '.join(unknown)}.")
        return 2
    for name in names or list(BENCHMARKS):
        print(f"\n## {name} ({machine()})")
        for measure in known[name]():
            print(f"{measure.what:52} {measure.value:32} {measure.beside:18} {measure.bound}")
        print(f"afterwards: {machine()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
