"""The recipe in packaging/ and the model in resources/ belong together."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "packaging" / "build_embedding_model.py"


def test_the_model_in_resources_is_what_the_recipe_makes():
    result = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_the_model_comes_with_its_licence_and_its_source():
    folder = SCRIPT.parents[1] / "resources" / "embedding"
    assert "Apache License" in (folder / "LICENSE").read_text("utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in (folder / "NOTICE").read_text("utf-8")
