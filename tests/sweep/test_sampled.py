"""A sample of the sweep, the same each time; `make sweep` is the whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sweep.cases import POINTS, VOLLEYS, Case, everything, parse, sample
from tests.sweep.place import server
from tests.sweep.run import run
from tests.wire.model_server import ModelServer

SPAN_SECS = 1.4  # what a run takes on a slow day; later is too late to matter, and harmless


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with server() as running:
        yield running


@pytest.mark.req("092-6", "092-9", "092-10", "092-12", "092-121", "092-122", "092-124", "092-133", "092-135", "092-136")
@pytest.mark.parametrize("case", sample(92, 20, 11, SPAN_SECS), ids=str)
def test_an_end_as_documented_and_nothing_lost_or_left(case: Case, model: ModelServer, tmp_path: Path) -> None:
    outcome = run(case, tmp_path / "run", model.base_url)
    assert not outcome.wrong, "\n".join((str(case), outcome.status, *outcome.wrong, outcome.screen))


def test_a_run_that_nothing_disturbs(model: ModelServer, tmp_path: Path) -> None:
    outcome = run(None, tmp_path / "run", model.base_url)
    assert (outcome.status, outcome.wrong) == ("exited 0", [])


def test_each_case_is_found_by_its_name() -> None:
    cases = list(everything(200, 1.5))
    assert [parse(str(case)) for case in cases] == cases
    assert len({str(case) for case in cases}) == len(cases)
    assert {case.point for case in cases} == {*POINTS, ""}
    for name in ("INT@nowhere", "WINCH@0.1s"):
        with pytest.raises(ValueError, match="no "):
            parse(name)


def test_the_sample_has_every_volley_and_every_phase() -> None:
    cases = sample(92, 20, 11, SPAN_SECS)
    assert {case.volley for case in cases} == set(VOLLEYS)
    assert {case.phase for case in cases} == {"", *(point.phase for point in POINTS.values())}
