"""An editor on the real entry, router and terminal; `python -m tests.editor.program COMMAND DRAFTS [ARGUMENT…]`.

It stands for a flow: a thread has the text edited and says what came of it, while the main thread works.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import jp.boot
from jp.config.sections.interaction import Editor, Inline
from jp.editor.build import build_editor
from jp.editor.errors import EditorError
from jp.interrupt import end
from jp.interrupt.checkpoint import checkpoint
from jp.interrupt.ladder import MENU
from jp.interrupt.router import Router, Scope


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


@contextmanager
def terminal() -> Iterator[int | None]:
    fd = os.open("/dev/tty", os.O_RDWR)
    try:
        yield fd
    finally:
        os.close(fd)
        say("terminal back")


def flow(router: Router, command: str, drafts: str) -> None:
    section = Editor(envs=[], inline=Inline("emacs"), cmd=command)
    editor = build_editor(section, os.environ, hand_over=terminal, router=router, say=say, drafts_dir=drafts)
    assert editor is not None
    try:
        outcome, text = editor.edit_text("given")
        say(f"{outcome.value} {text!r}")
    except EditorError as error:
        say(f"{error.code} {error.kept}")


def run(argv: list[str], router: Router) -> int:
    command, drafts, *more = argv
    router.promptable = True
    router.push(Scope(MENU, lambda: say("menu")))
    router.shutdown_timeout_secs = float(more[0]) if more else 30.0
    end.at_wind_down(lambda _: say("wound down"))
    end.at_end(lambda: None, lambda: time.sleep(0.05))  # time for a thread that should be still to say something
    thread = threading.Thread(target=flow, args=(router, command, drafts), daemon=True)
    thread.start()
    if more[1:] == ["leave"]:
        sys.stdin.readline()
        return 7  # the run ends while the editor is open
    while thread.is_alive():
        checkpoint()
        thread.join(0.002)
    return 0


def main() -> None:
    module = ModuleType("jp.cli.main")
    module.run = run  # type: ignore[attr-defined]
    sys.modules["jp.cli"] = ModuleType("jp.cli")
    sys.modules["jp.cli.main"] = module
    jp.boot.main()


if __name__ == "__main__":
    main()
