"""The small parts: catalogue, places, threads, slots, what is shown."""

import os
from pathlib import Path

import pytest

from jp.errors import JpError
from jp.llm.embedded import cores, listing, profile, progress, shelf, slots
from jp.llm.embedded.catalogue import DEFAULT, MODELS, Hub, Model, Packages, find
from jp.llm.embedded.errors import NotInstalledError, PromptTooLongError, UnknownModelError
from jp.llm.embedded.install import Installed, Notice, Progress
from jp.llm.embedded.runtime import failure
from jp.terminal.capabilities import ChannelCaps, Format
from jp.terminal.printer import Printer

# --- the catalogue


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_an_entry_adds_up(model: Model) -> None:
    assert sum(piece.size for piece in model.pieces) == model.size
    assert len(model.sha256) == 64
    for piece in model.pieces:
        assert len(piece.sha256) == len(piece.wheel_sha256) == 64
        assert piece.member.startswith(piece.package.replace("-", "_") + "/")
    assert isinstance(model.sources[0], Hub)
    assert model.sources[0].url.startswith("https://huggingface.co/")
    assert isinstance(model.sources[-1], Packages)


def test_names_and_aliases_are_one_namespace() -> None:
    words = [word for model in MODELS for word in (model.name, *model.aliases)]
    assert len(words) == len(set(words))
    for model in MODELS:
        for word in (model.id, model.name.upper(), *model.aliases):
            assert find(word) is model
    assert find("default") is DEFAULT


def test_an_unknown_model_names_the_nearest() -> None:
    with pytest.raises(UnknownModelError, match="no embedded model `smolm2-135m`") as caught:
        find("smolm2-135m")
    assert caught.value.hints[0] == "did you mean `smollm2-135m`?"
    assert caught.value.status == 2


def test_a_mirror_of_the_hub_can_be_named() -> None:
    hub = DEFAULT.sources[0]
    assert isinstance(hub, Hub)
    assert hub.at(None) is hub
    assert hub.at("https://mirror.example/").url == hub.url.replace("https://huggingface.co", "https://mirror.example")


# --- places


def test_the_default_place_is_below_home() -> None:
    assert shelf.data_dir({"HOME": "/h"}) == "/h/.local/share/jp/models"
    assert shelf.data_dir({"HOME": "/h", "XDG_DATA_HOME": "/x"}) == "/x/jp/models"
    assert shelf.data_dir({"HOME": "/h", "XDG_DATA_HOME": "relative"}) == "/h/.local/share/jp/models"


def test_a_missing_model_says_how_to_get_it() -> None:
    with pytest.raises(NotInstalledError, match=r"qwen2\.5-coder-1\.5b is not installed") as caught:
        shelf.require(DEFAULT, os.environ)
    assert caught.value.hints == ("`jp model install` fetches it (1.12 GB)",)
    with pytest.raises(NotInstalledError) as caught:
        shelf.require(find("tiny"), os.environ)
    assert caught.value.hints == ("`jp model install smollm2-135m` fetches it (98 MB)",)


# --- threads


@pytest.mark.parametrize(
    ("count", "load", "wanted", "expected"),
    [
        (1, 0.0, None, (1, 1)),
        (2, 0.3, None, (1, 2)),
        (2, 1.0, None, (1, 1)),
        (2, 6.0, None, (1, 1)),
        (8, 0.0, None, (7, 8)),
        (8, 2.6, None, (5, 5)),
        (8, 5.0, 3, (3, 3)),
        (2, 0.0, 0, (1, 1)),
    ],
)
def test_every_thread_has_a_core(count: int, load: float, wanted: int | None, expected: tuple[int, int]) -> None:
    assert cores.threads(count, load, wanted) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("max 100000\n", None), ("200000 100000\n", 2), ("50000 100000\n", 1), ("150000\n", 1)]
)
def test_a_containers_quota_counts_in_whole_cores(text: str, expected: int | None) -> None:
    assert cores.quota(text) == expected


def test_there_is_a_core() -> None:
    assert 1 <= cores.available() <= (os.cpu_count() or 1)
    assert cores.load() >= 0


# --- slots


@pytest.mark.parametrize("wrong", ["", "../../x", "a/b", ".hidden", "a" * 65, "ä", "17 8"])
def test_only_plain_ids_name_a_slot(wrong: str) -> None:
    assert slots.file_name(wrong) is None


def test_the_oldest_slots_go_first(tmp_path: Path) -> None:
    for age, name in enumerate(["new", "middle", "old"]):
        path = tmp_path / "model" / f"{name}.slot"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    slots.prune(str(tmp_path), 300)
    assert len(list(tmp_path.rglob("*.slot"))) == 3
    slots.prune(str(tmp_path), 250)
    assert sorted(path.name for path in tmp_path.rglob("*.slot")) == ["middle.slot", "new.slot"]
    slots.prune(str(tmp_path), 50)
    assert list(tmp_path.rglob("*.slot")) == []


def test_a_removed_conversation_is_forgotten_by_every_model() -> None:
    top = Path(slots.root(os.environ))
    for model in ("a", "b"):
        (top / model).mkdir(parents=True)
        (top / model / "17800836875.slot").write_bytes(b"x")
        (top / model / "other.slot").write_bytes(b"x")
        (top / model / "17800836875.slot.4711").write_bytes(b"cut short by a kill")
        (top / model / "178008368750.slot.4711").write_bytes(b"x")
    (top / "a file").write_bytes(b"x")
    slots.forget(os.environ, "17800836875")
    slots.forget(os.environ, "../a/other")
    left = ["178008368750.slot.4711", "other.slot"]
    assert sorted(str(path.relative_to(top)) for path in top.rglob("*.slot*")) == [
        f"{model}/{name}" for model in "ab" for name in left
    ]
    slots.forget_model(os.environ, "a")
    assert sorted(path.name for path in top.iterdir()) == ["a file", "b"]


# --- errors in words


@pytest.mark.parametrize(
    ("status", "said", "log", "code", "words"),
    [
        (-9, "", "", "out_of_memory", "wants about 450 MB of memory"),
        (1, "std::bad_alloc", "", "out_of_memory", "more than the machine has free"),
        (1, "failed", "0.1 E ggml: failed to allocate buffer", "out_of_memory", "memory"),
        (1, "failed to load model", "", "model_load_failed", "could not be run: failed to load model"),
        (-6, "", "a\n0.1 E bad magic\nb", "model_load_failed", "0.1 E bad magic"),
        (-11, "", "", "model_load_failed", "ended by SIGSEGV"),
        (-4, "", "", "model_load_failed", "instructions that this processor has not"),
        (3, "", "", "model_load_failed", "ended with status 3"),
    ],
)
def test_a_dead_process_is_explained(status: int, said: str, log: str, code: str, words: str) -> None:
    error = failure(find("tiny"), status, said, log)
    assert error.code == code
    assert words in error.message
    assert error.hints


def test_a_prompt_that_is_too_long_is_explained() -> None:
    wire = JpError(
        "HTTP 400: request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it"
    )
    error = profile.explain(wire, DEFAULT, 8192)
    assert isinstance(error, PromptTooLongError)
    assert error.message == "the conversation has 9,031 tokens; qwen2.5-coder-1.5b was started with room for 8,192"
    other = JpError("something else")
    assert profile.explain(other, DEFAULT, 8192) is other


# --- what is shown


def test_the_list_shows_what_is_there() -> None:
    place = shelf.places(find("0.5b"), os.environ)
    Path(place.directory).mkdir(parents=True)
    with open(place.part, "wb") as file:
        file.truncate(find("0.5b").size // 2)
    with open(shelf.places(find("tiny"), os.environ).weights, "wb") as file:
        file.truncate(find("tiny").size)
    text = listing.text(listing.rows(os.environ))
    assert text.splitlines() == [
        "MODEL                     SIZE     MEMORY   STATE         WHAT FOR",
        "local/qwen2.5-coder-1.5b  1.12 GB  2.10 GB  -             conversation and small programs; the default",
        "local/qwen2.5-coder-0.5b  491 MB   750 MB   50 % fetched  for little memory; simple answers",
        "local/smollm2-135m        98 MB    450 MB   installed     for tests; answers are poor",
    ]


def test_records_have_fixed_keys() -> None:
    records = [row.record() for row in listing.rows(os.environ)]
    assert list(records[0]) == [
        "id",
        "aliases",
        "title",
        "summary",
        "licence",
        "size",
        "memory",
        "context",
        "default",
        "installed",
        "fetched",
        "path",
    ]
    assert [record["default"] for record in records] == [True, False, False]


def test_progress_in_words() -> None:
    meter = progress.Meter()
    gb = 1_000_000_000
    assert meter.words(Progress("fetching", 0, gb), 100.0) == "0 kB of 1.00 GB, 0 %"
    assert meter.words(Progress("fetching", 200_000_000, gb), 105.0) == "200 MB of 1.00 GB, 20 %, 40 MB/s, 20 s left"
    assert meter.words(Progress("verifying", 500_000_000, gb), 130.0) == "500 MB of 1.00 GB, 50 %"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5999, "1 h 40 min"), (45 * 60, "45 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert progress.duration(seconds) == words


def test_lines_where_nothing_can_be_repainted() -> None:
    now = [0.0]
    plain = ChannelCaps(escapes=False, addressable=False)
    printer, out, err = Printer.memory_with(Format.AUTO, plain, plain)
    model = find("tiny")
    with progress.Progression(model, printer, clock=lambda: now[0]) as shown:
        for percent in range(101):
            now[0] = percent * 0.3
            shown.report(Progress("fetching", model.size * percent // 100, model.size, "package index"))
        now[0] += 31
        shown.report(Progress("fetching", model.size - 1, model.size, "package index"))
        shown.report(Notice("a word"))
        shown.report(Progress("verifying", 10, 100))
    first, *lines, last = err.text.splitlines()
    assert first == f"Installing {model.name}: {model.title}, 98 MB, Apache-2.0."
    assert [line.split(" %")[0].rsplit(" ", 1)[1] for line in lines] == [*map(str, range(10, 100, 10)), "99"]
    assert lines[1].startswith("fetching smollm2-135m from package index: 21 MB of 98 MB, 20 %, 3 MB/s, 24 s left")
    assert last == "a word"
    assert out.text == ""


def test_one_status_line_where_it_can() -> None:
    both = ChannelCaps(escapes=True, addressable=True)
    printer, _, err = Printer.memory_with(Format.AUTO, both, both)
    with progress.Progression(find("tiny"), printer) as shown:
        shown.report(Progress("fetching", 10_000_000, find("tiny").size, "package index"))
        printer.tick()
        assert "fetching 10 MB of 98 MB, 10 %" in err.text
    assert len([line for line in err.text.splitlines() if line.startswith("Installing smollm2-135m: ")]) == 1


def test_the_last_word() -> None:
    model = find("tiny")
    assert progress.summary(model, Installed("/p", 0, 0, 0.0)) == "smollm2-135m is installed already: /p"
    assert "whole and verified" in progress.summary(model, Installed("/p", 0, model.size, 0.2))
    words = progress.summary(model, Installed("/p", 60_000_000, 38_362_432, 12.0))
    assert words.startswith("Installed smollm2-135m, verified (60 MB in 12 s, 38 MB were there): /p\n")
    assert words.endswith('jp query -m local/smollm2-135m "…"')
