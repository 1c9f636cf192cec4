"""What a person has written, left on the screen where the prompt was."""

from jp.terminal.sanitize import Sanitizer
from jp.terminal.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jp.terminal.printer import Printer


def echo(printer: "Printer", text: str) -> None:
    """Show it on the terminal, marked as the person's."""
    mark = "\x1b[1;34m>\x1b[0m " if printer.colour(Target.TTY) else "> "
    shown = Sanitizer().feed(text).replace("\n", "\n  ")
    printer.terminal(f"{mark}{shown}\n")
