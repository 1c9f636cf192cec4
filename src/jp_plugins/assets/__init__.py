"""What is sent to a browser as it is: stylesheets, a script, an icon."""

from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The file `name` of this folder."""
    return (Path(__file__).parent / name).read_text("utf-8")
