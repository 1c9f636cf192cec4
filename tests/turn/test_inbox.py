"""The inbox: order, deadlines, time that stands still."""

from threading import Timer

from jp.interrupt import standing
from jp.turn.inbox import Inbox


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_events_come_in_the_order_posted():
    inbox = Inbox()
    for event in "abc":
        inbox.post(event)
    assert [inbox.get() for _ in range(3)] == ["a", "b", "c"]


def test_deadlines_come_in_the_order_of_time_and_before_what_waits():
    clock = Clock()
    inbox = Inbox(clock)
    inbox.after(2, "late")
    inbox.after(1, "early")
    inbox.post("posted")
    assert inbox.get() == "posted"
    clock.now += 5
    inbox.post("next")
    assert [inbox.get() for _ in range(3)] == ["early", "late", "next"]


def test_time_that_stands_still_moves_every_deadline():
    inbox = Inbox()
    inbox.after(0.05, "due")
    inbox.after(30, "never")
    go_on = standing.stand()
    Timer(0.2, inbox.post, ["while it stood"]).start()
    assert inbox.get() == "while it stood"
    go_on()
    before = standing.clock()
    assert inbox.get() == "due"
    assert standing.clock() >= before


def test_time_stands_as_long_as_anybody_keeps_it():
    one, other = standing.stand(), standing.stand()
    at = standing.clock()
    one()
    one()
    assert standing.still()
    assert standing.clock() == at
    other()
    assert not standing.still()
    assert standing.clock() - at < 1


def test_a_real_deadline_wakes_the_wait():
    inbox = Inbox()
    inbox.after(0.01, "due")
    assert inbox.get() == "due"
