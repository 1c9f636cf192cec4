"""The three targets that are printed to."""

from enum import Enum


class Target(Enum):
    """OUT: replies and data. ERR: chrome. TTY: prompts, on the controlling terminal whatever is redirected."""

    OUT = "stdout"
    ERR = "stderr"
    TTY = "tty"
