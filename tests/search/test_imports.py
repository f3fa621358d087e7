"""numpy is imported from its outside first: from its inside, another thread may get half of it."""

import subprocess
import sys

import pytest

FIRST_OF_NUMPY = """
import sys
seen = []
sys.addaudithook(
    lambda event, given: event == "import"
    and given[0].split(".")[0] == "numpy"
    and seen.append(given[0])
)
{statement}
print(seen[0])
"""


@pytest.mark.parametrize(
    "statement",
    [
        "import kmem_desktop.search.matrix",
        "from kmem_desktop.config import resource_path\n"
        "from kmem_desktop.providers.embedded import EmbeddedModel\n"
        "EmbeddedModel(resource_path('embedding')).embed(['a'])",
    ],
    ids=["numkong", "onnxruntime"],
)
def test_numpy_is_imported_whole_before_what_begins_with_a_part_of_it(statement: str) -> None:
    command = [sys.executable, "-c", FIRST_OF_NUMPY.format(statement=statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "numpy"
