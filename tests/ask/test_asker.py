"""The one place that asks, on real terminals: what is drawn when, whose a press is, and one question at a time."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.ask.children import child
from tests.support.process import Process
from tests.support.terminal import Terminal

ASK = """
def main():
    printer.out(repr(asker.ask(Edit("Say:", cancel="back"))) + chr(10))
"""


@pytest.mark.req("088-131", "088-132")
def test_output_is_written_before_a_prompt_and_held_back_while_it_is_up(tmp_path: Path):
    body = """
def main():
    printer.out("before the prompt, ")
    later(exists("up"), lambda: (printer.out("while "), printer.out("it was up" + chr(10)), touch("printed")))
    printer.out(repr(asker.ask(Edit("Say:"))) + chr(10))
"""
    with Terminal(child(body, tmp_path)) as terminal:
        terminal.until("Enter sends")
        assert terminal.screen.lines[:2] == ["before the prompt,", "Say:"]
        (tmp_path / "up").touch()
        terminal.until(lambda _: (tmp_path / "printed").exists())
        terminal.send(b"hello")
        terminal.until("Say: hello")
        assert "while" not in terminal.screen.text
        terminal.send(b"\r")
        assert terminal.wait() == "exited 0"
        # The unfinished line is there again, and goes on where it was.
        assert "before the prompt, while it was up\nSubmitted(value='hello')" in terminal.screen.contents
        assert "Say:" not in terminal.screen.text


@pytest.mark.req("088-42")
def test_nothing_is_drawn_while_an_external_editor_has_the_terminal(tmp_path: Path):
    body = """
from jp.editor.build import build_editor
from jp.config.sections.interaction import Editor, Inline

def main():
    section = Editor(envs=[], inline=Inline("emacs"), cmd=os.path.join(FOLDER, "editor"))
    editor = build_editor(section, os.environ, hand_over=asker.hand_over, router=router, say=printer.note)
    status = printer.status("Waiting…", interval=0.01)
    printer.out("streamed, ")
    print_it = lambda: (printer.out("held "), printer.note("chrome"), printer.out("back" + chr(10)), touch("printed"))
    later(exists("up"), print_it)
    asker.run(lambda dialogue: editor.edit_text("text"))
    status.end()
    printer.out("after" + chr(10))
"""
    editor = tmp_path / "editor"
    editor.write_text(
        f"#!/bin/sh\necho EDITING; echo x >> $1; touch {tmp_path}/up\n"
        f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done\n"
    )
    editor.chmod(0o755)
    with Terminal(child(body, tmp_path)) as terminal:
        terminal.until("EDITING")
        terminal.until(lambda _: (tmp_path / "printed").exists())
        drawn = len(terminal.output)
        terminal.pump(0.3)
        assert len(terminal.output) == drawn  # the status line ticks every 10 ms, elsewhere
        assert "held" not in terminal.screen.text
        (tmp_path / "go").touch()
        assert terminal.wait() == "exited 0"
        lines = [line for line in terminal.screen.contents.splitlines() if line]
        assert lines[-4:] == ["streamed, held", "chrome", "back", "after"]
        assert terminal.modes() == terminal.modes_before


def test_a_question_on_one_terminal_holds_up_nobody_on_another():
    with Terminal(child(ASK)) as one, Terminal(child(ASK)) as other:
        one.until("Enter sends")
        other.until("Enter sends")
        for terminal in (other, one):
            terminal.send(b"x\r")
            assert terminal.wait() == "exited 0"


def test_a_question_on_the_same_terminal_waits_its_turn(tmp_path: Path):
    with Terminal(["sh", "-c", '"$@" & first=$!; "$@"; wait $first', "sh", *child(ASK)]) as terminal:
        # Both are in the foreground: a script has no job control.
        terminal.until("Enter sends")
        for _ in range(10):
            terminal.pump(0.05)
        terminal.until(lambda s: s.text.count("Enter sends") == 1)
        terminal.send(b"x\r")
        terminal.until(lambda s: s.contents.count("Submitted(value='x')") == 1 and "Enter sends" in s.text)
        terminal.send(b"x\r")
        terminal.until(lambda s: s.contents.count("Submitted(value='x')") == 2)
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before


WEDGED = """
import time
class Wedged:
    def ask(self, question, terminal):
        terminal.write("wedged")
        while True:
            time.sleep(60)
backend = Wedged()
"""


@pytest.mark.req("092-17")
@pytest.mark.parametrize("how", ["key", "signal"])
def test_a_press_counts_while_a_prompt_is_stuck(how: str):
    with Terminal(child("router.shutdown_timeout_secs = 0.5\n" + ASK, before=WEDGED)) as terminal:
        terminal.until("wedged")
        for _ in range(2):  # the first one is the prompt's, which does not look
            terminal.press() if how == "key" else terminal.kill(signal.SIGINT)
            terminal.pump(0.1)
        terminal.until("gracefully shutting down…")
        assert terminal.wait() == "killed SIGINT"
        assert terminal.modes() == terminal.modes_before


def test_a_fault_of_a_dialogue_is_raised_where_it_was_asked():
    body = """
def main():
    try:
        asker.run(lambda dialogue: 1 / 0)
    except ZeroDivisionError:
        printer.out("raised" + chr(10))
    printer.out(repr(asker.ask(Edit("Say:"))) + chr(10))
"""
    with Terminal(child(body)) as terminal:
        terminal.until("Enter sends")
        assert "raised" in terminal.screen.text
        terminal.send(b"x\r")
        assert terminal.wait() == "exited 0"


def test_a_broken_prompt_gives_the_terminal_back_and_no_more_is_asked():
    body = """
def main():
    def twice(dialogue):
        first = dialogue.ask(Edit("Say:"), swaps=False)
        printer.out(repr((type(first).__name__, dialogue.ask(Edit("Again:")))) + chr(10))
    asker.run(twice)
"""
    with Terminal(child(body)) as terminal:
        terminal.until("Enter sends")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait() == "killed SIGTERM"
        assert "('Broken', Broken(" in terminal.screen.contents
        assert "Again:" not in terminal.screen.contents
        assert "Say:" not in terminal.screen.text


def test_without_a_terminal_nothing_is_asked_and_the_hints_say_what_to_do():
    body = """
def main():
    try:
        asker.ask(Edit("Say:"), about="what to say", hints=["say it with --word"])
    except NotPromptable as error:
        printer.out(error.message + "|" + "|".join(error.hints) + chr(10))
"""
    with Process(child(body)) as process:
        assert process.wait() == "exited 0"
        assert b"what to say|" in process.out
        assert b"say it with --word" in process.out


def test_a_terminal_that_another_program_reads_is_not_asked_on():
    body = """
import tty as modes
modes.setcbreak(tty.fd)
def main():
    try:
        asker.ask(Edit("Say:"))
    except NotPromptable as error:
        printer.out(error.code + chr(10))
"""
    with Terminal(child(body)) as terminal:
        assert terminal.wait() == "exited 0"
        assert "not_promptable" in terminal.screen.contents


@pytest.mark.parametrize("limit", [11, 12, 13])
def test_too_few_descriptors_are_no_internal_error(limit: int):
    body = f"""
def main():
    import resource
    from jp.errors import JpError
    resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))
    try:
        asker.ask(Edit("Say:"), about="what to say")
    except JpError as error:
        printer.out(error.code + chr(10))
"""
    with Terminal(child(body)) as terminal:
        terminal.until(lambda s: "Enter sends" in s.text or "system" in s.text)
        if "Enter sends" in terminal.screen.text:
            terminal.send(b"x\r")
        assert terminal.wait() == "exited 0"
        assert terminal.modes() == terminal.modes_before


@pytest.mark.req("088-41")
def test_prompts_know_neither_editor_nor_printer_nor_configuration():
    loaded = (
        "import sys, jp.prompt.terminal_prompts, jp.prompt.inline, jp.prompt.choice, jp.prompt.select, jp.prompt.secret"
    )
    loaded += ", jp.prompt.lines; print('\\n'.join(sys.modules))"
    with Process([sys.executable, "-c", loaded], env={**os.environ}) as process:
        assert process.wait() == "exited 0"
        modules = process.out.decode().split()
    forbidden = ("jp.editor", "jp.config", "jp.ask", "jp.terminal.printer", "jp.terminal.worker", "jp.llm", "jp.cli")
    assert not [name for name in modules if name.startswith(forbidden)]
    assert "jp.prompt.inline" in modules


@pytest.mark.req("092-160")
def test_after_prompts_and_menus_signals_are_the_routers_still():
    body = """
import signal
def owners():
    names = ("INT", "TERM", "HUP", "QUIT", "TSTP", "CONT", "WINCH")
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    return [signal.getsignal(getattr(signal, "SIG" + name)) for name in names], descriptor

def main():
    before = owners()
    printer.out(repr(asker.ask(Edit("Say:"))) + chr(10))
    printer.out(repr(asker.ask(Select("Which:", (Item("a", "A"),)))) + chr(10))
    printer.out(repr(asker.ask(Secret("Key:"))) + chr(10))
    printer.out("the same" + chr(10) if owners() == before and before[1] >= 0 else "others" + chr(10))
"""
    with Terminal(child(body)) as terminal:
        terminal.until("Enter sends")
        terminal.press()
        terminal.until("[c,q,b,?]?")
        terminal.send(b"b")
        terminal.until("Enter sends")
        terminal.send(b"x\r")
        for question in ("Which:", "Key:"):
            terminal.until(question)
            silence = time.monotonic() + 0.3
            terminal.until(lambda _, silence=silence: time.monotonic() > silence)  # type: ignore[misc]
            terminal.send(b"\x1b")
        assert terminal.wait() == "exited 0"
        assert "the same" in terminal.screen.lines
