import pytest


@pytest.fixture(autouse=True)
def _tidy(leaves_nothing_open: None) -> None:
    """Every test of this room closes what it opened."""
