"""Installing, updating and removing plugins: copies that are whole, executable and approved."""

import hashlib
import os
from pathlib import Path

import pytest

from jp.plugin.approvals import Approval, Approvals, NoApprovalsError
from jp.plugin.installation import Installed, InstallError, install, name_for, remove, updatable, update
from jp.storage.errors import WriteError
from tests.plugin.scripts import approve, install_directory, plugin, script

SH = "#!/bin/sh\necho one\n"


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def approval(name: str) -> Approval | None:
    found = Approvals.of(os.environ).get(name)
    return found._replace(approved_at="") if found else None


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return script(tmp_path / "src" / "jp-hello", SH)


def installed(name: str = "hello") -> Path:
    return install_directory() / f"jp-{name}"


def put(source: Path, **options: object) -> Installed:
    return install(str(source), os.environ, **options)  # type: ignore[arg-type]


@pytest.mark.req("PROTO-1")
def test_it_is_copied_made_executable_and_approved(source: Path):
    source.chmod(0o600)  # as a download is
    done = put(source)
    assert done == Installed("hello", str(installed()), sha(SH), str(source), None)
    assert installed().read_text() == SH
    assert installed().stat().st_mode & 0o7777 == 0o755
    assert approval("hello") == Approval(str(installed()), sha(SH), installed=True, source=str(source))
    assert [path.name for path in install_directory().iterdir()] == ["jp-hello"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("jp-hello", "hello"), ("hello", "hello"), ("hello.sh", "hello"), ("jp-serve-web.py", "serve-web"),
        ("jp-tool-1.2", "tool-1.2"), ("jp-a.b2", "a.b2"),
    ],
)  # fmt: skip
def test_its_name_is_that_of_the_file(file: str, name: str, tmp_path: Path):
    assert name_for(f"/x/{file}") == name
    assert put(script(tmp_path / file, SH)).path == str(installed(name))


def test_its_name_can_be_given(source: Path):
    assert put(source, name="greet").path == str(installed("greet"))
    assert put(source, name="jp-greet").name == "greet"


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "-x", "a\x1b", "jp-"])
def test_a_name_that_can_not_be_typed_is_refused(source: Path, name: str):
    with pytest.raises(InstallError, match="can't be the name"):
        put(source, name=name)
    assert not install_directory().exists()


@pytest.mark.parametrize("head", [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"#!"])
def test_scripts_and_compiled_programs_can_be_installed(tmp_path: Path, head: bytes):
    (tmp_path / "jp-x").write_bytes(head + b"\0" * 3_000_000)
    assert put(tmp_path / "jp-x").sha256 == sha(head + b"\0" * 3_000_000)


def test_what_is_no_program_is_refused(tmp_path: Path):
    (tmp_path / "jp-text").write_text("echo hi\n")
    (tmp_path / "jp-empty").touch()
    (tmp_path / "jp-directory").mkdir()
    (tmp_path / "jp-dangling").symlink_to("nothing")
    os.mkfifo(tmp_path / "jp-fifo")
    for name, said in (
        ("text", "is no program"), ("empty", "is no program"), ("directory", "can't read"), ("fifo", "can't read"),
        ("dangling", "can't read"), ("missing", "can't read"),
    ):  # fmt: skip
        with pytest.raises(InstallError, match=said):
            put(tmp_path / f"jp-{name}")
    assert not install_directory().exists()
    assert updatable(os.environ) == []


def test_another_plugin_of_the_name_is_replaced_by_force_alone(source: Path, tmp_path: Path):
    put(source)
    other = script(tmp_path / "other" / "jp-hello", SH + "# other\n")
    with pytest.raises(InstallError, match="another plugin hello") as raised:
        put(other)
    assert any("--force" in hint for hint in raised.value.hints)
    assert installed().read_text() == SH
    assert approval("hello").source == str(source)  # type: ignore[union-attr]
    assert put(other, force=True).before == sha(SH)
    assert installed().read_text() == SH + "# other\n"


def test_the_same_one_again_is_no_conflict(source: Path):
    put(source)
    Approvals.of(os.environ).forget("hello")
    installed().chmod(0o644)
    assert put(source).before is None
    assert os.access(installed(), os.X_OK)
    assert approval("hello") is not None


def test_a_link_in_its_place_is_replaced_and_not_followed(source: Path, tmp_path: Path):
    target = script(tmp_path / "target", "#!/bin/sh\n# mine\n")
    install_directory().mkdir(parents=True)
    installed().symlink_to(target)
    with pytest.raises(InstallError):
        put(source)
    put(source, force=True)
    assert not installed().is_symlink()
    assert target.read_text() == "#!/bin/sh\n# mine\n"
    installed().unlink()
    installed().mkdir()
    with pytest.raises(InstallError, match="is no plugin"):
        put(source, force=True)


def test_the_installed_file_is_no_source(source: Path):
    put(source)
    with pytest.raises(InstallError, match="is the installed plugin itself"):
        put(installed(), force=True)
    assert approval("hello").source == str(source)  # type: ignore[union-attr]


def test_without_room_nothing_is_there_and_nothing_is_approved(source: Path):
    install_directory().parent.mkdir(parents=True)
    install_directory().write_text("in the way")
    with pytest.raises(WriteError):
        put(source)
    assert updatable(os.environ) == []
    with pytest.raises(NoApprovalsError):
        install(str(source), {})


# --- updating


def renewed(name: str = "hello", **options: object) -> Installed:
    return update(name, os.environ, **options)  # type: ignore[arg-type]


def test_an_update_is_the_source_as_it_is_now(source: Path):
    put(source)
    assert renewed().before is None
    source.write_text(SH + "# two\n")
    assert renewed() == Installed("hello", str(installed()), sha(SH + "# two\n"), str(source), sha(SH))
    assert installed().read_text() == SH + "# two\n"
    assert approval("hello").sha256 == sha(SH + "# two\n")  # type: ignore[union-attr]
    assert renewed().before is None


def test_a_copy_that_was_changed_by_hand_is_replaced_by_force_alone(source: Path):
    put(source)
    installed().write_text(SH + "# mine\n")
    source.write_text(SH + "# two\n")
    with pytest.raises(InstallError, match="was changed after it was installed"):
        renewed()
    assert installed().read_text() == SH + "# mine\n"
    assert renewed(force=True).before == sha(SH)
    assert installed().read_text() == SH + "# two\n"


def test_a_copy_that_is_gone_is_there_again(source: Path):
    put(source)
    installed().unlink()
    renewed()
    assert installed().read_text() == SH


def test_an_update_keeps_the_name(source: Path):
    put(source, name="greet")
    source.write_text(SH + "# two\n")
    assert renewed("greet").path == str(installed("greet"))


def test_the_directory_for_data_may_be_a_link(source: Path, tmp_path: Path):
    put(source)
    (tmp_path / "link").symlink_to(os.environ["XDG_DATA_HOME"])
    source.write_text(SH + "# two\n")
    there = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "link")}
    assert update("hello", there).before == sha(SH)
    remove("hello", os.environ)
    assert approval("hello") is None


def test_what_can_not_be_updated(source: Path, tmp_path: Path):
    with pytest.raises(InstallError, match="no plugin hello is installed"):
        renewed()
    approve("hello", plugin(tmp_path / "jp-hello"), installed=True, source=str(source))
    with pytest.raises(InstallError, match="no plugin hello is installed"):  # it is not ours to write to
        renewed()
    approve("old", plugin(installed("old")), installed=True)
    with pytest.raises(InstallError, match="not known where"):
        renewed("old")
    put(source, force=True)
    assert updatable(os.environ) == ["hello"]
    source.unlink()
    with pytest.raises(InstallError, match="can't read"):
        renewed()
    assert installed().read_text() == SH


# --- removing


def test_what_is_removed_is_not_approved_any_more(source: Path):
    put(source)
    assert remove("hello", os.environ) == str(installed())
    assert not installed().exists()
    assert source.exists()
    assert approval("hello") is None
    with pytest.raises(InstallError, match="no plugin hello is installed"):
        remove("hello", os.environ)


def test_the_approval_of_another_file_stays(source: Path, tmp_path: Path):
    put(source)
    approve("hello", plugin(tmp_path / "jp-hello"))
    remove("hello", os.environ)
    assert approval("hello") is not None


@pytest.mark.parametrize("name", ["", "../../x", "none"])
def test_nothing_else_is_removed(source: Path, tmp_path: Path, name: str):
    put(source)
    with pytest.raises(InstallError):
        remove(name, os.environ)
    assert installed().exists()
