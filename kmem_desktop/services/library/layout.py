"""Where the dots of a picture lie: linked ones near each other, none on top of another.

The same picture is laid out the same way each time. The forces are those of Fruchterman and
Reingold, "Graph Drawing by Force-directed Placement" (1991), with a pull to the middle, so that
parts without a link between them stay in sight.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kmem_desktop.domain.library.reports import Picture

if TYPE_CHECKING:
    import numpy as np

STEPS = 120
DISTANCE = 1.0
"""The length that a link would like to have."""
PULL = 0.16
LEAST_DISTANCE = 0.05
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def laid_out(picture: Picture) -> list[tuple[float, float]]:
    """Return a place for each dot, in units of a link's length; the centre of all is (0, 0)."""
    import numpy as np

    count = len(picture.nodes)
    if count == 0:
        return []
    numbers = {node.key: number for number, node in enumerate(picture.nodes)}
    links = [(numbers[edge.start], numbers[edge.end]) for edge in picture.edges]
    places = _spiral(count)
    adjacency = _adjacency(count, links)
    heat = math.sqrt(count) * DISTANCE / 3
    for step in range(STEPS):
        between = places[:, None, :] - places[None, :, :]
        far = np.maximum(np.sqrt((between**2).sum(axis=2)), LEAST_DISTANCE)
        strength = DISTANCE**2 / far**2 - adjacency * far / DISTANCE
        forces = (between * strength[:, :, None]).sum(axis=1) - PULL * places * math.sqrt(count)
        lengths = np.maximum(np.sqrt((forces**2).sum(axis=1)), 1e-9)
        limit = heat * (1 - step / STEPS)
        places = places + forces * (np.minimum(lengths, limit) / lengths)[:, None]
    places -= places.mean(axis=0)
    return [(float(x), float(y)) for x, y in places]


def _spiral(count: int) -> "np.ndarray":
    """Return where the dots begin: around the first one, each beside the one before."""
    import numpy as np

    numbers = np.arange(count)
    radius, angle = DISTANCE * np.sqrt(numbers), numbers * _GOLDEN_ANGLE
    return np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)


def _adjacency(count: int, links: Sequence[tuple[int, int]]) -> "np.ndarray":
    import numpy as np

    adjacency = np.zeros((count, count))
    for start, end in links:
        if start != end:
            adjacency[start, end] = adjacency[end, start] = 1.0
    return adjacency
