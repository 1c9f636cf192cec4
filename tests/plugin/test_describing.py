"""Plugins are asked what they are: one question, a bound in time and in size, and nothing of them is left."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jp.interrupt.token import ShutdownToken
from jp.plugin import describing
from jp.plugin.describing import AT_ONCE, LIMIT, describe
from jp.plugin.descriptions import AGAIN_SECS, Descriptions
from jp.plugin.discovery import OWN
from jp.plugin.fingerprint import Stamp, fingerprint, stamp
from jp.plugin.messages import Description
from tests.plugin.scripts import describe as answer
from tests.plugin.scripts import plugin, script, traces

pytestmark = pytest.mark.usefixtures("no_leftovers")

MINIMAL = {"name": "it", "version": "1", "description": "A plugin"}


def judged(path: Path) -> tuple[str, Stamp | None]:
    return str(path), stamp(str(path))


def asked(path: Path, **options: Any) -> Description | str:
    (said,) = describe([judged(path)], os.environ, ShutdownToken(), **options).values()
    return said


@pytest.mark.req("PROTO-25")
def test_the_question_is_all_that_it_is_sent(tmp_path: Path):
    path = script(tmp_path / "jp-x", f"#!/bin/sh\ncat > {tmp_path}/sent\n{answer()}\n")  # cat ends with its input
    assert isinstance(asked(path), Description)
    assert (tmp_path / "sent").read_text() == '{"type":"describe"}\n'


@pytest.mark.req("PROTO-26")
def test_name_version_and_description_suffice(tmp_path: Path):
    assert asked(script(tmp_path / "jp-x", f"#!/bin/sh\n{answer(**MINIMAL)}\n")) == Description(**MINIMAL)


@pytest.mark.req("PROTO-26")
def test_the_rest_is_there_when_it_is_given(tmp_path: Path):
    more: dict[str, Any] = {
        "command": ["serve", "a-b"], "author": "me", "help": "usage:\n  x", "repository": "https://example.org",
    }  # fmt: skip
    path = script(tmp_path / "jp-x", f"#!/bin/sh\n{answer(**MINIMAL, **more, unknown=1)}\n")
    assert asked(path) == Description(**MINIMAL, **more)


def test_other_messages_before_it_and_a_missing_line_end_do_not_matter(tmp_path: Path):
    said = json.dumps({"type": "describe", **MINIMAL})
    body = f"""printf '{{"type":"ready"}}\\n\\n{{"type":"log","level":"info","message":"x"}}\\n{said}'"""
    assert asked(script(tmp_path / "jp-x", f"#!/bin/sh\n{body}\n")) == Description(**MINIMAL)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("echo garbage", "it wrote a line that is no JSON object"),
        ("printf garbage", "it wrote a line that is no JSON object"),
        ("printf '\\377\\n'", "it wrote a line that is no UTF-8"),
        ("""echo '{"type":"describe","name":"x"}'""", "it has sent a wrong `describe` message: "),
        ("""echo '{"name":"x"}'""", "a message has no `type`"),
        ("exit 0", "it ended without describing itself"),
        ("echo '  out of luck' >&2; exit 3", "it ended without describing itself (exit status 3): out of luck"),
        ("kill -9 $$", "it ended without describing itself (killed by SIGKILL)"),
        ("""exec >&-; exec sleep 600""", "it ended without describing itself"),
        ("""while :; do echo '{"type":"ready"}'; done""", f"it wrote more than {LIMIT:,} bytes and no description"),
        (f"""head -c {2 * LIMIT} /dev/zero""", f"it wrote a line of more than {LIMIT:,} bytes"),
        (
            f"""printf '{{"type":"describe","help":"'; head -c {2 * LIMIT} /dev/zero | tr '\\0' x; printf '"}}\\n'""",
            f"it wrote a line of more than {LIMIT:,} bytes",
        ),
    ],
)
def test_whatever_else_it_does_is_told(tmp_path: Path, body: str, problem: str):
    said = asked(script(tmp_path / "jp-x", f"#!/bin/sh\n{body}\n"))
    assert isinstance(said, str)
    assert said.startswith(problem)


@pytest.fixture
def flood(monkeypatch: pytest.MonkeyPatch) -> str:
    """A line of a script that writes to stderr and does not end; there is always something to read."""
    monkeypatch.setattr(describing, "_CHUNK", 1)
    return "yes >&2"


def test_a_flood_on_stderr_takes_no_more_time(tmp_path: Path, flood: str):
    began = time.monotonic()
    path = script(tmp_path / "jp-x", f"#!/bin/sh\n{flood}\n")
    assert asked(path, seconds=0.3) == "it did not describe itself within 0.3 seconds"
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize("seconds", [1.0, 5.0])
def test_an_answer_stays_one_whatever_comes_behind_it(tmp_path: Path, flood: str, seconds: float):
    path = script(tmp_path / "jp-x", f"#!/bin/sh\n{answer()}\n{flood}\n")
    began = time.monotonic()
    assert isinstance(asked(path, seconds=seconds), Description)
    assert time.monotonic() - began < 2.0


def test_it_runs_in_the_root_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In that of the run there may be anything."""
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path / "clone")
    assert isinstance(asked(script(tmp_path / "jp-x", f"#!/bin/sh\npwd > {tmp_path}/where\n{answer()}\n")), Description)
    assert (tmp_path / "where").read_text() == f"{os.sep}\n"


@pytest.mark.parametrize("body", ["exec sleep 600", "trap '' TERM HUP INT; while :; do sleep 1; done", "kill -STOP $$"])
def test_one_that_does_not_answer_is_not_waited_for_any_longer(tmp_path: Path, body: str):
    began = time.monotonic()
    path = script(tmp_path / "jp-x", f"#!/bin/sh\n{body}\n")
    assert asked(path, seconds=0.3) == "it did not describe itself within 0.3 seconds"
    assert time.monotonic() - began < 2


def test_nothing_that_it_has_started_is_left(tmp_path: Path):
    path = script(tmp_path / "jp-x", f"#!/bin/sh\nsleep 600 &\n{answer()}\nexec sleep 600\n")
    began = time.monotonic()
    assert isinstance(asked(path), Description)
    assert time.monotonic() - began < 4  # it has half a second to end by itself


def test_it_has_a_moment_to_end_by_itself(tmp_path: Path):
    path = script(tmp_path / "jp-x", f"#!/bin/sh\ntrap 'echo gone > {tmp_path}/gone' EXIT\n{answer()}\n")
    assert isinstance(asked(path), Description)
    assert (tmp_path / "gone").read_text() == "gone\n"


def test_what_can_not_be_started_is_told(tmp_path: Path):
    assert asked(script(tmp_path / "jp-x", "no shebang\n")) == "it can't be started: Exec format error"
    assert (
        asked(script(tmp_path / "jp-y", "#!/no/such/interpreter\n")) == "it can't be started: No such file or directory"
    )
    assert asked(tmp_path / "jp-z") == "it can't be started: No such file or directory"


def test_many_are_asked_at_the_same_time(tmp_path: Path):
    paths = [script(tmp_path / f"jp-{n}", "#!/bin/sh\nexec sleep 600\n") for n in range(8)]
    paths += [plugin(tmp_path / f"jp-ok-{n}") for n in range(8)]
    began = time.monotonic()
    said = describe([judged(path) for path in paths], os.environ, ShutdownToken(), seconds=1)
    assert time.monotonic() - began < 4
    assert set(said) == {str(path) for path in paths}
    assert sum(isinstance(each, Description) for each in said.values()) == 8


# --- only what was judged


@pytest.mark.parametrize("how", ["replaced", "written to", "linked", "gone"])
def test_another_file_than_the_one_that_was_judged_is_not_run(tmp_path: Path, how: str):
    one, other, path = plugin(tmp_path / "one"), plugin(tmp_path / "other"), tmp_path / "jp-x"
    path.symlink_to(one)
    then = judged(path)
    if how == "replaced":
        other.rename(one)
    elif how == "written to":
        one.write_text(other.read_text())
    elif how == "linked":
        path.unlink()
        path.symlink_to(other)
    else:
        one.unlink()
    assert describe([then], os.environ, ShutdownToken()) == {}
    assert traces(one) == traces(other) == traces(path) == []


def test_it_is_looked_at_when_it_is_its_turn(tmp_path: Path):
    """The first one replaces the last, which is among the next that are asked."""
    paths = [tmp_path / f"jp-{number}" for number in range(AT_ONCE + 1)]
    other = plugin(tmp_path / "other")
    plugin(paths[0], answer=f"mv {other} {paths[-1]}; {answer()}")
    for path in paths[1:]:
        plugin(path)
    said = describe([judged(path) for path in paths], os.environ, ShutdownToken())
    assert set(said) == {str(path) for path in paths[:-1]}
    assert not other.exists()
    assert traces(other) == traces(paths[-1]) == []


def test_where_any_file_may_be_run_there_is_no_stamp(tmp_path: Path):
    path = plugin(tmp_path / "jp-x")
    (said,) = describe([(str(path), None)], os.environ, ShutdownToken()).values()
    assert isinstance(said, Description)


def test_a_stamp_is_of_one_device(tmp_path: Path):
    path = plugin(tmp_path / "jp-x")
    found = stamp(str(path))
    assert found is not None
    assert (found.device, found.inode) == (path.stat().st_dev, path.stat().st_ino)


# --- what is remembered


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return plugin(tmp_path / "jp-x")


def remembered(path: Path) -> Any:
    found = Descriptions.of(os.environ).get(str(path), stamp(str(path)))
    return found if found is None else (found.description, found.problem, found.sha256)


def kept(path: Path, said: Description | str) -> str:
    memory = Descriptions.of(os.environ)
    read = fingerprint(str(path))
    memory.put(str(path), read, said)
    memory.save()
    return read.sha256


def test_what_was_said_is_known_until_the_file_changes(path: Path):
    said = Description(**MINIMAL, command=["a", "b"])
    sha256 = kept(path, said)
    assert remembered(path) == (said, "", sha256)
    before = path.stat()
    text = path.read_text()
    path.write_text(text.replace("exit", "true", 1))  # in place, of the same size, and of the same moment
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert remembered(path) is None


def test_a_file_in_its_place_is_another_one(path: Path, tmp_path: Path):
    kept(path, Description(**MINIMAL))
    other = plugin(tmp_path / "other")
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.rename(path)
    assert remembered(path) is None
    path.unlink()
    assert remembered(path) is None


def test_one_that_did_not_answer_is_asked_again_after_a_while(path: Path, monkeypatch: pytest.MonkeyPatch):
    sha256 = kept(path, "it ended")
    assert remembered(path) == (None, "it ended", sha256)
    later = time.time() + AGAIN_SECS
    monkeypatch.setattr(time, "time", lambda: later)
    assert remembered(path) is None


def test_a_broken_file_is_made_anew(path: Path, hermetic: Path):
    file = hermetic / ".cache" / "jp" / "plugins.json"
    kept(path, Description(**MINIMAL))
    good = json.loads(file.read_text())
    entry = good["plugins"][str(path)]
    for broken in (
        "", "{", "[]", "[" * 100_000, json.dumps({**good, "version": 0}), json.dumps({**good, "plugins": [1]}),
        *(json.dumps({**good, "plugins": {str(path): each}}) for each in (
            1, {}, {**entry, "stamp": None}, {**entry, "stamp": entry["stamp"][1:]},
            {**entry, "sha256": 1}, {**entry, "description": {"name": 1}},
            {**entry, "description": None, "problem": 1},
            {**entry, "description": None, "problem": "x", "asked_at": "x"},
        )),
    ):  # fmt: skip
        file.write_text(broken)
        assert remembered(path) is None, broken
    kept(path, Description(**MINIMAL))
    assert remembered(path) is not None


def test_what_is_gone_is_forgotten(path: Path, tmp_path: Path, hermetic: Path):
    gone = plugin(tmp_path / "jp-gone")
    kept(gone, Description(**MINIMAL))
    gone.unlink()
    kept(path, Description(**MINIMAL))
    assert list(json.loads((hermetic / ".cache" / "jp" / "plugins.json").read_text())["plugins"]) == [str(path)]
    memory = Descriptions.of(os.environ)
    memory.drop(str(path))
    memory.save()
    assert remembered(path) is None


def test_without_a_place_for_it_nothing_is_remembered(path: Path):
    memory = Descriptions.of({})
    memory.put(str(path), fingerprint(str(path)), "it ended")
    memory.save()
    assert memory.get(str(path), stamp(str(path))) is not None
    assert Descriptions.of({}).get(str(path), stamp(str(path))) is None


@pytest.mark.parametrize(("name", "module"), [("export", "jp_plugins.export"), ("serve-web", "jp_plugins.web")])
def test_what_is_known_of_jps_own_without_asking_is_what_they_say(tmp_path: Path, name: str, module: str):
    path = script(tmp_path / f"jp-{name}", f"#!/bin/sh\nexec {sys.executable} -m {module}\n")
    said = asked(path)
    assert isinstance(said, Description)
    assert (said.command, said.description) == (list(OWN[name][0]), OWN[name][1])
