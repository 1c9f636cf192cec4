"""Time that moves when the test says so."""


class Clock:
    """A clock for an in-memory Printer."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now
