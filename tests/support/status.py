"""How a process ended or stopped, in words: `exited 0`, `killed SIGINT`, `stopped SIGTSTP`."""

import os
import signal


def in_words(status: int) -> str:
    """Decode a wait status as `os.waitpid` gives it."""
    if os.WIFSIGNALED(status):
        return f"killed {signal.Signals(os.WTERMSIG(status)).name}"
    if os.WIFSTOPPED(status):
        return f"stopped {signal.Signals(os.WSTOPSIG(status)).name}"
    return f"exited {os.WEXITSTATUS(status)}"


def of_returncode(code: int) -> str:
    """The same for a `Popen.returncode`."""
    return f"exited {code}" if code >= 0 else f"killed {signal.Signals(-code).name}"
