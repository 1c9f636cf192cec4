"""No path and no race leads out of the workspace, and files are replaced whole."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from jp.tool import confined
from jp.tool.confined import ABSENT, ConfinedError, Root

SECRET = b"secret"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace `ws` beside a directory `outside` with a file that nobody must see or touch."""
    (tmp_path / "ws" / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "ws" / "a.txt").write_bytes(b"in a")
    (tmp_path / "ws" / "sub" / "b.txt").write_bytes(b"in b")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(SECRET)
    return tmp_path


@pytest.fixture
def root(place: Path) -> Iterator[Root]:
    with Root(str(place / "ws")) as root:
        yield root


def untouched(place: Path) -> None:
    assert os.listdir(place / "outside") == ["f"]
    assert (place / "outside" / "f").read_bytes() == SECRET


# --- paths ---


@pytest.mark.parametrize(
    "path", ["sub/b.txt", "./sub//b.txt", "sub/deep/../b.txt", "sub/../sub/b.txt", "/ABS/sub/b.txt"]
)
def test_paths_that_stay_inside(root: Root, path: str) -> None:
    path = path.replace("/ABS", root.path)
    assert root.read(path) == b"in b"
    assert root.resolve(path) == "sub/b.txt"
    root.write(path, b"new")
    assert root.read("sub/b.txt") == b"new"


@pytest.mark.parametrize(
    "path",
    ["..", "../outside/f", "sub/../../outside/f", "/etc/passwd", "/ABS/../outside/f", "/ABS-other/f", "/", "a/../../x"],
)
def test_paths_that_leave(place: Path, root: Root, path: str) -> None:
    shutil.copytree(place / "outside", place / "ws-other")
    (place / "ws" / "a").mkdir()
    path = path.replace("/ABS", root.path)
    for use in (root.read, root.stat, root.listing, root.resolve, root.may_write, lambda p: root.write(p, b"x")):
        with pytest.raises(ConfinedError, match="outside of the workspace; only what is below"):
            use(path)
    untouched(place)


def test_an_absolute_path_by_either_name_of_the_root(place: Path) -> None:
    (place / "link").symlink_to("ws")
    with Root(str(place / "link")) as root:
        assert root.read(f"{place}/link/a.txt") == b"in a"
        assert root.read(f"{place}/ws/a.txt") == b"in a"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\ud800"])
def test_paths_that_no_file_can_have(root: Root, path: str) -> None:
    with pytest.raises(ConfinedError, match="can't be the"):
        root.read(path)


def test_what_is_missing_says_so(root: Root) -> None:
    for path in ("none", "none/at/all", "none/.."):
        with pytest.raises(ConfinedError, match="no such file") as raised:
            root.read(path)
        assert raised.value.missing
    with pytest.raises(ConfinedError, match=r"^a\.txt is a file, not a directory$"):
        root.read("a.txt/x")
    with pytest.raises(ConfinedError, match=r"^sub is a directory, not a regular file$"):
        root.read("sub")
    with pytest.raises(ConfinedError, match=r"^a\.txt is a file, not a directory$"):
        root.listing("a.txt")


def test_a_root_that_is_none(place: Path) -> None:
    with pytest.raises(ConfinedError, match="no such file"):
        Root(str(place / "none"))
    with Root(str(place / "ws")) as root:
        identity = root.identity
    Root(str(place / "ws"), identity=identity).close()
    with pytest.raises(ConfinedError, match="no longer the directory"):
        Root(str(place / "outside"), identity=identity)


# --- links ---


def test_links_that_stay_inside(place: Path, root: Root) -> None:
    ws = place / "ws"
    (ws / "file").symlink_to("sub/b.txt")
    (ws / "chain").symlink_to("file")
    (ws / "dir").symlink_to("sub/deep")
    (ws / "abs").symlink_to(ws / "sub")
    (ws / "sub" / "up").symlink_to("../a.txt")
    (ws / "self").symlink_to(".")
    for path in ("file", "chain", "dir/../b.txt", "abs/b.txt", "self/self/sub/b.txt", "abs/../sub/b.txt"):
        assert root.read(path) == b"in b", path
    assert root.read("sub/up") == b"in a"
    assert root.resolve("self/dir") == "sub/deep"
    root.write("chain", b"through")
    assert (ws / "chain").is_symlink()
    assert (ws / "file").is_symlink()
    assert (ws / "sub" / "b.txt").read_bytes() == b"through"


def test_a_link_to_a_file_that_is_not_there_yet(place: Path, root: Root) -> None:
    (place / "ws" / "new").symlink_to("sub/made")
    root.write("new", b"x")
    assert (place / "ws" / "sub" / "made").read_bytes() == b"x"


@pytest.mark.parametrize("target", ["../outside/f", "ABS/outside/f", "sub/../../outside/f", "hop", "up/outside/f"])
def test_links_that_lead_out(place: Path, root: Root, target: str) -> None:
    ws = place / "ws"
    (ws / "hop").symlink_to("../outside/f")
    (ws / "up").symlink_to("..")
    (ws / "link").symlink_to(target.replace("ABS", str(place)))
    for use in (root.read, root.stat, lambda p: root.write(p, b"x")):
        with pytest.raises(ConfinedError, match=r"link leads out of the workspace: \S+ is a symbolic link to"):
            use("link")
    untouched(place)


def test_a_parent_that_leads_out(place: Path, root: Root) -> None:
    (place / "ws" / "dir").symlink_to(place / "outside")
    for use in (root.read, lambda p: root.write(p, b"x"), lambda p: root.write(p + "/new", b"x", parents=True)):
        with pytest.raises(ConfinedError, match="leads out of the workspace"):
            use("dir/f")
    with pytest.raises(ConfinedError, match="leads out of the workspace"):
        root.listing("dir")
    untouched(place)


def test_links_in_circles_end(place: Path, root: Root) -> None:
    (place / "ws" / "x").symlink_to("y")
    (place / "ws" / "y").symlink_to("x")
    (place / "ws" / "z").symlink_to("z/z")
    for path in ("x", "z", "x/f"):
        with pytest.raises(ConfinedError, match="too many symbolic links"):
            root.read(path)


# --- kinds ---


def test_only_regular_files(place: Path, root: Root) -> None:
    """At once: a pipe without a writer would be waited for, a device would never end."""
    os.mkfifo(place / "ws" / "pipe")
    for use in (root.read, lambda p: root.write(p, b"x")):
        with pytest.raises(ConfinedError, match="pipe is a named pipe, not a regular file"):
            use("pipe")
    assert stat.S_ISFIFO(os.stat(place / "ws" / "pipe").st_mode)
    with Root("/dev") as devices:
        for use in (devices.read, lambda p: devices.write(p, b"x")):
            with pytest.raises(ConfinedError, match="zero is a device, not a regular file"):
                use("zero")


def test_a_link_to_a_device(place: Path, root: Root) -> None:
    (place / "ws" / "endless").symlink_to("/dev/zero")
    with pytest.raises(ConfinedError, match="endless leads out of the workspace"):
        root.read("endless")


def test_the_size_is_bounded(place: Path, root: Root) -> None:
    assert root.read("a.txt", 4) == b"in a"
    with pytest.raises(ConfinedError, match="too large: 4 bytes, and the limit is 3"):
        root.read("a.txt", 3)
    with open(place / "ws" / "huge", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ConfinedError, match="too large: 1099511627776 bytes"):
        root.read("huge", 1000)


def test_a_listing(place: Path, root: Root) -> None:
    (place / "ws" / "link").symlink_to("/")
    os.mkfifo(place / "ws" / "pipe")
    found = [(entry.name, entry.kind) for entry in root.listing(".")]
    assert found == [("a.txt", "file"), ("link", "link"), ("pipe", "other"), ("sub", "directory")]
    assert [entry.name for entry in root.listing("sub")] == ["b.txt", "deep"]


# --- writing ---


def test_a_file_is_replaced_by_rename(place: Path, root: Root) -> None:
    path = place / "ws" / "a.txt"
    path.chmod(0o751)
    before = path.stat().st_ino
    with open(path, "rb") as held:
        root.write("a.txt", b"new")
        assert held.read() == b"in a"
    assert path.read_bytes() == b"new"
    assert path.stat().st_ino != before
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert sorted(os.listdir(place / "ws")) == ["a.txt", "sub"]


def test_modes(place: Path, root: Root) -> None:
    before = os.umask(0o027)
    try:
        root.write("new", b"x")
        assert stat.S_IMODE((place / "ws" / "new").stat().st_mode) == 0o640
        (place / "ws" / "a.txt").chmod(0o4777)
        root.write("a.txt", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((place / "ws" / "a.txt").stat().st_mode) == 0o777


def test_a_read_only_file_is_left_alone(place: Path, root: Root) -> None:
    (place / "ws" / "a.txt").chmod(0o444)
    for use in (root.may_write, lambda p: root.write(p, b"x")):
        with pytest.raises(ConfinedError, match=r"a\.txt is read-only"):
            use("a.txt")
    assert root.read("a.txt") == b"in a"


def test_parents_are_made_when_asked(place: Path, root: Root) -> None:
    with pytest.raises(ConfinedError, match="no such file"):
        root.write("x/y/z", b"x")
    assert not (place / "ws" / "x").exists()
    root.may_write("x/y/z")
    assert not (place / "ws" / "x").exists()
    root.write("x/y/z", b"x", parents=True)
    assert root.read("x/y/z") == b"x"


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git",
        "sub/.git/config",
        ".jp/config.toml",
        ".GIT/config",
        ".g\u200cit/config",
        "x/.git/f",
        "link/config",
        "new/.jp/f",
        ".jp.toml",
        "sub/.jp.toml",
        "new/deep/.JP.Toml",
        ".jp.yaml",
        "config",
    ],
)
def test_what_programs_believe_in_is_not_written(place: Path, root: Root, path: str) -> None:
    (place / "ws" / ".git" / "hooks").mkdir(parents=True)
    (place / "ws" / "link").symlink_to(".git")
    (place / "ws" / "config").symlink_to(".jp.toml")
    for use in (root.may_write, lambda p: root.write(p, b"x", parents=True)):
        with pytest.raises(ConfinedError, match="is not written to by tools: it "):
            use(path)
    assert not (place / "ws" / "new").exists()
    assert not (place / "ws" / "x").exists()
    root.write(".gitignore", b"x")
    root.write(".jpx", b"x")
    root.write(".github/workflows/ci.yml", b"x", parents=True)


def test_where_something_would_be_written(place: Path, root: Root) -> None:
    for link, target in {
        "file": "a.txt",
        "dir": "sub",
        "none": "sub/none",
        "far": "lost/none",
        "over": "file",
        "up": "sub/../sub",
    }.items():
        (place / "ws" / link).symlink_to(target)
    for path, expected in {
        "a.txt": "a.txt",
        "./a.txt": "a.txt",
        f"{root.path}/a.txt": "a.txt",
        "x/y/z": "x/y/z",
        "file": "a.txt",
        "over": "a.txt",
        "dir/new/x": "sub/new/x",
        "none": "sub/none",
        "far": "lost/none",
        "up/x": "sub/x",
        "": ".",
    }.items():
        assert root.destination(path) == expected, path
        if expected not in (".", "a.txt"):
            root.write(path, b"x", parents=True)
            assert (place / "ws" / expected).read_bytes() == b"x"
    for path in ("../x", "sub/../../x", "lost2/../x", ".git/x", "x2/.jp.toml"):
        with pytest.raises(ConfinedError):
            root.destination(path)


def test_over_a_version(place: Path, root: Root) -> None:
    _, version = root.load("a.txt")
    root.write("a.txt", b"mine", over=version)
    with pytest.raises(ConfinedError, match="changed by somebody else") as raised:
        root.write("a.txt", b"stale", over=version)
    assert raised.value.changed
    with pytest.raises(ConfinedError, match="changed by somebody else"):
        root.write("a.txt", b"x", over=ABSENT)
    root.write("b.txt", b"x", over=ABSENT)
    assert root.read("a.txt") == b"mine"
    assert sorted(os.listdir(place / "ws")) == ["a.txt", "b.txt", "sub"]


def test_a_failed_write_leaves_everything(place: Path, root: Root) -> None:
    def failing() -> Iterator[bytes]:
        yield b"some"
        raise OSError(28, "No space left on device")

    with pytest.raises(ConfinedError, match=r"a\.txt: no space left on device"):
        root.write("a.txt", failing())
    assert root.read("a.txt") == b"in a"
    assert sorted(os.listdir(place / "ws")) == ["a.txt", "sub"]


def test_names_of_any_kind(root: Root, place: Path) -> None:
    for name in ("grüße 日本.txt", "with\nline", " space ", "-rf", "x" * 255, "~", "a\\b", "\udcff"):
        root.write(name, name.encode("utf-8", "surrogateescape"))
        assert root.read(name) == name.encode("utf-8", "surrogateescape")


def test_no_descriptor_is_left(root: Root, place: Path) -> None:
    (place / "ws" / "out").symlink_to("/")
    before = len(os.listdir("/dev/fd"))
    for path in ("sub/deep/../b.txt", "none", "out", "sub", "a.txt/x", "../x", ".git/x"):
        for use in (root.read, root.listing, root.stat, lambda p: root.write(p, b"x")):
            try:
                use(path)
            except ConfinedError:
                pass
    assert len(os.listdir("/dev/fd")) == before


# --- races ---


EXCHANGES = {
    # A directory or a file, and a link that leads outside.
    "itself": """
os.symlink(outside, spare)
while True:
    os.rename(here, spare + "-real")
    os.rename(spare, here)
    os.rename(here, spare)
    os.rename(spare + "-real", here)
    count()
""",
    # A link that leads to it, and one that leads outside; there is always one of them.
    "link": """
os.rename(here, spare + "-real")
os.symlink(spare + "-real", here)
while True:
    for target in (outside, spare + "-real"):
        os.symlink(target, spare)
        os.rename(spare, here)
    count()
""",
}


class Swapper:
    """Exchanges what is at a path as fast as it goes, in a process of its own, until the end of the context."""

    def __init__(self, how: str, here: Path, outside: Path) -> None:
        code = (
            "import os, sys\nhere, outside, spare = sys.argv[1:]\nturns = 0\ndef count():\n"
            "    global turns\n    turns += 1\n    if turns in (1, 1000): print(turns, flush=True)\n" + EXCHANGES[how]
        )
        argv = [sys.executable, "-c", code, str(here), str(outside), str(here.with_name("spare"))]
        self._process = subprocess.Popen(argv, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"1\n"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"1000\n"
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.mark.parametrize("how", list(EXCHANGES))
@pytest.mark.parametrize("name", ["dir", "dir/f"])
def test_what_is_exchanged_while_it_is_used(place: Path, root: Root, how: str, name: str) -> None:
    ws, outside = place / "ws", place / "outside"
    (ws / "dir").mkdir()
    (ws / "dir" / "f").write_bytes(b"0")
    with Swapper(how, ws / name, outside / "f" if name == "dir/f" else outside):
        for number in range(2000):
            try:
                if number % 2:
                    assert root.read("dir/f") != SECRET
                else:
                    root.write("dir/f", b"%d" % number)
            except ConfinedError:
                pass
    untouched(place)


CALLS = ("open", "stat", "lstat", "readlink", "rename", "fstat", "unlink", "mkdir", "write", "read", "scandir")


class ExchangedBefore:
    """Puts a link that leads outside in the place of `here`, right before the `nth` call to the system."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nth: int, here: Path, outside: Path) -> None:
        self._left = nth
        self._here = here
        self._outside = outside
        self._real = {name: getattr(os, name) for name in CALLS}
        for name in CALLS:
            monkeypatch.setattr(os, name, self._counted(name))

    @property
    def happened(self) -> bool:
        return self._left <= 0

    def _counted(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                self._real["rename"](self._here, self._here.with_name("moved"))
                os.symlink(self._outside, self._here)
            return self._real[name](*args, **options)

        return call


def checks_first(root: Root, path: str) -> bytes:
    """What does not work."""
    if not os.path.realpath(f"{root.path}/{path}").startswith(root.path):
        raise ConfinedError("outside")
    with open(os.open(f"{root.path}/{path}", os.O_RDONLY), "rb") as file:
        return file.read()


USES: dict[str, Callable[[Root, str], Any]] = {
    "read": lambda root, path: root.read(path),
    "write": lambda root, path: root.write(path, b"new"),
    "new": lambda root, path: root.write(f"{os.path.dirname(path)}/x/y", b"new", parents=True),
    "list": lambda root, path: root.listing(os.path.dirname(path)),
    "check first": checks_first,
}


@pytest.mark.parametrize("use", list(USES))
@pytest.mark.parametrize("name", ["dir", "dir/in", "dir/in/f"])
def test_an_exchange_at_every_step(tmp_path: Path, use: str, name: str) -> None:
    seen: list[Any] = []
    happened, nth = True, 0
    while happened:
        nth += 1
        place = tmp_path / str(nth)
        (place / "ws" / "dir" / "in").mkdir(parents=True)
        (place / "ws" / "dir" / "in" / "f").write_bytes(b"0")
        (place / "ws" / "dir" / "in" / "g").touch()
        (place / "outside" / "in").mkdir(parents=True)
        target = place / "outside"
        for file in (target / "f", target / "in" / "f"):
            file.write_bytes(SECRET)
        target = target / "f" if name == "dir/in/f" else target
        with Root(str(place / "ws")) as root, pytest.MonkeyPatch.context() as patch:
            exchange = ExchangedBefore(patch, nth, place / "ws" / name, target)
            try:
                seen.append(USES[use](root, "dir/in/f"))
            except ConfinedError:
                seen.append(None)
            happened = exchange.happened
        assert sorted(str(path.relative_to(place)) for path in (place / "outside").rglob("*")) == [
            "outside/f",
            "outside/in",
            "outside/in/f",
        ]
        assert (place / "outside" / "f").read_bytes() == (place / "outside" / "in" / "f").read_bytes() == SECRET
    assert nth > 5
    if use == "check first":
        assert SECRET in seen
    elif use == "list":
        assert all({"g"} < {entry.name for entry in each} for each in seen if each)
    else:
        assert SECRET not in seen


def test_a_reader_never_sees_half(place: Path, root: Root) -> None:
    contents = [bytes([65 + n]) * (200_000 * (n + 1)) for n in range(3)]
    root.write("a.txt", contents[0])
    seen: set[bytes] = set()
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            seen.add((place / "ws" / "a.txt").read_bytes())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for number in range(60):
        root.write("a.txt", contents[number % 3])
    over.set()
    reader.join()
    assert seen <= set(contents)


def test_where_a_system_can_not_do_it(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr(confined.os, "supports_dir_fd", set())
    with pytest.raises(ConfinedError, match="the built-in file tools do not work"):
        Root(str(place))
