"""The host of one running plugin: its requests, its prompts, the ladder, its end (RFD D60, RFD 092 "Plugin scope").

The main thread takes events from one inbox and waits nowhere else. First press: SIGINT to the plugin's group, here and
now, whatever main does. A shutdown: `shutdown` on its stdin, a grace period, SIGKILL to the group. The third press and
the watchdog are not the host's: the end of the process kills every group and takes no lock.
"""

import errno
import time

from jp import log
from jp.interrupt import checkpoint, end, ladder
from jp.interrupt.mailbox import EmptyError, Mailbox
from jp.interrupt.router import Scope
from jp.interrupt.signals import CONT, INT, KILL, name_of
from jp.interrupt.token import Shutdown
from jp.plugin import link, messages
from jp.plugin.errors import PluginError
from jp.plugin.intake import Intake
from jp.plugin.lending import Lender, Returned
from jp.plugin.paced import Flushed, Paced
from jp.plugin.prompts import Answered, Prompts
from jp.plugin.requests import Requests
from jp.plugin.secrets import Secrets
from jp.plugin.wire import Faulty, MalformedError, decode, encode
from jp.terminal.promptability import NotPromptable, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.asker import Asker
    from jp.interrupt.router import Router
    from jp.plugin.link import Link
    from jp.plugin.paced import Output
    from jp.plugin.requests import Data
    from jp.terminal.promptability import Promptability


LEFT_SECS = 1.0  # for the process to end after `exit`, and after it has closed its stdout
REAP_SECS = 2.0  # for the system to end what was killed
HEARD_SECS = 0.5  # for its last words on stderr; somebody else may hold the pipe
ERASE_SECS = 1.0  # for a prompt to leave the screen
UNHEARD_SECS = 0.5  # the grace where the reader of stdout is gone
MARGIN_SECS = 0.5  # of the shutdown's time, for what is behind the plugin

# Requests that change nothing.
ONLY_ANSWERS = (messages.ListConversations, messages.ReadEvents, messages.ReadConfig, messages.Prompt)

_WAKE = object()
_LEVELS = {"error": log.ERROR, "warn": log.WARN, "info": log.INFO, "debug": log.DEBUG, "trace": log.TRACE}


class _Continued:
    """The job goes on after a stop."""


class Host:
    """Runs a plugin that has been started for its command.

    `start(post, say)` starts it. `config` answers `read_config`; `flush` writes output out within a time and tells
    whether it could. Whatever ends the run, nothing of the plugin's group is left, and its locks are given back.
    """

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        *,
        start: "Callable[[Callable[[object], object], Callable[[str], object]], Link]",
        init: messages.Init,
        data: "Data",
        config: "Callable[[messages.ReadConfig], messages.Config]",
        output: "Output",
        prompts: "Callable[[Callable[[object], object]], Prompts]",
        asker: "Asker",
        promptability: "Promptability",
        router: "Router",
        flush: "Callable[[float | None], bool]",
        note: "Callable[[str], object]" = lambda _: None,
        grace_secs: float = 5.0,
    ) -> None:
        self._inbox: Mailbox[object] = Mailbox()
        self._name = name
        self._init = init
        self._data = data
        self._output = Paced(output, flush, self._inbox.post)
        self._asker = asker
        self._promptability = promptability
        self._router = router
        self._note = note
        self._grace = grace_secs
        self._prompts = prompts(self._inbox.post)
        self._start = start
        self._config = config
        self._secrets = Secrets()
        self._went_on = False
        self._pressed = False
        self._unread = False
        self._hurried = False  # its output is not waited for: a press has ended it, or came since
        self._exit: messages.Exit | None = None
        self._closed: link.Closed | None = None
        self._exited = False
        self._ended = False  # before it was killed
        self._failure: PluginError | None = None
        self._limit: float | None = None  # monotonic: when the plugin has had its time
        self._stopping = False  # `shutdown` was sent

    def run(self) -> int:
        """Run it to its end; the status that its `exit` asks for.

        Raises PluginError where it failed, NotPromptable where an asserted question can't be asked, and Shutdown.
        """
        checkpoint.checkpoint()
        try:
            self._link = self._start(self._inbox.post, self._say)
        except (OSError, ValueError) as error:
            raise self._unstarted(error) from error
        self._intake = Intake(self._link.taken, self._link.outbox, lambda: self._link.stuck)
        self._requests = Requests(self._name, self._link.send, self._data, self._config, self._prompts)
        router = self._router
        self._lender = Lender(
            self._asker,
            router,
            self._link.child,
            post=self._inbox.post,
            press=self._press,
            fail=lambda why: self._fail(f"wants the terminal, which it can't have: {why}"),
            note=lambda text: self._note(f"{self._name}: {text}"),
        )
        unlisten = [
            router.token.subscribe(lambda: self._inbox.post(_WAKE)),
            router.on_stop(self._lender.pause),
            router.on_continue(self._lender.unpause),
            router.on_continue(lambda: self._inbox.post(_Continued())),
        ]
        try:
            with router.push(Scope(ladder.MENU, self._press, "plugin")) as self._scope:
                self._link.send(encode(self._init))
                self._attend()
                self._leave()
                self._scope.read()
            return self._status()
        finally:
            for each in unlisten:
                each()
            with checkpoint.hold():
                self._clean_up()

    # --- the ladder

    def _press(self) -> None:
        """The first press is the plugin's. Maybe in a signal handler: no lock, and nothing that waits."""
        self._pressed = self._unread = True
        self._hurried = self._exited
        child = self._link.child
        child.kill_group(INT)
        if child.stopped is not None:
            child.kill_group(CONT)  # or it would never get it
        self._inbox.post(_WAKE)

    def _attend(self) -> None:
        """Take what comes until the plugin has ended or had its time."""
        with checkpoint.hold():
            while not self._over():
                ready = bool(self._intake) and not self._held
                try:
                    event = self._inbox.get(0.0 if ready else self._patience())
                except EmptyError:
                    if ready:
                        self._look(self._intake.next())
                else:
                    if self._unread:  # a press, which has been answered where it was made
                        self._unread = False
                        self._scope.read()
                    self._take(event)
                if self._router.token.cancelled and not self._stopping:
                    self._stop()
                if self._late():
                    return

    def _over(self) -> bool:
        return self._failure is not None or (self._exited and not (self._closed is None and self._exit is None))

    @property
    def _held(self) -> bool:
        """Whether the plugin is to wait: for what it has printed to be out, or until it has read what it asked for."""
        return self._output.behind or self._link.outbox.full or self._requests.full

    @property
    def _awaited(self) -> bool:
        """Whether a plugin that has ended has lines that are worth waiting for: none that nobody will look at."""
        return not self._held or (self._output.behind and not (self._link.outbox.full or self._hurried))

    def _patience(self) -> float | None:
        due = self._intake.due(awaited=self._awaited)
        if self._limit is not None:
            due.append(self._limit)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _late(self) -> bool:
        """Whether the plugin has had its time."""
        if self._intake.is_stalled():
            self._fail("asks and asks, and does not read the answers")
            return True
        if self._limit is not None and time.monotonic() >= self._limit:
            return True
        return self._exited and self._intake.is_over(awaited=self._awaited)

    def _bound(self, seconds: float) -> None:
        limit = time.monotonic() + seconds
        self._limit = limit if self._limit is None else min(self._limit, limit)

    def _stop(self) -> None:
        """A shutdown has begun: tell the plugin, and give it its time."""
        self._stopping = True
        self._prompts.withdraw()
        self._link.send(encode(messages.Shutdown()))
        if self._link.child.stopped is not None:
            self._link.child.kill_group(CONT)  # or it would not hear of it
        # Nobody is there for what it still has to say: enough to hear of it, and not what `head` would be waited for.
        seconds = min(self._grace, UNHEARD_SECS) if self._router.token.cause is end.Cause.PIPE else self._grace
        if end.deadline is not None:
            seconds = max(0.0, min(seconds, end.deadline - time.monotonic() - MARGIN_SECS))
        self._bound(seconds)

    # --- events

    def _take(self, event: object) -> None:
        match event:
            case link.Came():
                self._intake.put(event.lines)
            case link.Closed():
                self._intake.close(event)
            case link.Exited():
                self._exited = True
                self._hurried = self._interrupted
                self._intake.ended()
                if self._prompts.waiting:
                    self._prompts.withdraw()  # what it has printed may wait for the prompt to leave the screen
            case link.Unwritable():
                log.log(log.ERROR, "plugin", "a response could not be made", error=repr(event.error))
                self._fail(f"could not be answered: {event.error}")
            case Flushed():
                self._output.flushed()
            case _:
                self._take_terminal(event)

    def _take_terminal(self, event: object) -> None:
        match event:
            case link.Stopped() if not self._stopping:
                self._lender.stopped(event.signal, asking=self._prompts.waiting > 0)
            case Answered():
                self._answered(event)
            case Returned():
                self._lender.returned(event)
            case _Continued():
                self._lender.continued()
        if isinstance(event, Answered | Returned) and not (self._prompts.waiting or self._stopping):
            self._lender.look()

    def _look(self, item: "bytes | messages.Print | link.Closed | None") -> None:
        """Take the next thing that its stdout has brought: a line, the end of a batch, or the end."""
        match item:
            case None:
                pass
            case link.Closed():
                self._closed = item
                if item.malformed and self._exit is None:
                    self._fail(item.malformed)
                elif item.unfinished.strip():
                    log.log(log.WARN, "plugin", "its last line has no end", plugin=self._name)
                self._bound(LEFT_SECS)
            case messages.Print():
                self._print(item)
            case _ if self._exit is not None:
                if not self._went_on:
                    self._went_on = True
                    log.log(log.WARN, "plugin", "it goes on after its exit", plugin=self._name)
            case _:
                try:
                    message = decode(item)
                    if message is not None:
                        self._message(message)
                except MalformedError as error:
                    self._fail(error.what if self._secrets else str(error))

    def _message(self, message: "messages.Message | Faulty") -> None:
        match message:
            case messages.Print():
                self._print(message)
            case messages.Log():
                level = _LEVELS[message.level]
                if log.enabled(level):
                    fields = {"fields": message.fields} if message.fields else {}
                    log.log(level, "plugin", message.message, plugin=self._name, **fields)
            case messages.Exit():
                self._exit = message
                self._link.outbox.close()
                self._bound(LEFT_SECS)
            case messages.Ready() | messages.Description():
                pass
            case Faulty():
                self._requests.refuse(message)
            case messages.Request():
                self._request(message)

    def _request(self, request: messages.Request) -> None:
        if self._exited and isinstance(request, ONLY_ANSWERS):
            return  # nobody is there to read it
        if self._router.ending:
            self._requests.ending = True
        self._requests.take(request)
        if isinstance(request, messages.Prompt):
            self._lender.take_back()

    def _answered(self, event: Answered) -> None:
        if isinstance(event.error, NotPromptable) and self._promptability.request is Request.FORCED_ON:
            raise event.error
        self._requests.ending = self._router.ending
        if event.request.kind == "secret" and event.response is not None and isinstance(event.response.value, str):
            self._secrets.add(event.response.value)  # before the plugin has it, and may say it
        if self._requests.answered(event) and not (self._exited or self._closed):
            event.sent()
        self._prompts.done()

    def _print(self, message: messages.Print) -> None:
        self._lender.take_back()
        first, *rest = self._output.pieces(message)
        self._output.show(first)
        self._intake.put_back(rest)  # so that a press or a deadline is seen in the middle of it

    # --- the end

    def _leave(self) -> None:
        """Off the terminal; then it is over, or the shutdown's cause is what is told."""
        self._prompts.withdraw()
        self._lender.take_back()
        until = time.monotonic() + ERASE_SECS
        while (self._lender.lent or self._prompts.shown) and time.monotonic() < until:
            try:
                event = self._inbox.get(max(0.0, until - time.monotonic()))
            except EmptyError:
                break
            if isinstance(event, Returned):
                self._lender.returned(Returned())
            elif isinstance(event, Answered):
                self._prompts.done()
        self._ended = self._exited
        self._link.child.kill_group(KILL)

    def _status(self) -> int:
        child = self._link.child
        child.exited.wait(REAP_SECS)
        checkpoint.checkpoint()
        if self._failure is not None:
            raise self._failure
        if self._exit is not None:
            if self._exit.code and isinstance(self._exit.reason, str) and self._exit.reason:
                raise self._error(self._secrets.redacted(self._exit.reason), status=self._exit.code, named=False)
            return self._exit.code
        code = child.returncode
        if self._interrupted:
            self._note(f"{self._name} was interrupted")
            raise Shutdown(end.Cause.PRESS)
        raise self._error(f"ended unexpectedly: {self._how(code)}")

    @property
    def _interrupted(self) -> bool:
        """Whether it died of a press: one that was passed on, or its own while it had the terminal."""
        return (self._pressed or self._lender.has_lent) and self._link.child.returncode in (-INT, 128 + INT)

    def _how(self, code: int | None) -> str:
        if self._closed is not None and not self._ended and code == -KILL:
            return "it closed its stdout without `exit`"
        if code is None:
            return "it could not be ended"
        if code < 0:
            return f"it was killed by {name_of(-code)}"
        return f"it left with exit status {code} and without `exit`"

    def _clean_up(self) -> None:
        """Nothing of its group is left, nothing of its locks."""
        self._prompts.withdraw()
        self._lender.close()
        child = self._link.child
        child.kill_group(KILL)
        self._link.end()
        until = time.monotonic() + REAP_SECS
        while child.lives() and time.monotonic() < until:
            time.sleep(0.005)
        self._link.heard.wait(HEARD_SECS)
        self._data.release()
        self._output.end()

    def _fail(self, what: str) -> None:
        """The run is over: for the reason that came first."""
        if self._failure is None:
            self._failure = self._error(what)

    def _error(self, what: str, *, status: int = 1, named: bool = True) -> PluginError:
        error = PluginError(
            f"{self._name} {what}" if named else what,
            hints=["its stderr is in the log: `--log-file PATH`"] if named else (),
            metadata={"plugin": self._name},
        )
        error.status = status
        return error

    def _unstarted(self, error: OSError | ValueError) -> PluginError:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        hints = {
            errno.ENOEXEC: "a script begins with the line `#!/bin/sh`, or another interpreter's",
            errno.ENOENT: "the interpreter that its first line names is not there",
        }
        failed = self._error(f"could not be started: {reason}")
        hint = hints.get((isinstance(error, OSError) and error.errno) or 0)
        failed.hints = (hint,) if hint else ()
        return failed

    # --- the log

    def _say(self, line: str) -> None:
        log.log(log.INFO, "plugin", line, plugin=self._name, stream="stderr")
