"""The inbox: order, deadlines, time that stands still."""

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


def test_time_that_stood_still_moves_every_deadline():
    clock = Clock()
    inbox = Inbox(clock)
    inbox.after(1, "due")
    clock.now += 60
    inbox.stood(60)
    inbox.post("posted")
    assert inbox.get() == "posted"
    clock.now += 1
    assert inbox.get() == "due"


def test_a_real_deadline_wakes_the_wait():
    inbox = Inbox()
    inbox.after(0.01, "due")
    assert inbox.get() == "due"
