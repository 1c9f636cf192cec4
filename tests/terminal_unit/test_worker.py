"""The worker's steps on sinks that refuse, and what must not happen when a device is gone or full."""

import os
import select
import subprocess

import pytest

from jp.terminal.device import RETRY_SECS, Device
from jp.terminal.sink import Buffer, MemorySink
from jp.terminal.target import Target
from jp.terminal.worker import Gate, Worker
from tests.support.process import Process
from tests.support.terminal import Terminal
from tests.terminal_unit.children import child
from tests.terminal_unit.clock import Clock


class Refusing(MemorySink):
    """A terminal that polls as writable and takes as many bytes as it likes, or none."""

    def __init__(self, *targets: Target) -> None:
        self.buffers = {target: Buffer() for target in targets}
        super().__init__(self.buffers, terminal=True, order=Buffer())
        self.room = 0
        self.tries = 0

    def watched(self) -> int | None:
        return 99

    def write(self, target: Target, data: memoryview) -> int:
        self.tries += 1
        taken = min(self.room, len(data))
        self.room -= taken
        super().write(target, data[:taken])
        return taken


def made(*targets: Target) -> tuple[Worker, Device, Refusing, Clock]:
    clock, sink = Clock(), Refusing(*targets)
    device = Device(sink, targets, {})
    return Worker([device], clock), device, sink, clock


def test_a_refusal_is_followed_by_poll_and_a_false_poll_by_a_pause() -> None:
    worker, _, sink, clock = made(Target.OUT)
    worker.post(worker.write, Target.OUT, "hello", False, 0.0)
    assert worker.work() is None, "poll ends the wait"
    assert worker._watched() == {99: True}
    assert worker.work() is None
    assert sink.tries == 1, "not tried again before poll says so"
    worker._polled(99, False)
    assert worker.work() == pytest.approx(RETRY_SECS)
    assert worker._watched() == {99: False}
    clock.now += 2 * RETRY_SECS
    assert worker.work() is None
    assert worker._watched() == {99: True}
    sink.room = 3
    worker._polled(99, False)
    worker.work()
    assert sink.order.text == "hel"
    sink.room = 100
    worker._polled(99, False)
    assert worker.work() is None
    assert sink.order.text == "hello"
    assert worker._watched() == {99: False}


def test_short_writes_keep_every_byte_and_their_order() -> None:
    worker, _, sink, clock = made(Target.OUT, Target.ERR)
    for number in range(20):
        worker.post(worker.write, Target.OUT, f"out {number} 漢\n", False, 0.0)
        worker.post(worker.write, Target.ERR, f"err {number} é\n", False, 0.0)
    gate = Gate()
    worker.post(worker.flush, gate)
    while not gate.wait(0):
        sink.room = 7
        worker._polled(99, False)
        worker.work()
        clock.now += 1
    assert sink.order.text == "".join(f"out {n} 漢\nerr {n} é\n" for n in range(20))
    assert sink.buffers[Target.ERR].text == "".join(f"err {n} é\n" for n in range(20))


def test_what_a_lend_finds_half_way_out_waits_for_its_end() -> None:
    worker, device, sink, clock = made(Target.OUT, Target.TTY)
    worker.post(worker.write, Target.OUT, "hello\n", False, 0.0)
    sink.room = 3
    worker.work()
    gate = Gate()
    worker.post(worker.lend, gate)
    worker.post(worker.write, Target.TTY, "really?", False, 0.0)
    worker.work()
    assert not gate.wait(0)
    clock.now += 0.06
    worker.work()
    assert gate.wait(0), "after 50 ms the terminal is the caller's, stuck as it is"
    sink.room = 100
    worker._polled(99, False)
    worker.work()
    assert sink.order.text == "hel\nreally?", "on a line of its own"
    worker.post(worker.take_back, gate)
    worker.work()
    assert sink.order.text == "hel\nreally?hello\n", "what was half way out is a line like any other"
    assert device.drained


def test_a_lend_that_ends_before_it_began_leaves_no_hold() -> None:
    worker, device, sink, _ = made(Target.OUT, Target.TTY)
    worker.post(worker.write, Target.OUT, "hello\n", False, 0.0)
    worker.work()
    gate = Gate()
    worker.post(worker.lend, gate)
    worker.post(worker.write, Target.TTY, "really?\n", False, 0.0)
    worker.work()
    worker.post(worker.take_back, gate)
    sink.room = 100
    worker._polled(99, False)
    worker.work()
    assert sink.order.text == "hello\nreally?\n"
    assert device.held == 0


def test_what_a_prompt_drew_last_is_not_lost_when_the_lend_ends() -> None:
    worker, _, sink, _ = made(Target.OUT, Target.TTY)
    gate = Gate()
    worker.post(worker.lend, gate)
    worker.work()
    worker.post(worker.write, Target.TTY, "first ", False, 0.0)
    worker.work()
    worker.post(worker.write, Target.TTY, "last\n", False, 0.0)
    worker.post(worker.write, Target.OUT, "later\n", False, 0.0)
    worker.post(worker.take_back, gate)
    worker.work()
    assert sink.order.text == ""
    sink.room = 100
    worker._polled(99, False)
    worker.work()
    assert sink.order.text == "first last\nlater\n"


def test_a_backlog_of_small_pieces_costs_little_more_than_its_text() -> None:
    worker, device, sink, _ = made(Target.OUT, Target.ERR)
    for _ in range(100_000):
        worker.write(Target.OUT, "four", False, 0.0)
    assert len(device.queue) < 1000
    worker.write(Target.ERR, "err\n", False, 0.0)
    worker.write(Target.OUT, "own line\n", True, 0.0)
    assert len(device.queue) < 1000
    sink.room = 1 << 30
    while worker.work() == 0.0:
        pass
    assert sink.order.text == "four" * 100_000 + "err\nown line\n"


def test_a_gone_reader_costs_no_cpu() -> None:
    read, write = os.pipe()
    body = """
closed = []
printer.on_closed = closed.append
printer.out("x\\n")
until(lambda: closed)
before = time.process_time()
time.sleep(0.4)
say(f"{time.process_time() - before:.3f}")
os._exit(0)
"""
    os.close(read)
    with Process(child(body), stdout=write) as process:
        assert process.wait() == "exited 0"
        assert float(process.err) < 0.2
    os.close(write)


def test_a_full_terminal_does_not_hold_up_a_pipe() -> None:
    body = """
printer.note("x" * 200_000)
printer.flush(0.1)
for number in range(100):
    printer.out(f"{number}\\n")
    time.sleep(0.001)
os.read(0, 10)
done()
"""
    with Terminal(child(body), stdout=subprocess.PIPE) as terminal:
        assert terminal.process.stdout is not None
        fd = terminal.process.stdout.fileno()
        data = b""
        while b"99\n" not in data:
            assert select.select([fd], [], [], 30)[0], "the terminal is not read, and must not matter"
            data += os.read(fd, 4096)
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        assert terminal.output.count(b"x") == 200_000
