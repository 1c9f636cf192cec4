"""The growing file: whatever is on the disk, what goes on from it ends as the right bytes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jp.llm.embedded.part import PartFile, WrongPieceError, digest
from jp.llm.embedded.pieces import Piece
from tests.embedded.fakes import noise, sha256

PIECES = [noise(40, 1), noise(7, 2), noise(64, 3)]
WHOLE = b"".join(PIECES)


def rows(pieces: list[bytes] = PIECES) -> list[Piece]:
    return [Piece("p", "1", 0, "", "m", len(data), sha256(data)) for data in pieces]


def ignore(_: int) -> None:
    pass


def test_pieces_add_up(tmp_path: Path) -> None:
    with PartFile(str(tmp_path / "f"), rows()) as part:
        part.recover(ignore)
        assert (part.offset, part.index, part.whole) == (0, 0, False)
        part.write(WHOLE[:45])
        assert (part.offset, part.index) == (45, 1)
        part.write(WHOLE[45:])
        assert (part.index, part.whole) == (3, True)
    assert (tmp_path / "f").read_bytes() == WHOLE
    assert digest(str(tmp_path / "f"), ignore) == sha256(WHOLE)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    kept=st.integers(0, len(WHOLE) + 20),
    wrong=st.one_of(st.none(), st.integers(0, len(WHOLE) - 1)),
    step=st.integers(1, 50),
)
def test_goes_on_from_whatever_is_there(tmp_path: Path, kept: int, wrong: int | None, step: int) -> None:
    there = bytearray((WHOLE + b"x" * 20)[:kept])
    if wrong is not None and wrong < len(there):
        there[wrong] ^= 1
    path = tmp_path / "f"
    path.write_bytes(there)
    with PartFile(str(path), rows()) as part:
        part.recover(ignore)
        mends = 0
        while not part.whole:
            try:
                part.write(WHOLE[part.offset : part.offset + step])
            except WrongPieceError:  # a wrong byte in the tail that no piece's hash covered yet
                mends += 1
                assert mends == 1
    assert path.read_bytes() == WHOLE


def test_a_wrong_piece_takes_itself_off_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with PartFile(str(path), rows()) as part:
        with pytest.raises(WrongPieceError) as caught:
            part.write(PIECES[0] + b"wrong!!" + PIECES[2])
        assert caught.value.index == 1
        assert part.offset == 40
    assert path.read_bytes() == PIECES[0]


def test_rewinding_drops_the_piece_that_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with PartFile(str(path), rows()) as part:
        part.write(WHOLE[:44])
        part.rewind()
        assert part.offset == 40
        part.write(WHOLE[40:])
        part.rewind()
        assert part.whole
    assert path.read_bytes() == WHOLE


def test_more_bytes_than_the_weights_have_are_refused(tmp_path: Path) -> None:
    with PartFile(str(tmp_path / "f"), rows()) as part, pytest.raises(ValueError, match="more bytes"):
        part.write(WHOLE + b"x")
