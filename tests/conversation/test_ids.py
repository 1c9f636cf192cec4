"""Ids, their beginnings, and the names of directories."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.conversation import ids


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("17800836875", "17800836875"),
        ("jp-c17800836875", "17800836875"),
        ("jp-c17800836875-otvo8", "17800836875"),
        (" 178 ", "178"),
        ("jp-c", None),
        ("jp-x178", None),
        ("recent", None),
        ("", None),
        ("١٧٨", None),
    ],
)
def test_both_forms_of_an_id_are_taken(text: str, digits: str | None) -> None:
    assert ids.digits(text) == digits


def test_an_id_is_the_decisecond_of_creation() -> None:
    moment = datetime(2026, 5, 29, 19, 41, 27, 555555, UTC)
    made = ids.from_time(moment)
    assert made == "17800836875"
    assert ids.created_at(made) == moment.replace(microsecond=500000)
    assert ids.display(made) == "jp-c17800836875"
    assert ids.created_at("9" * 40).year == 1970


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (None, "178"),
        ("", "178"),
        ("???", "178"),
        ("jp init XDG directory issue on Linux", "178-jp-init-xdg-directory-issue-on-linux"),
        (
            "Investigating Segfault in iter_mut Change Tracking",
            "178-investigating-segfault-in-iter-mut-change-tracking",
        ),
        ("../../etc/passwd", "178-------etc-passwd"),
        ("a" * 55 + " bcdefghij", "178-" + "a" * 55),
        ("Grüße an die Welt", "178-grüße-an-die-welt"),
    ],
)
def test_directory_names(title: str | None, name: str) -> None:
    assert ids.dirname("178", title) == name
    assert ids.from_dirname(name) == "178"


def test_directory_names_are_those_of_the_original(data_dir) -> None:
    import json

    for folder in (data_dir / "workspace/.jp/conversations").iterdir():
        title = json.loads((folder / "metadata.json").read_text())["title"]
        assert ids.dirname(ids.from_dirname(folder.name) or "", title) == folder.name


@given(st.text())
def test_any_title_gives_a_name_that_a_file_can_have(title: str) -> None:
    name = ids.dirname("17800836875", title)
    assert len(name.encode(errors="surrogatepass")) <= 255
    assert "/" not in name
    assert "\0" not in name
    assert ids.from_dirname(name) == "17800836875"


def test_a_beginning_means_all_that_begin_so_and_a_whole_id_only_itself() -> None:
    known = ["178", "1780", "1791"]
    assert ids.matching("178", known) == ["178"]
    assert ids.matching("17", known) == ["178", "1780", "1791"]
    assert ids.matching("jp-c179", known) == ["1791"]
    assert ids.matching("2", known) == []
    assert ids.matching("x", known) == []
