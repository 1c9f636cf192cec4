"""Who is left of a run, as `/proc` tells."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from jp.plugin.check_left import marked, now

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc"), reason="there is no /proc")


def started(code: str, env: dict[str, str]) -> "subprocess.Popen[bytes]":
    """A Python program that has written a byte."""
    code = f"import os, sys, time; {code}; os.write(1, b'x'); time.sleep(1000)"
    process = subprocess.Popen([sys.executable, "-S", "-c", code], env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"x"
    return process


@pytest.mark.parametrize("code", ["pass", "os.setsid()"])
def test_what_has_the_mark_is_found_in_whatever_session(code: str):
    since, mark = now(), uuid4().hex
    with started(code, {"THE_MARK": mark}) as process:
        try:
            found, _ = marked(f"THE_MARK={mark}".encode(), since)
            assert list(found) == [process.pid]
            assert "sleep(1000)" in found[process.pid]
            assert marked(b"THE_MARK=nobody's", since)[0] == {}
        finally:
            process.kill()


def test_what_shows_no_environment_is_in_doubt_unless_it_is_older_or_dead():
    with started("pass", {}) as process:
        try:
            assert marked(b"THE_MARK=nobody's", 0) == ({}, True)
            start = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19])
            assert abs(now() - start) < 100 * os.sysconf("SC_CLK_TCK")
        finally:
            process.send_signal(signal.SIGKILL)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        until = time.monotonic() + 10
        while marked(b"THE_MARK=nobody's", start)[1]:  # somebody else's, for a moment
            assert time.monotonic() < until
    assert marked(b"THE_MARK=nobody's", now() + 10_000) == ({}, False)
