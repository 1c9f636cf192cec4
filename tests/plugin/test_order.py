"""Whose turn a response is: with an id at once, without one in the order of the requests."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp.plugin.order import Data, Order, Slot
from jp.prompt.outcomes import Cancelled, Outcome, Submitted
from jp.prompt.questions import Question
from tests.plugin.hosting import UNATTENDED, Hosting


@pytest.fixture
def hosting(tmp_path: Path) -> Hosting:
    return Hosting(tmp_path)


class Held:
    """An answer that the person gives once `release` is called, or after many seconds."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._released = threading.Event()
        self.up = threading.Event()

    def __call__(self, question: Question) -> Outcome:
        self.up.set()
        self._released.wait(20)
        return self._outcome

    def release(self) -> None:
        self._released.set()


# --- the order alone


@pytest.mark.req("PROTO-45", "D60-39")
@given(st.permutations(range(6)))
def test_without_ids_in_the_order_of_the_requests_whichever_is_ready_first(ready: list[int]) -> None:
    sent: list[Data] = []
    order = Order(sent.append)
    slots = [order.place(None) for _ in ready]
    for count, number in enumerate(ready, 1):
        order.respond(slots[number], b"%d" % number)
        # All that can be sent is: those up to the first that is not ready.
        missing = set(ready[count:])
        assert sent == [b"%d" % n for n in range(min(missing, default=len(ready)))]


@pytest.mark.req("PROTO-44", "D60-36", "D60-42")
@pytest.mark.parametrize("ident", [0, "", "a", 7])
def test_with_an_id_at_once(ident: str | int) -> None:
    sent: list[Data] = []
    order = Order(sent.append)
    waits = order.place(None)
    assert order.place(ident) is None
    order.respond(None, b"at once")
    assert sent == [b"at once"]
    order.respond(waits, b"later")
    assert sent == [b"at once", b"later"]


def test_a_long_response_keeps_its_place() -> None:
    sent: list[Data] = []
    order = Order(sent.append)
    prompt, events, last = order.place(None), order.place(None), order.place(None)
    pieces: Iterator[bytes] = iter([b"a", b"b"])
    order.respond(last, b"last")
    order.respond(events, pieces)
    assert sent == []
    assert list(zip([1, 2], pieces, strict=False)) == [(1, b"a"), (2, b"b")]  # and nothing of it was made before
    order.respond(prompt, b"first")
    assert sent == [b"first", pieces, b"last"]


@given(st.lists(st.booleans(), max_size=12), st.randoms())
def test_nothing_is_lost_or_sent_twice(with_id: list[bool], random: object) -> None:
    sent: list[Data] = []
    order = Order(sent.append)
    places: list[tuple[int, Slot | None]] = [(n, order.place(n if it else None)) for n, it in enumerate(with_id)]
    random.shuffle(places)  # type: ignore[attr-defined]
    for number, slot in places:
        order.respond(slot, b"%d" % number)
    assert sorted(sent, key=lambda each: int(bytes(each))) == [b"%d" % n for n in range(len(with_id))]  # type: ignore[arg-type]
    assert [each for each in sent if not with_id[int(bytes(each))]] == [  # type: ignore[arg-type]
        b"%d" % n for n, it in enumerate(with_id) if not it
    ]


# --- a whole run


@pytest.mark.req("D60-42", "D60-36", "PROTO-44")
def test_a_request_with_an_id_is_answered_while_a_prompt_is_up(hosting: Hosting) -> None:
    held = Held(Submitted("y"))
    threading.Thread(target=lambda: (hosting.noted(3), held.release()), daemon=True).start()
    hosting.run(
        """
        send(type="prompt", kind="confirm", message="?", id="prompt")
        for request in ("list_conversations", "read_config", "nope"):
            send(type=request, id=request)
            note(read()["id"])
        note(read())
        send(type="exit")
        """,
        [held],
    )
    assert held.up.is_set()
    assert hosting.notes[:3] == ["list_conversations", "read_config", "nope"]
    assert hosting.notes[3] == {"type": "prompt_response", "id": "prompt", "outcome": "answered", "value": True}


@pytest.mark.req("PROTO-45", "D60-37")
def test_those_without_wait_behind_the_prompt_and_those_with_do_not(hosting: Hosting) -> None:
    held = Held(Submitted("y"))
    threading.Thread(target=lambda: (hosting.noted(2), held.release()), daemon=True).start()
    hosting.run(
        """
        send(type="list_conversations")
        send(type="prompt", kind="confirm", message="?")
        send(type="read_config", path="editor")
        send(type="nope")
        send(type="read_events", conversation="1")
        send(type="lock", conversation="1", id=1)
        for _ in range(6):
            response = read()
            note([response["type"], response.get("request"), "id" in response])
        send(type="exit")
        """,
        [held],
    )
    assert hosting.notes == [
        ["conversations", None, False],
        ["error", "lock", True],
        ["prompt_response", None, False],
        ["config", None, False],
        ["error", "nope", False],
        ["error", "read_events", False],
    ]


@pytest.mark.req("D60-38", "D60-40", "D60-36")
def test_two_prompts_with_ids_are_asked_one_after_the_other(hosting: Hosting) -> None:
    hosting.run(
        """
        out.write(b'{"type":"prompt","kind":"text","message":"first","id":"b"}\\n'
                  b'{"type":"prompt","kind":"text","message":"second","id":"a"}\\n')
        out.flush()
        note(read()); note(read())
        send(type="exit")
        """,
        [Cancelled(), Submitted("2")],
    )
    assert [each.message for each in hosting.prompts.asked] == ["first", "second"]
    assert [(each["id"], each["outcome"], each.get("value")) for each in hosting.notes] == [
        ("b", "cancelled", None),
        ("a", "answered", "2"),
    ]


@pytest.mark.req("D60-39", "D60-37", "D60-40")
def test_prompts_without_ids_are_answered_in_the_order_of_the_requests(hosting: Hosting) -> None:
    hosting.run(
        """
        for kind in ("text", "nope", "secret", "confirm"):
            send(type="prompt", kind=kind, message="?")
        for _ in range(4): note(read())
        send(type="exit")
        """,
        [Submitted("1"), Cancelled(), Submitted("n")],
    )
    assert all("id" not in each for each in hosting.notes)
    assert [each.get("value", each.get("outcome", each["type"])) for each in hosting.notes] == [
        "1",
        "error",
        "cancelled",
        False,
    ]


@pytest.mark.req("D60-44")
def test_each_waiting_prompt_is_told_that_nobody_can_be_asked(tmp_path: Path) -> None:
    hosting = Hosting(tmp_path, UNATTENDED)
    hosting.run(
        """
        out.write(b'{"type":"prompt","kind":"text","message":"1","id":1}\\n{"type":"prompt","kind":"text","message":"2"}\\n'
                  b'{"type":"prompt","kind":"text","message":"3","id":"3"}\\n')
        out.flush()
        for _ in range(3): note(read())
        send(type="exit")
        """
    )
    assert sorted(str(each.get("id")) for each in hosting.notes) == ["1", "3", "None"]
    assert {each["outcome"] for each in hosting.notes} == {"unavailable"}
    assert hosting.prompts.asked == []


@pytest.mark.req("D60-43", "PROTO-17", "PROTO-44")
def test_many_threads_of_a_plugin_get_whole_lines_each_its_own(hosting: Hosting) -> None:
    """Small responses between large ones, errors and prompts, as the reader takes them."""
    hosting.run(
        """
        import threading
        lock, left, problems = threading.Lock(), {}, []
        def work(worker):
            kinds = [{"type": "read_config"}, {"type": "nope"}, {"type": "list_conversations"}]
            for number in range(50):
                request = {**kinds[(worker + number) % 3], "id": f"{worker}/{number}"}
                if number % 10 == 5:
                    request.update(type="prompt", kind="text", message=request["id"])
                with lock:
                    left[request["id"]] = request["type"]
                    send(**request)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads: thread.start()
        wanted = {"read_config": "config", "list_conversations": "conversations", "prompt": "prompt_response"}
        for _ in range(8 * 50):
            response = json.loads(sys.stdin.buffer.readline())
            with lock:
                request = left.pop(response["id"])
            if response["type"] not in (wanted.get(request), "error"):
                problems.append([request, response])
            if request == "prompt" and response["value"] != response["id"]:
                problems.append(response)
        for thread in threads: thread.join()
        note([problems, left])
        send(type="exit")
        """,
        [lambda question: Submitted(question.message)] * 100,
    )
    assert hosting.notes == [[[], {}]]
    assert len(hosting.prompts.asked) == 8 * 5


@pytest.mark.req("D60-43")
def test_a_large_response_is_whole_among_others(hosting: Hosting) -> None:
    """Longer than the pipe: what comes meanwhile is written behind it, never into it."""
    hosting.run(
        """
        text = "x" * 1_000_000
        made = ask(type="create_conversation")["conversation"]
        note(ask(type="push_events", conversation=made, events=[{"type": "chat_request", "content": text}])["type"])
        for number in range(3):
            send(type="read_events", conversation=made, id=number)
            for small in range(20):
                send(type="nope", id=f"{number}/{small}")
        for number in range(3):
            events = read()
            small = [read()["id"] for _ in range(20)]
            note([events["id"], events["data"][-1]["content"] == text, small == [f"{number}/{n}" for n in range(20)]])
        send(type="exit")
        """
    )
    assert hosting.notes == ["pushed", *([number, True, True] for number in range(3))]
