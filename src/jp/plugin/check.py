"""The conformance suite: whether a plugin, in whatever language, keeps to the protocol (`jp plugin check`).

The plugin is run for real, once for each thing that can happen to it (`check_cases`), in a workspace that is made up:
it sees no conversation of the user's. What it does beside the protocol it does.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from jp.plugin import messages
from jp.plugin.check_cases import (
    GRACE_SECS,
    MAX_REFUSALS,
    MAX_REQUESTS,
    Big,
    Describing,
    Ending,
    EndingAtOnce,
    Extended,
    Leaving,
    Pressing,
    Refusing,
    Reversing,
    Usual,
    cancelled,
    nobody,
    other,
)
from jp.plugin.check_run import ENDS_SECS, Program, Record, Script, perform
from jp.plugin.check_words import (
    about_description,
    about_lines,
    incomplete,
    interrupted,
    said_last,
    still_running,
    unfit_beginning,
    with_stderr,
)
from jp.plugin.messages import Request, type_of

SECONDS = 10.0

CHECKS = {
    "starts": "it can be started",
    "describe": "asked to describe itself, it writes one `describe` line and ends",
    "description": "what it says about itself can be shown and typed",
    "begins": "after `init` it begins with `ready` or with what it has to say",
    "lines": "every line is a JSON object of a known type with the right fields",
    "exit": "it says `exit` before it closes its output",
    "ends": "it ends by itself after `exit`, without waiting for the end of its input",
    "silent-after-exit": "it writes nothing after `exit`",
    "ids": "it tells responses apart by their ids, in whatever order they come",
    "no-conversations": "it copes with a workspace without conversations",
    "big-events": "it copes with a conversation of 1 MB on one line",
    "unknown-fields": "it passes over fields and events that it does not know",
    "other-answers": "it copes with no, the last option, an empty text",
    "cancelled": "it copes with a person who dismisses its prompts",
    "unavailable": "it copes with nobody to answer its prompts",
    "errors": "it copes with an `error` in place of each response",
    "shutdown": "it ends within the grace period after `shutdown`",
    "interrupt": "SIGINT ends it, or it goes on as before",
    "host-gone": "it ends when JP is gone",
    "leaves-nothing": "it leaves no process behind",
}

HINTS = {
    "ids": "a response belongs to the request with the same `id`; they come in any order",
    "no-conversations": "`data` may be empty",
    "big-events": "read to the end of the line, however long it is",
    "unknown-fields": "pass over what it does not know",
    "other-answers": "take every answer as one: false, and an empty text, too",
    "cancelled": "look at `outcome` before `value`; a prompt that was dismissed is not to be asked again and again",
    "unavailable": "end with an `exit` whose `reason` names an argument for where nobody can be asked",
    "errors": "look at `type`: `error` may come in place of every response",
}


class Finding(Struct, frozen=True):
    """What a check has found. `ok` is None where it was skipped; `hint` says what to do."""

    check: str
    ok: bool | None
    message: str
    hint: str | None = None


def check(
    path: str,
    *,
    args: Sequence[str] = (),
    environ: Mapping[str, str],
    cwd: str,
    seconds: float = SECONDS,
    progress: Callable[[str], object] = lambda _: None,
) -> list[Finding]:
    """Try the plugin at `path`, for at most so many seconds a run: what each of CHECKS has found, in their order.

    `args` are what its command is given, `environ` and `cwd` what its process gets; `progress` is told what is tried.
    Main thread; raises Shutdown.
    """
    program = Program(path=os.path.abspath(path), environ=environ, cwd=cwd)
    suite = _Suite(program, list(args), seconds, progress)
    suite.all()
    order = list(CHECKS)
    return sorted(suite.findings, key=lambda each: order.index(each.check))


class _Suite:
    """The checks, and what they have found so far."""

    def __init__(self, program: Program, args: list[str], seconds: float, progress: Callable[[str], object]) -> None:
        self.findings: list[Finding] = []
        self._program = program
        self._args = args
        self._seconds = seconds
        self._progress = progress
        self._records: list[Record] = []

    def all(self) -> None:
        """Run everything that the plugin gives occasion for."""
        described = self._run(Describing("describing itself"))
        if described.failed:
            hint = "is it executable (`chmod +x`), and is there a `#!` line with a program that exists?"
            self._found("starts", f"it can't be started: {described.failed}", hint)
            self._skip("it can't be started")
            return
        self._ok("starts")
        self._describe(described)
        usual = self._run(Usual("the usual run", self._args))
        self._usual(usual)
        wrong = incomplete(usual, self._seconds)
        if wrong is None and usual.exit is not None:
            self._rare(usual, usual.exit.code)
        self._lines()
        self._leftovers()
        self._skip("the usual run did not come to its end")

    # --- the usual

    def _describe(self, record: Record) -> None:
        said = [each for each in record.said if isinstance(each, messages.Description)]
        if not said:
            hint = 'read a line; where its `type` is `describe`, write {"type":"describe","name":…} and end'
            self._found("describe", "it did not describe itself", with_stderr(hint, record))
        elif more := [each for each in record.lines if each.message is not said[0] and each.data.strip()]:
            self._found("describe", f"it wrote more than its description: {more[0].excerpt}", "write that one line")
        elif record.status is None:
            hint = "end after the line: the input is not closed"
            self._found("describe", f"it had not ended after {record.waited:.0f} s", hint)
        else:
            closed = self._run(Describing("describing itself, with its input at an end", closed=True))
            wrong = (
                ""
                if said[0] in closed.said
                else "it did not describe itself when its input had ended behind `describe`"
            )
            self._judge("describe", wrong, with_stderr("what was read before the end of the input counts", closed))
        if said:
            self._judge("description", *about_description(said[0], os.path.basename(self._program.path)))
        else:
            self._skipped("description", "it did not describe itself")

    def _usual(self, record: Record) -> None:
        self._judge("begins", *unfit_beginning(record))
        if record.exit is not None:
            self._ok("exit", hint=with_stderr(None, record))  # which may be meant for the log, or be its shell's
            wrong = still_running(record, "`exit`", min(ENDS_SECS, self._seconds))
            self._judge("ends", wrong, "end after `exit`, without waiting for the end of the input; JP kills it soon")
        else:
            self._judge("exit", incomplete(record, self._seconds) or "", with_stderr(said_last(record), record))
            self._skipped("ends", "it did not say `exit`")

    # --- the rare

    def _rare(self, usual: Record, code: int) -> None:
        asked = dict.fromkeys(type_of(each) for each in usual.said if isinstance(each, Request))
        args = self._args
        self._ids(asked, code)
        none = partial(Usual, "no conversations", args, conversations={})
        self._where("list_conversations", asked, "no-conversations", none)
        self._where("read_events", asked, "big-events", partial(Big, "a big conversation", args))
        self._complete("unknown-fields", Extended("unknown fields", args), code)
        for name, answer, about in (
            ("other-answers", other, "other answers"),
            ("cancelled", cancelled, "dismissed prompts"),
            ("unavailable", nobody, "nobody to ask"),
        ):
            patience = MAX_REQUESTS if answer is other else MAX_REFUSALS
            self._where("prompt", asked, name, partial(Usual, about, args, answer=answer, patience=patience))
        for each in asked:
            self._complete("errors", Refusing(each, args))
        if not asked:
            self._skipped("errors", "it makes no requests")
        self._ending(asked)

    def _ids(self, asked: dict[str, None], code: int) -> None:
        if not asked:
            self._skipped("ids", "it makes no requests")
            return
        script = Reversing("responses in another order", self._args)
        record = self._run(script)
        if script.twice is not None:
            wrong = f"two requests that were open at once had the id {script.twice!r}"
            self._found("ids", wrong, "give each request an id of its own")
        elif script.most < 2:
            self._skipped("ids", "it makes one request at a time, and needs no ids")
        else:
            self._judge_run("ids", record, code)

    def _ending(self, asked: dict[str, None]) -> None:
        at = messages.Prompt if "prompt" in asked else Request
        args = self._args
        ending = Ending("a shutdown", args, at=at) if asked else EndingAtOnce("a shutdown", args)
        grace = min(GRACE_SECS, self._seconds)
        hint = "look for `shutdown` wherever a line is read, also in place of a response, and end"
        self._judge("shutdown", still_running(self._run(ending), "`shutdown`", grace), hint)
        if not asked:
            self._skipped("interrupt", "it makes no requests, and may be over before it could be interrupted")
            self._skipped("host-gone", "it makes no requests")
            return
        self._judge("interrupt", *interrupted(self._run(Pressing("an interrupt", args, at=at)), self._seconds))
        gone = still_running(self._run(Leaving("JP gone", args, at=at)), "the end of its input", grace)
        self._judge("host-gone", gone, "end where a read finds the end of the input")

    # --- over all runs

    def _lines(self) -> None:
        wrong, advice = about_lines(self._records)
        for message, hint in wrong:
            self._found("lines", message, hint)
        if not any(each.lines for each in self._records):
            self._skipped("lines", "it wrote none")
        elif not wrong:
            self._ok("lines", advice)
        late = [
            (record, record.lines[place + 1])
            for record in self._records
            for place, line in enumerate(record.lines[:-1])
            if isinstance(line.message, messages.Exit)
        ]
        if late:
            record, line = late[0]
            where = f"{record.about}, line {line.number}"
            self._found("silent-after-exit", f"{where}: {line.excerpt} after `exit`", "let `exit` be the last line")
        elif any(each.exit for each in self._records):
            self._ok("silent-after-exit")
        else:
            self._skipped("silent-after-exit", "it did not say `exit`")

    def _leftovers(self) -> None:
        left = [(record.about, each) for record in self._records for each in record.left]
        if left:
            about, name = left[0]
            hint = "wait for what it has started, or end it; JP kills what is left of its process group"
            self._found("leaves-nothing", f"{about}: it left `{name}` running", hint)
        else:
            self._ok("leaves-nothing")

    # --- how it is said

    def _run(self, script: Script) -> Record:
        self._progress(script.about)
        record = perform(self._program, script, self._seconds)
        self._records.append(record)
        return record

    def _where(self, wanted: str, asked: dict[str, None], name: str, script: Callable[[], Script]) -> None:
        """A check for plugins that make a certain request."""
        if wanted in asked:
            self._complete(name, script())
        else:
            self._skipped(name, f"it sends no `{wanted}`")

    def _complete(self, name: str, script: Script, code: int | None = None) -> None:
        self._judge_run(name, self._run(script), code)

    def _judge_run(self, name: str, record: Record, code: int | None) -> None:
        """Whether a run came to its end; with the exit status that it has else, where that is given."""
        wrong = incomplete(record, self._seconds)
        if wrong is None and code is not None and record.exit is not None and record.exit.code != code:
            wrong = f"it left with {record.exit.code}, and without that with {code}"
        self._judge(name, f"{record.about}: {wrong}" if wrong else "", with_stderr(HINTS[name], record))

    def _judge(self, name: str, wrong: str, hint: str | None) -> None:
        if wrong:
            self._found(name, wrong, hint)
        else:
            self._ok(name, hint=hint if name == "description" else None)

    def _found(self, name: str, message: str, hint: str | None) -> None:
        self.findings = [each for each in self.findings if each.check != name or not each.ok]
        self.findings.append(Finding(name, False, message, hint))

    def _ok(self, name: str, message: str = "", hint: str | None = None) -> None:
        if not any(each.check == name for each in self.findings):
            self.findings.append(Finding(name, True, message or CHECKS[name], hint))

    def _skipped(self, name: str, why: str) -> None:
        self.findings.append(Finding(name, None, f"skipped: {why}"))

    def _skip(self, why: str) -> None:
        """Whatever has not been looked at can't be."""
        done = {each.check for each in self.findings}
        for name in CHECKS:
            if name not in done:
                self._skipped(name, why)
