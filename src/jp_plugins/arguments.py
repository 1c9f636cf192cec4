"""The arguments of a plugin, taken without a word on standard output: that is the protocol's."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import NoReturn


class WrongArguments(Exception):
    """The arguments are wrong; the message says how, for a person."""


class Parser(ArgumentParser):
    """`command` is what the person typed before them. `parse_args` raises WrongArguments."""

    def __init__(self, command: str) -> None:
        super().__init__(prog=command, add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """What argparse calls where they are wrong."""
        raise WrongArguments(f"{message}; `{self.prog} --help` says more")
