"""How much memory this process takes while something runs."""

import gc
import resource
import sys
from typing import Self

MIB = 1024 * 1024


class Peak:
    """Measures a `with` block: `grown` is by how many bytes more than before it the process held at the most."""

    grown = 0

    def __enter__(self) -> Self:
        gc.collect()
        self._resettable = _reset()
        self._before = _peak(self._resettable)
        return self

    def __exit__(self, *_: object) -> None:
        self.grown = _peak(self._resettable) - self._before


def _reset() -> bool:
    """Have the system forget the peak so far (Linux); elsewhere only what exceeds it is seen."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def _peak(resettable: bool) -> int:
    if resettable:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
