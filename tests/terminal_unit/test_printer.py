"""The Printer at its public face, on buffers: what reaches each channel, in every format."""

import json
import threading
from itertools import product

import pytest

from jp.terminal.printer import Buffer, ChannelCaps, Format, Printer, Target

NONE, BOTH, STYLE, PLACE = (
    ChannelCaps(False, False),
    ChannelCaps(True, True),
    ChannelCaps(True, False),
    ChannelCaps(False, True),
)
RED = "\x1b[31mred\x1b[0m"
REPAINT = "\r\x1b[K\x1b[2A"


def made(out: ChannelCaps, err: ChannelCaps, format_: Format = Format.AUTO) -> tuple[Printer, Buffer, Buffer]:
    return Printer.memory_with(format_, out, err, tty=True)


@pytest.mark.req("104-1")
@pytest.mark.parametrize(("out_caps", "err_caps"), list(product((NONE, BOTH, STYLE), repeat=2)))
def test_colour_reaches_the_channel_that_can_carry_it(out_caps: ChannelCaps, err_caps: ChannelCaps) -> None:
    printer, out, err = made(out_caps, err_caps)
    printer.out(f"a {RED} b\n")
    printer.chrome(f"c {RED} d\n")
    assert out.text == (f"a {RED} b\n" if out_caps.escapes else "a red b\n")
    assert err.text == (f"c {RED} d\n" if err_caps.escapes else "c red d\n")


def test_a_sequence_split_over_writes_is_still_one() -> None:
    printer, out, _ = made(NONE, NONE)
    for character in f"a{RED}b\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\c":
        printer.out(character)
    assert out.text == "aredblinkc"


@pytest.mark.req("104-5")
def test_nothing_is_repainted_on_stdout() -> None:
    printer, out, err = made(BOTH, BOTH)
    with printer.status("Waiting…") as status:
        status.detail("x")
        printer.out("line\n")
        printer.out("half")
        with printer.lend():
            pass
    printer.out("\n")
    assert "\r" in err.text
    assert "\r" not in out.text
    assert "\x1b[" not in out.text.replace("\x1b[0m", "")


@pytest.mark.req("104-9", "104-19", "104-23")
@pytest.mark.parametrize(("err_caps", "wanted"), [(STYLE, RED), (NONE, "red"), (PLACE, "red")])
def test_no_repaint_reaches_an_stderr_that_cannot_act_on_it(err_caps: ChannelCaps, wanted: str) -> None:
    printer, _, err = made(BOTH, err_caps)
    printer.chrome(REPAINT + RED + "\n")
    assert err.text == wanted + "\n"


@pytest.mark.req("104-10", "104-18")
def test_data_on_a_plain_stdout_keeps_all_but_its_escapes() -> None:
    printer, out, _ = made(NONE, BOTH)
    printer.out("a\r\n\tb\x00\x07\x85é漢\n")
    assert out.data == "a\r\n\tb\x00\x07\x85é漢\n".encode()


@pytest.mark.req("104-108")
@pytest.mark.parametrize("format_", list(Format))
def test_memory_has_the_capabilities_of_a_terminal_run(format_: Format) -> None:
    printer, _, _ = Printer.memory(format_)
    escapes = format_ in (Format.AUTO, Format.TEXT_PRETTY)
    assert printer.caps(Target.OUT) == printer.caps(Target.ERR) == ChannelCaps(escapes, True)
    assert printer.can_repaint is escapes


@pytest.mark.req("104-109")
def test_capabilities_that_no_single_format_has() -> None:
    printer, out, err = Printer.memory_with(Format.TEXT, NONE, BOTH)
    assert printer.can_repaint
    printer.out(RED + "\n")
    printer.chrome(RED + "\n")
    status = printer.status("Waiting…")
    assert out.text == "red\n"
    assert err.text.startswith(RED + "\n\r⏱ Waiting… ")
    status.end()


@pytest.mark.req("104-110")
def test_a_prompt_is_drawn_into_a_buffer_of_its_own() -> None:
    printer, out, err = Printer.memory_with(Format.AUTO, NONE, NONE, tty=True)
    with printer.lend() as loan:
        loan.write("really? \x1b[1m[y,n]\x1b[0m ")
    assert printer.tty_buffer.text == "really? \x1b[1m[y,n]\x1b[0m "
    assert out.text == err.text == ""


@pytest.mark.req("104-67")
def test_without_a_terminal_a_question_is_on_no_channel() -> None:
    printer, out, err = Printer.memory_with(Format.AUTO, BOTH, BOTH)
    printer.terminal("really?")
    with printer.lend() as loan:
        loan.write("really?")
        assert loan.fd is None
    assert out.text == err.text == printer.tty_buffer.text == printer.transcript.text == ""


@pytest.mark.req("104-66")
@pytest.mark.parametrize("format_", [Format.TEXT, Format.JSON])
def test_a_prompt_is_drawn_with_escapes_whatever_the_format(format_: Format) -> None:
    printer, out, _ = Printer.memory_with(format_, NONE, NONE, tty=True)
    with printer.lend() as loan:
        loan.write("\x1b[1mreally?\x1b[0m\n")
    printer.out(RED)
    assert printer.tty_buffer.text == "\x1b[1mreally?\x1b[0m\n"
    assert out.text == "red"
    assert printer.caps(Target.TTY) == BOTH


@pytest.mark.req("104-116")
def test_chrome_and_reply_interleave_in_the_order_written() -> None:
    printer, _, _ = made(BOTH, BOTH)
    for number in range(50):
        printer.out(f"o{number}\n")
        printer.chrome(f"c{number}\n")
    assert printer.transcript.text == "".join(f"o{n}\nc{n}\n" for n in range(50))


@pytest.mark.req("104-118", "104-17")
def test_under_json_every_line_of_stderr_is_an_object() -> None:
    printer, out, err = Printer.memory(Format.JSON)
    printer.note("one\nline \x1b[1mbold\x1b[0m")
    printer.chrome("raw chrome")
    printer.error({"message": "it broke", "metadata": {"n": 1}, "code": "broken"}, "jp: it broke\n")
    printer.announce("shutting down")
    with printer.status("Waiting…") as status:
        status.detail("x")
        printer.update(status, "attempt 2")
    lines = [json.loads(line) for line in err.text.splitlines()]
    assert [line["message"] for line in lines] == [
        "one\nline \x1b[1mbold\x1b[0m",
        "it broke",
        "shutting down",
        "attempt 2",
    ]
    assert lines[1] == {"message": "it broke", "metadata": {"n": 1}, "code": "broken"}
    assert out.text == ""
    assert "\x1b" not in err.text


@pytest.mark.req("104-123")
def test_an_error_is_text_on_stderr_otherwise() -> None:
    printer, out, err = Printer.memory(Format.TEXT)
    printer.error({"message": "it broke", "metadata": {}, "code": "broken"}, "jp: it broke\n")
    assert (out.text, err.text) == ("", "jp: it broke\n")


def test_json_pretty_indents_stdout_alone() -> None:
    printer, out, err = Printer.memory(Format.JSON_PRETTY)
    printer.record(b'{"a":[1,2],"b":{"c":1.50}}')
    printer.error({"message": "m", "metadata": {}, "code": "c"}, "m")
    printer.note("n")
    assert json.loads(out.text) == {"a": [1, 2], "b": {"c": 1.5}}
    assert '\n  "a": [' in out.text
    assert "1.50" in out.text, "numbers stay as they were"
    assert len(err.text.splitlines()) == 2


def test_json_has_a_record_a_line() -> None:
    printer, out, _ = Printer.memory(Format.JSON)
    printer.record(b'{"a": 1}')
    printer.record('{"b": "\\u001b\u009b"}\n')
    assert out.text == '{"a": 1}\n{"b": "\\u001b\u009b"}\n'


def test_quiet_silences_chrome_and_nothing_else() -> None:
    printer, out, err = Printer.memory(Format.AUTO, quiet=True)
    printer.note("note")
    printer.chrome("chrome")
    status = printer.status("Waiting…")
    printer.update(status, "attempt 2")
    assert err.text == ""
    printer.out("data\n")
    printer.error({}, "jp: error")
    printer.announce("shutting down")
    assert out.text == "data\n"
    assert err.text == "jp: error\nshutting down\n"


@pytest.mark.parametrize("say", ["note", "announce", "error"])
def test_a_line_of_chrome_begins_on_a_line_of_its_own(say: str) -> None:
    printer, _, _ = made(BOTH, BOTH)
    printer.out("an answer")
    printer.error({}, "said") if say == "error" else getattr(printer, say)("said")
    assert printer.transcript.text == "an answer\nsaid\n"


@pytest.mark.req("104-69")
def test_output_before_a_question_is_written_and_later_output_waits() -> None:
    printer, out, err = made(BOTH, BOTH)
    printer.out("before\n")
    with printer.lend() as loan:
        assert out.text == "before\n"
        printer.out("later\n")
        printer.note("later too")
        loan.write("really? ")
        assert out.text == "before\n"
        loan.write("y\n")
    assert printer.transcript.text == "before\nreally? y\nlater\nlater too\n"
    assert (out.text, err.text) == ("before\nlater\n", "later too\n")


def test_lends_nest_and_only_the_last_end_counts() -> None:
    printer, out, _ = made(BOTH, BOTH)
    with printer.lend():
        with printer.lend() as inner:
            printer.out("later\n")
            inner.write("edit\n")
        assert out.text == ""
    assert printer.transcript.text == "edit\nlater\n"


def test_an_unfinished_line_is_written_again_after_a_lend() -> None:
    printer, _, _ = made(BOTH, BOTH)
    printer.out("done\n\x1b[1mbold \x1b[31mred")
    with printer.lend() as loan:
        loan.write("really? y\n")
    printer.out(" end\x1b[0m\n")
    assert printer.transcript.text == (
        "done\n\x1b[1mbold \x1b[31mred"
        + "\x1b[0m\n"
        + "really? y\n"
        + "\x1b[0m\x1b[1mbold \x1b[31mred"
        + " end\x1b[0m\n"
    )


def test_an_unfinished_line_keeps_the_style_it_began_in() -> None:
    printer, _, _ = made(BOTH, BOTH)
    printer.out("\x1b[31mfirst\nsecond")
    with printer.lend():
        pass
    assert printer.transcript.text.endswith("\x1b[0m\n\x1b[0m\x1b[31msecond")


def test_a_stop_and_a_continue_are_a_lend() -> None:
    printer, _, _ = made(BOTH, BOTH)
    printer.out("half")
    printer.suspend()
    printer.out(" whole\n")
    assert printer.transcript.text == "half\n"
    printer.resume()
    assert printer.transcript.text == "half\nhalf whole\n"


def test_another_device_goes_on_during_a_lend() -> None:
    printer, out, _ = made(NONE, BOTH)
    with printer.lend():
        printer.out("data\n")
        assert out.text == "data\n"


@pytest.mark.req("104-130")
def test_many_threads_are_never_torn_and_keep_their_own_order() -> None:
    printer, out, err = made(NONE, NONE)
    count = 200

    def speak(name: int) -> None:
        for number in range(count):
            printer.out(f"<{name} {number} {'x' * (number % 50)}>\n")
            printer.note(f"<{name} {number}>")
            printer.terminal(f"<{name} {number}>\n")

    threads = [threading.Thread(target=speak, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert printer.flush(10)
    for buffer in (out, err, printer.tty_buffer):
        lines = buffer.text.splitlines()
        assert len(lines) == 6 * count
        assert all(line[0] == "<" and line[-1] == ">" for line in lines)
        for name in range(6):
            numbers = [int(line[1:-1].split()[1]) for line in lines if line.startswith(f"<{name} ")]
            assert numbers == list(range(count))


def test_undecodable_bytes_go_out_as_they_came_but_not_to_a_terminal() -> None:
    printer, out, err = made(NONE, BOTH)
    name = b"caf\xe9\n".decode("utf-8", "surrogateescape")
    printer.out(name)
    printer.chrome(name)
    printer.out("\ud800\n")
    assert out.data == b"caf\xe9\n?\n"
    assert err.data == b"caf?\n"


def test_long_text_arrives_whole_and_in_order() -> None:
    printer, out, _ = made(NONE, NONE)
    text = "".join(f"{number:07d} \x1b[1m漢\x1b[0m\n" for number in range(40_000))
    printer.out(text)
    assert out.text == text.replace("\x1b[1m", "").replace("\x1b[0m", "")


@pytest.mark.req("104-93")
@pytest.mark.parametrize(("out_caps", "err_caps"), list(product((NONE, BOTH), repeat=2)))
def test_colour_is_asked_for_a_channel(out_caps: ChannelCaps, err_caps: ChannelCaps) -> None:
    printer, _, _ = made(out_caps, err_caps)
    assert printer.colour(Target.OUT) is out_caps.escapes
    assert printer.colour(Target.ERR) is err_caps.escapes


def test_no_color_leaves_repaints() -> None:
    printer, _, _ = Printer.memory_with(Format.AUTO, BOTH, BOTH, environ={"NO_COLOR": "1"})
    assert not printer.colour(Target.OUT)
    assert printer.can_repaint


@pytest.mark.req("104-96")
@pytest.mark.parametrize(
    ("declared", "width"), [("100", 100), ("", None), ("0", None), ("-3", None), ("wide", None), ("9" * 50, None)]
)
@pytest.mark.parametrize("caps", [NONE, BOTH])
def test_the_width_is_what_is_declared(declared: str, width: int | None, caps: ChannelCaps) -> None:
    printer, _, _ = Printer.memory_with(Format.AUTO, caps, caps, environ={"COLUMNS": declared})
    assert printer.width(Target.OUT) == width


@pytest.mark.parametrize("err_caps", [NONE, STYLE, PLACE, BOTH])
def test_news_of_a_claim_is_in_place_or_a_plain_line_each(err_caps: ChannelCaps) -> None:
    printer, _, err = made(NONE, err_caps)
    with printer.status("Waiting…") as status:
        for attempt in (1, 2, 3):
            printer.update(status, f"attempt {attempt}")
    if err_caps.can_repaint:
        assert "\n" not in err.text
        assert err.text.endswith("\r\x1b[K")
    else:
        assert err.text == "attempt 1\nattempt 2\nattempt 3\n"


def test_promptability_changes_no_byte() -> None:
    def run(tty: bool) -> tuple[bytes, bytes]:
        printer, out, err = Printer.memory_with(Format.AUTO, NONE, STYLE, tty=tty)
        printer.out(RED + "\n")
        printer.note(REPAINT + RED)
        with printer.status("Waiting…"):
            pass
        return out.data, err.data

    assert run(tty=True) == run(tty=False)


def test_an_empty_write_is_none() -> None:
    printer, out, err = made(BOTH, BOTH)
    printer.out("")
    printer.chrome("")
    printer.terminal("")
    assert printer.transcript.data == out.data == err.data == b""


def test_flush_says_when_a_lend_holds_text_back() -> None:
    printer, _, _ = made(BOTH, BOTH)
    with printer.lend():
        printer.out("later\n")
        assert not printer.flush(0.01)
    assert printer.flush(0.01)
