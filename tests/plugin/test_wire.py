"""Lines and messages: what is one, what is none, and that no bytes at all make anything else of it."""

import json
import random
import time
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jp.plugin import messages
from jp.plugin.messages import Message, type_of
from jp.plugin.wire import MAX_LINE, Faulty, Lines, MalformedError, decode, encode

DEEP = 100_000
LONG = b"9" * 5000


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    """`data` in pieces of these sizes, the rest behind them."""
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


def fed(pieces: list[bytes], limit: int = MAX_LINE) -> tuple[list[bytes], bytes]:
    lines = Lines(limit)
    whole = [line for piece in pieces for line in lines.feed(piece)]
    return whole, lines.unfinished


# --- lines


def test_a_line_ends_with_a_line_feed_and_with_nothing_else() -> None:
    text = "a\rb\x0b\x0c\x1c\x85\u2028\u2029c\r"
    assert fed([f"{text}\n\n{text}".encode()]) == ([text.encode(), b""], text.encode())


@given(
    st.binary(max_size=60) | st.lists(st.sampled_from([b"\n", b"\r", b"a", b"\xff", b"{}"])).map(b"".join), st.data()
)
@example(b"a\nb\n\nc", None)
def test_any_chunking_gives_the_same_lines(data: bytes, draw: st.DataObject | None) -> None:
    expected = (data.split(b"\n")[:-1], data.split(b"\n")[-1])
    sizes = [1] * len(data) if draw is None else draw.draw(st.lists(st.integers(0, 9), max_size=20))
    assert fed(cut(data, sizes)) == expected


def test_split_at_every_byte() -> None:
    sent = ['{"type":"print","text":"Größe 😀\u2028\\n"}', "", '{"type":"exit"}\r', ""]
    data = "\n".join(sent).encode()
    for at in range(len(data) + 1):
        assert fed([data[:at], data[at:]]) == ([line.encode() for line in sent[:-1]], b""), at


@given(st.integers(1, 12), st.binary(max_size=40), st.lists(st.integers(0, 9), max_size=20))
def test_the_limit_does_not_depend_on_the_chunking(limit: int, data: bytes, sizes: list[int]) -> None:
    if max(map(len, data.split(b"\n"))) > limit:
        with pytest.raises(MalformedError):
            fed(cut(data, sizes), limit)
    else:
        fed(cut(data, sizes), limit)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_may_have_sixteen_mebibytes_and_not_one_byte_more(end: bytes) -> None:
    chunk = b"x" * 65536
    lines = Lines()
    for _ in range(MAX_LINE // len(chunk)):
        assert lines.feed(chunk) == []
    assert lines.feed(b"\n") == [b"x" * MAX_LINE]
    for _ in range(MAX_LINE // len(chunk)):
        lines.feed(chunk)
    with pytest.raises(MalformedError, match="16,777,216 bytes"):
        lines.feed(b"x" + end)


def test_what_is_too_long_is_not_kept() -> None:
    lines = Lines(10)
    with pytest.raises(MalformedError):
        lines.feed(b"x" * 11)
    assert lines.unfinished == b""


def test_a_byte_at_a_time_costs_no_more_than_the_bytes() -> None:
    began = time.monotonic()
    lines = Lines()
    for _ in range(200_000):
        lines.feed(b"x")
    assert lines.feed(b"\n") == [b"x" * 200_000]
    assert time.monotonic() - began < 5


# --- what is no message: the run ends


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON",
        b"echo: {}",
        b"{",
        b'{"type":"ready"',
        b'{"type":"ready"}}',
        b'{"type":"ready"} trailing',
        b"{'type':'ready'}",
        b"\x00",
        b"null",
        b"true",
        b"3",
        b'"ready"',
        b"[]",
        b'[{"type":"ready"}]',
        b"NaN",
        b"\xef\xbb\xbf" + b'{"type":"ready"}',
        '{"type":"ready"}'.encode("utf-16-le"),
        b'{"type":"ready"}\r{"type":"ready"}',  # a lone CR is no line end
        b'{"type":"print","text":"a\rb"}',
        b'{"type":"print","text":"a\x01b"}',
        b'{"type":"print","text":"a\x00b"}',
    ],
)
def test_what_is_no_json_object_is_malformed(line: bytes) -> None:
    with pytest.raises(MalformedError, match="no JSON object"):
        decode(line)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_what_python_takes_for_a_number_and_json_does_not_is_malformed(number: bytes) -> None:
    for around in (
        b'{"type":"log","level":"info","message":"m","fields":{"a":%s}}',
        b'{"type":"ready","ignored":%s}',
        b'{"type":"list_conversations","id":%s}',
        b'{"type":%s}',
    ):
        line = around.replace(b"%s", number)
        assert json.loads(line)  # Python does
        with pytest.raises(MalformedError, match="no JSON object"):
            decode(line)


@pytest.mark.parametrize("escape", [rb"\udcff", rb"\ud800", rb"\ud800x", rb"\ud800\u0041", rb"\udc00\ud800"])
def test_half_of_a_surrogate_pair_is_replaced(escape: bytes) -> None:
    """JSON can spell it, and programs write it; no text has it, and it would explode where it is written."""
    for around in (
        b'{"type":"print","text":"%s"}',
        b'{"type":"ready","ignored":"%s"}',
        b'{"type":"ready","%s":1}',
        b'{"type":"list_conversations","id":"%s"}',
        b'{"type":"prompt","kind":"select","message":"m","options":["%s"]}',
        b'{"type":"log","level":"info","message":"m","fields":{"%s":1}}',
    ):
        message = decode(around.replace(b"%s", escape))
        assert message is not None
        assert not isinstance(message, Faulty)
        msgspec.json.encode(message)
    whole = decode(b'{"type":"print","text":"\\ud83d\\ude00 %s"}'.replace(b"%s", escape))
    assert isinstance(whole, messages.Print)
    assert whole.text.startswith("\U0001f600 \ufffd")
    for broken in (b'{"type":"print","text":"%s}', b'"%s"', b'{"a":NaN,"b":"%s"}'):
        with pytest.raises(MalformedError):
            decode(broken.replace(b"%s", escape))


@pytest.mark.parametrize("wrong", [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x80"])
def test_what_is_no_utf8_is_malformed_also_where_nobody_looks(wrong: bytes) -> None:
    for around in (
        b'{"type":"print","text":"%s"}',
        b'{"type":"ready","ignored":"%s"}',
        b'{"type":"ready","ignored":{"deep":["%s"]}}',
        b'{"type":"ready","%s":1}',
        b'{"type":"list_conversations","id":"%s"}',
        b"%s",
        b'%s{"type":"ready"}',
        b'{"type":"ready"}%s',
    ):
        with pytest.raises(MalformedError, match="no UTF-8"):
            decode(around.replace(b"%s", wrong))


@pytest.mark.parametrize(
    "line",
    [
        b"[" * DEEP,
        b'{"type":' + b"[" * DEEP,
        b'{"type":"ready","ignored":' + b"[" * DEEP,
        b'{"type":"ready","ignored":' + b"[" * DEEP + b"]" * DEEP + b"}",
        b'{"a":' * DEEP,
        b'{"type":"log","level":"info","message":"m","fields":' + b'{"a":' * DEEP + b"1" + b"}" * (DEEP + 1),
        b'{"type":"list_conversations","id":' + b"[" * DEEP + b"]" * DEEP + b"}",
    ],
    ids=["array", "type", "ignored", "ignored, closed", "object", "fields", "id"],
)
def test_what_is_nested_without_end_is_malformed(line: bytes) -> None:
    with pytest.raises(MalformedError):
        decode(line)


def test_what_it_says_is_one_short_line_that_does_nothing() -> None:
    for line in (b"\x1b[2J\x07" + b"x" * 1_000_000, "\u202e\u2028\x85".encode(), b"\xff\x1b]0;t\x07", b"[" * DEEP):
        with pytest.raises(MalformedError) as caught:
            decode(line)
        said = str(caught.value)
        assert len(said) < 300
        assert said.isprintable()


# --- what is a wrong message: it is answered with an error


@pytest.mark.parametrize(
    ("line", "request_", "named"),
    [
        (b"{}", "", "`type`"),
        (b'{"type":null}', "", "`type`"),
        (b'{"type":3}', "", "`type`"),
        (b'{"type":["print"]}', "", "`type`"),
        (b'{"type":{"type":"print"}}', "", "`type`"),
        (b'{"Type":"ready"}', "", "`type`"),
        (b'{"type":""}', "", "`type`"),
        (b'{"type":"nope"}', "nope", "`prompt`"),
        (b'{"type":"Ready"}', "Ready", "`ready`"),
        (b'{"type":"shutdown"}', "shutdown", "unknown message type"),  # the host's own
        (b'{"type":"init"}', "init", "unknown message type"),
        (b'{"type":"print"}', "print", "`text`"),
        (b'{"type":"print","text":null}', "print", "`text`"),
        (b'{"type":"print","text":["a"]}', "print", "`text`"),
        (b'{"type":"print","text":"a","channel":3}', "print", "`channel`"),
        (b'{"type":"log","level":"loud","message":"m"}', "log", "`level`"),
        (b'{"type":"log","level":"info","message":"m","fields":[]}', "log", "`fields`"),
        (b'{"type":"log","level":"info","message":"m","fields":{"a":' + LONG + b"}}", "log", "`fields"),
        (b'{"type":"log","level":"info","message":"m","fields":{"a":1e999}}', "log", "`fields"),
        (b'{"type":"read_events"}', "read_events", "`conversation`"),
        (b'{"type":"read_events","conversation":17}', "read_events", "`conversation`"),
        (b'{"type":"push_events","conversation":"1","events":{}}', "push_events", "`events`"),
        (b'{"type":"read_config","path":["a"]}', "read_config", "`path`"),
        (b'{"type":"create_conversation","title":3}', "create_conversation", "`title`"),
        (b'{"type":"exit","code":256}', "exit", "`code`"),
        (b'{"type":"exit","code":-1}', "exit", "`code`"),
        (b'{"type":"exit","code":"0"}', "exit", "`code`"),
        (b'{"type":"exit","code":1.5}', "exit", "`code`"),
        (b'{"type":"exit","code":true}', "exit", "`code`"),
        (b'{"type":"exit","code":' + LONG + b"}", "exit", "`code`"),
        (b'{"type":"list_conversations","id":1.5}', "list_conversations", "`id`"),
        (b'{"type":"list_conversations","id":true}', "list_conversations", "`id`"),
        (b'{"type":"list_conversations","id":["a"]}', "list_conversations", "`id`"),
        (b'{"type":"print","text":"a","type":"exit"}', "exit", "`type`"),  # neither of the two
        (b'{"type":"exit","text":"a","type":"print"}', "print", "`type`"),
    ],
)
def test_a_wrong_message_is_faulty_and_names_what_is_wrong(line: bytes, request_: str, named: str) -> None:
    found = decode(line)
    assert isinstance(found, Faulty)
    assert found.request == request_
    assert named in found.message
    assert len(found.message) < 400
    assert found.id is None


@pytest.mark.req("PROTO-44", "D60-36")
@pytest.mark.parametrize("ident", [1, 0, -7, 2**63, 10**25, "", "a", "Größe\u2028\n", "1"])
def test_a_wrong_message_keeps_its_id(ident: Any) -> None:
    wrong: list[dict[str, Any]] = [{}, {"type": "nope"}, {"type": "prompt"}, {"type": "lock", "conversation": 3}]
    for message in wrong:
        found = decode(json.dumps({**message, "id": ident}).encode())
        assert isinstance(found, Faulty)
        assert found.id == ident
        assert type(found.id) is type(ident)


def test_of_two_equal_keys_the_last_counts() -> None:
    assert decode(b'{"type":"print","text":"a","text":"b"}') == messages.Print(text="b")
    assert decode(b'{"type":"exit","code":1,"code":2,"type":"exit"}') == messages.Exit(code=2)
    found = decode(b'{"type":"lock","conversation":"1","id":1,"id":"b"}')
    assert isinstance(found, messages.Lock)
    assert found.id == "b"


# --- what is a message


@pytest.mark.parametrize("line", [b"", b"\r", b"  \t ", b" \r"])
def test_an_empty_line_is_nothing(line: bytes) -> None:
    assert decode(line) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"type":"ready"}\r', messages.Ready()),
        (b' \t{ "type" : "ready" } \r', messages.Ready()),
        (b'{"type":"ready","ignored":' + LONG + b"}", messages.Ready()),
        (b'{"ignored":[{"type":"exit"}],"type":"ready"}', messages.Ready()),
        (b'{"type":"\\u0072eady"}', messages.Ready()),
        (b'{"type":"exit"}', messages.Exit()),
        (b'{"type":"exit","code":255}', messages.Exit(code=255)),
        (b'{"type":"print","text":"a\xe2\x80\xa8b\\r\\n\\u0000"}', messages.Print(text="a\u2028b\r\n\0")),
        (rb'{"type":"print","text":"\ud83d\ude00"}', messages.Print(text="😀")),
        (b'{"type":"print","text":"a","channel":"no such","format":""}', None),
    ],
)
def test_what_is_unusual_and_right(line: bytes, message: Message | None) -> None:
    found = decode(line)
    assert found == (message or messages.Print(text="a", channel="no such", format=""))


@pytest.mark.req("D60-4")
@pytest.mark.parametrize("left_out", [None, msgspec.UNSET])
def test_what_is_optional_may_be_null_or_not_there(left_out: Any) -> None:
    more = {} if left_out is msgspec.UNSET else {"default": None, "options": None, "id": None}
    found = decode(json.dumps({"type": "prompt", "kind": "text", "message": "m", **more}).encode())
    assert found == messages.Prompt(kind="text", message="m", default=left_out, options=left_out, id=left_out)


PRINT = b'{"type":"print","text":"Gr\xc3\xb6\xc3\x9fe","id":[1.5e3,{"a":null}]}'


@given(st.lists(st.tuples(st.integers(0, len(PRINT) - 1), st.binary(max_size=3)), max_size=4))
def test_any_bytes_give_a_message_or_a_typed_error(edits: list[tuple[int, bytes]]) -> None:
    line = PRINT
    for at, new in edits:
        line = line[:at] + new + line[at + 1 :]
    said = ""
    try:
        assert isinstance(decode(line), Message | Faulty | None)
    except MalformedError as error:
        said = str(error)
    assert not said or said.isprintable()


def test_any_nesting_gives_a_message_or_a_typed_error() -> None:
    """At some depth the parser gives up, and there is nothing in between."""
    for depth in [*range(1, 1200, 7), 5000, 50_000]:
        for line in (
            b'{"type":"log","level":"info","message":"m","fields":{"a":' + b"[" * depth + b"]" * depth + b"}}",
            b'{"type":"push_events","conversation":"1","events":[' + b"[" * depth + b"]" * depth + b"]}",
        ):
            try:
                assert isinstance(decode(line), Message | Faulty)
            except MalformedError:
                assert depth > 100


# --- what is written


SURROGATES = st.text(st.characters() | st.sampled_from('\ud800\udcff\n\r\u2028\x85\0"\\'))


@pytest.mark.req("D60-35", "PROTO-17")
@given(SURROGATES, SURROGATES | st.integers() | st.none())
@example("a\udcffb", "\ud800")
def test_a_response_is_one_line_of_utf8_whatever_is_in_it(value: str, ident: str | int | None) -> None:
    response = messages.PromptResponse(outcome="answered", value=value, id=msgspec.UNSET if ident is None else ident)
    line = encode(response)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    read = json.loads(line.decode())
    assert read["type"] == "prompt_response"
    assert ("id" in read) == (ident is not None)
    try:
        value.encode()
    except UnicodeEncodeError:
        assert len(read["value"]) == len(value)
    else:
        assert read["value"] == value


@pytest.mark.req("D60-35", "PROTO-17")
def test_names_that_are_no_text_are_sent_all_the_same() -> None:
    """File names and arguments may hold any bytes."""
    root, args = "/tmp/\udcff", ["\udcfe", "ok"]
    init = messages.Init(
        version=1,
        workspace=messages.Workspace(root=root, storage=root + "/.jp", id="abcde"),
        paths=messages.Paths(user_data="\udc80"),
        config={"\udcff": [{"a": "\udcff"}]},
        options={"n": 1.5, "none": None},
        args=args,
        log_level=0,
    )
    read = json.loads(encode(init).decode())
    assert read["args"] == ["\ufffd", "ok"]
    assert read["workspace"]["root"] == "/tmp/\ufffd"
    assert read["config"] == {"\ufffd": [{"a": "\ufffd"}]}
    assert read["options"] == {"n": 1.5, "none": None}


@pytest.mark.req("PROTO-17")
def test_every_message_of_the_host_has_its_type() -> None:
    sent = [
        messages.Shutdown(),
        messages.Describe(),
        messages.Conversations(data=[]),
        messages.Locked(conversation="1"),
        messages.Error(request="", message="m"),
    ]
    for message in sent:
        assert json.loads(encode(message))["type"] == type_of(message)
    assert encode(messages.Shutdown()) == b'{"type":"shutdown"}\n'
    assert encode(messages.PromptResponse(outcome="cancelled")) == b'{"type":"prompt_response","outcome":"cancelled"}\n'


@pytest.mark.req("D60-86")
def test_an_answer_is_in_no_repr() -> None:
    response = messages.PromptResponse(outcome="answered", value="hush-hush", id="a")
    for shown in (repr(response), str(response), f"{response}", f"{response!r}", repr([response]), f"{[response]}"):
        assert "hush" not in shown


def test_a_large_response_is_quick() -> None:
    texts = [random.Random(1).choice("aä😀\n") * 1000 for _ in range(5000)]
    began = time.monotonic()
    line = encode(messages.Config(data=texts))
    assert time.monotonic() - began < 2
    assert json.loads(line)["data"] == texts
