from kmem_desktop.providers.choice import RETRY_AFTER_S, TAKE_OVER_AFTER_S, ModelChoice
from tests.services.embedding_models import WordModel

WANTED, STAND_IN, OTHER = (WordModel(name) for name in ("wanted", "stand-in", "other"))


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_wanted_model_is_the_goal_while_it_works() -> None:
    choice = ModelChoice(WANTED, (STAND_IN,))
    assert choice.goal(None) is WANTED
    assert choice.goal(STAND_IN) is WANTED
    assert not choice.has_trouble


def test_what_serves_goes_on_while_the_wanted_model_fails() -> None:
    choice = ModelChoice(WANTED, (STAND_IN,))
    assert choice.note_failing(WANTED)
    assert not choice.note_failing(WANTED)
    assert choice.goal(OTHER) is OTHER


def test_a_stand_in_waits_before_it_takes_over() -> None:
    clock = Clock()
    choice = ModelChoice(WANTED, (STAND_IN,), clock)
    choice.note_failing(WANTED)
    assert choice.goal(WANTED) is None
    assert choice.goal(None, patience_s=0) is STAND_IN
    clock.now += TAKE_OVER_AFTER_S
    assert choice.goal(WANTED) is STAND_IN
    choice.note_failing(STAND_IN)
    assert choice.goal(WANTED) is None


def test_a_failing_model_is_tried_again_after_a_while_and_trusted_when_it_works() -> None:
    clock = Clock()
    choice = ModelChoice(WANTED, (STAND_IN,), clock)
    choice.note_failing(WANTED)
    assert choice.to_retry() == []
    clock.now += RETRY_AFTER_S
    assert choice.to_retry() == [WANTED]
    choice.note_failing(WANTED)
    assert choice.to_retry() == []
    choice.note_working(WANTED)
    assert choice.goal(STAND_IN) is WANTED


def test_a_model_that_is_known_to_be_gone_counts_as_failing() -> None:
    gone = WordModel("gone")
    gone.is_known_gone = True
    choice = ModelChoice(gone, (STAND_IN,))
    assert choice.goal(STAND_IN) is STAND_IN
    assert choice.has_trouble


def test_another_wanted_model_starts_without_blame() -> None:
    choice = ModelChoice(WANTED)
    choice.note_failing(OTHER)
    choice.want(OTHER)
    assert choice.named("other") is OTHER
    assert choice.goal(WANTED) is OTHER
    choice.wanted = None
    assert choice.goal(WANTED) is None
