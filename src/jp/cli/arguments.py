"""Kinds of arguments that several commands take."""

import argparse


def positive(text: str) -> int:
    """A whole number from 1 up; raises what argparse reports."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 up")
    return int(text)
