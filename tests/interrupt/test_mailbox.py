"""The queue whose wait may be bounded and interrupted."""

import re
import signal
import threading
import time
from types import FrameType

import pytest

from jp.interrupt.mailbox import EmptyError, Mailbox
from tests.conftest import REPOSITORY


def test_in_order_and_empty_after_the_time_given() -> None:
    box: Mailbox[int] = Mailbox()
    for n in range(3):
        box.post(n)
    assert [box.get(), box.get(0), box.get(1)] == [0, 1, 2]
    with pytest.raises(EmptyError):
        box.get(0)
    with pytest.raises(EmptyError):
        box.get(0.01)


def test_nothing_is_missed_whoever_posts() -> None:
    box: Mailbox[int] = Mailbox()
    for start in range(4):
        threading.Thread(target=lambda start=start: [box.post(n) for n in range(start, 4000, 4)]).start()  # type: ignore[misc]
    assert sorted(box.get(30) for _ in range(4000)) == list(range(4000))


@pytest.mark.req("092-6")
@pytest.mark.parametrize("posts", [True, False])
def test_a_handler_that_outlasts_the_time_does_not_make_it_for_ever(posts: bool) -> None:
    box: Mailbox[str] = Mailbox()

    def handler(_number: int, _frame: FrameType | None) -> None:
        time.sleep(0.1)
        if posts:
            box.post("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    rescue = threading.Timer(10, box.post, ("too late",))
    rescue.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        if posts:
            assert box.get(0.05) == "from the handler"
        else:
            with pytest.raises(EmptyError):
                box.get(0.05)
    finally:
        rescue.cancel()
        signal.signal(signal.SIGALRM, before)


def test_no_other_queue_is_waited_at_for_a_time() -> None:
    """`queue.SimpleQueue.get` with a timeout has the fault that this one was made for."""
    found = [
        str(path)
        for path in (REPOSITORY / "src").rglob("*.py")
        if re.search(r"\.get\([^)]*timeout ?=", path.read_text("utf-8")) and path.name != "mailbox.py"
    ]
    assert not found
