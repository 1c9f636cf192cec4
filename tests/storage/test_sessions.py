"""Sessions: which tab this is, what is active in it, and what a command without an id takes."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jp.storage.sessions import Choice, Session, Sessions, choose, session

NOW = datetime(2026, 6, 1, 12, 0, 0, 250000, UTC)


@pytest.mark.parametrize(
    ("environ", "sid", "found"),
    [
        ({"JP_SESSION": "ci", "TMUX_PANE": "%1"}, 7, ("JP_SESSION", "ci")),
        ({"JP_SESSION": "", "TMUX_PANE": "%1"}, 7, ("getsid", "7")),
        ({"TMUX_PANE": "%1", "WEZTERM_PANE": "2"}, None, ("TMUX_PANE", "%1")),
        ({"WEZTERM_PANE": "2", "TERM_SESSION_ID": "t"}, None, ("WEZTERM_PANE", "2")),
        ({"TERM_SESSION_ID": "t", "ITERM_SESSION_ID": "i"}, None, ("TERM_SESSION_ID", "t")),
        ({"ITERM_SESSION_ID": "i"}, None, ("ITERM_SESSION_ID", "i")),
        ({}, None, None),
    ],
)
def test_the_order_in_which_a_session_is_known(environ: dict[str, str], sid: int | None, found: object) -> None:
    known = session(environ, sid)
    assert (known and (known.source, known.value)) == found


def test_file_names_are_those_of_the_original() -> None:
    assert Session("getsid", "4711").key == "getsid-4711"
    key = Session("JP_SESSION", "../../etc").key
    assert key.startswith("env-JP_SESSION-")
    assert "/" not in key
    assert len(key) == len("env-JP_SESSION-") + 16
    assert Session("TMUX_PANE", "1").key != Session("JP_SESSION", "1").key


def test_history(folder: Path) -> None:
    sessions = Sessions(str(folder), Session("getsid", "7"))
    assert (sessions.active(), sessions.history()) == (None, [])
    for one in ("1", "2", "3", "2"):
        sessions.activate(one, NOW)
    assert [entry.id for entry in sessions.history()] == ["2", "3", "1"]
    assert sessions.active() == "2"
    assert sessions.history()[0].activated_at == NOW
    stored = json.loads((folder / "sessions" / "getsid-7.json").read_bytes())
    assert stored["history"][0] == {"id": 2, "activated_at": "2026-06-01T12:00:00.250000Z"}
    assert stored["source"] == {"type": "getsid"}
    other = Sessions(str(folder), Session("JP_SESSION", "x"))
    assert other.active() is None
    other.activate("9", NOW)
    assert sessions.active() == "2"
    assert sessions.actives() == {"2", "9"}


def test_the_originals_files_are_continued(folder: Path) -> None:
    path = folder / "sessions" / "getsid-7.json"
    path.parent.mkdir()
    path.write_text(
        '{"history":[{"id":17800836875,"activated_at":"2026-05-29T19:42:36.467320Z","note":1},{"id":"jp-c99-otvo8"}],'
        '"source":{"type":"getsid"},"more":{"kept":true}}'
    )
    sessions = Sessions(str(folder), Session("getsid", "7"))
    assert [entry.id for entry in sessions.history()] == ["17800836875", "99"]
    sessions.activate("5", NOW)
    stored = json.loads(path.read_bytes())
    assert stored["more"] == {"kept": True}
    assert stored["history"][1]["note"] == 1


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"history": 5}', '{"history": [5, {"id": null}]}', "[" * 100_000, '{"history":' + "[" * 100_000],
    ids=lambda content: content[:20],
)
def test_a_damaged_file_counts_as_empty(folder: Path, content: str) -> None:
    path = folder / "sessions" / "getsid-7.json"
    path.parent.mkdir()
    path.write_text(content)
    sessions = Sessions(str(folder), Session("getsid", "7"))
    assert sessions.history() == []
    assert sessions.actives() == set()
    sessions.activate("1", NOW)
    assert sessions.active() == "1"


@pytest.mark.parametrize("depth", [100, 300, 490, 900])
@pytest.mark.parametrize("deep_id", [True, False])
def test_deep_nesting_in_a_file_is_no_crash(folder: Path, depth: int, deep_id: bool) -> None:
    path = folder / "sessions" / "getsid-7.json"
    path.parent.mkdir()
    deep = "[" * depth + "]" * depth
    path.write_text(
        f'{{"history": [{{"id": 5}}, {{"id": 6, "x": {deep}}}, {{"id": {deep if deep_id else 7}}}], "y": {deep}}}'
    )
    sessions = Sessions(str(folder), Session("getsid", "7"))
    before = [entry.id for entry in sessions.history()]
    assert before in ([], ["5", "6"], ["5", "6", "7"])
    sessions.actives()
    sessions.activate("1", NOW)
    assert [entry.id for entry in sessions.history()] == ["1", *before]


def test_without_a_place_or_a_session_nothing_is_remembered(folder: Path) -> None:
    for sessions in (Sessions(None, Session("getsid", "7")), Sessions(str(folder), None)):
        sessions.activate("1", NOW)
        assert sessions.active() is None
    assert list(folder.iterdir()) == []


HERE = ["5", "3", "1"]


@pytest.mark.parametrize(
    ("default_id", "history", "existing", "recent", "choice"),
    [
        # An active one is taken, whatever is configured.
        ("ask", HERE, ["1", "3", "5"], "3", Choice("id", "5")),
        ("last_created", HERE, ["1", "3", "5", "9"], "3", Choice("id", "5")),
        # A fresh workspace begins a new one.
        ("ask", [], [], None, Choice("new")),
        ("last_activated", HERE, [], None, Choice("new")),
        # None active: the configuration decides.
        ("ask", [], ["1", "3"], "3", Choice("ask")),
        (None, [], ["1", "3"], "3", Choice("ask")),
        ("last_activated", [], ["1", "3"], "1", Choice("id", "1")),
        ("last_activated", [], ["1", "3"], None, Choice("ask")),
        ("last_created", [], ["99", "100"], "99", Choice("id", "100")),
        ("previous", HERE, ["1", "3"], "1", Choice("id", "3")),
        ("previous", [], ["1", "3"], "1", Choice("ask")),
        ("jp-c3", [], ["1", "3"], "1", Choice("id", "3")),
        ("3", [], ["1", "3"], "1", Choice("id", "3")),
        ("4", [], ["1", "3"], "1", Choice("ask")),
        ("1", [], ["10", "11"], "10", Choice("ask")),
        # The active one was removed: the others of this session don't count by themselves.
        ("ask", HERE, ["1", "3"], "3", Choice("ask")),
    ],
)
def test_what_a_command_without_an_id_takes(
    default_id: str | None, history: list[str], existing: list[str], recent: str | None, choice: Choice
) -> None:
    assert choose(default_id, history, existing, recent) == choice
    assert hash(choice) == hash(choose(default_id, history, existing, recent))
