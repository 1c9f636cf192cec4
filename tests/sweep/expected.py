"""How a run may end after a volley: the one table of it.

On a terminal the first press opens a menu, the second begins a graceful shutdown, the third ends at once. In a query's
composition a press is the abort: the draft is kept and the run ends by SIGINT.
"""

from tests.sweep.cases import CLOSE, COMPOSE, END, GAP, START, STREAM, Case

FALLBACK = frozenset("cq")
TURN = frozenset("crs")
STREAMING = frozenset("crsa")

# Which menus a first press may open. Between two phases it may be the one of either.
MENUS = {
    START: {FALLBACK},
    COMPOSE: {FALLBACK, TURN},
    GAP: {FALLBACK, TURN, STREAMING},
    STREAM: {TURN, STREAMING},
    CLOSE: {FALLBACK, TURN},
    END: {FALLBACK},
    "": {FALLBACK, TURN, STREAMING},
}

GRACEFUL = "gracefully shutting down…"
TERMINATING = "terminating program…"


def signal_of(case: Case) -> str:
    """The status of a run that the volley ends."""
    return f"killed SIG{case.signals[0]}"


def immediate(case: Case) -> bool:
    """Whether the end may come without a wind-down."""
    return case.signals == ("QUIT",) or len(case.signals) > 1


def statuses(case: Case, menu: frozenset[str] | None, *, composing: bool, late: bool) -> set[str]:
    """The allowed ends, when `menu` was answered (None: there was none), and where the signal came.

    `composing`: the prompt of the query has been up and nothing had been sent. `late`: so near the end that the run may
    have ended by itself.
    """
    if menu is not None:
        if case.answer in ("c", "ESC"):
            return {"exited 0"}
        if case.answer == "q" and "q" not in menu:
            return {"exited 0"}  # it was `s`, saved on purpose
        return {"killed SIGINT"}
    allowed = {"exited 0"} if late else set()
    if case.signals != ("INT",) or composing or case.phase == END:
        allowed.add(signal_of(case))
    return allowed


def says_graceful(case: Case, status: str, menu: frozenset[str] | None, *, composing: bool) -> bool | None:
    """Whether the message of the graceful shutdown must (True) or must not (False) be on the screen; None: either."""
    if case.signals[0] in ("HUP", "QUIT"):
        return False
    if case.phase == END:
        return None
    if status == "exited 0":
        return False
    return None if composing and case.signals[0] == "INT" and menu is None else True
