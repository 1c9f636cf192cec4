"""Servers that people use, from the npm registry: installed once, for all workers of all test runs of this user."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

PACKAGES = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
}
INSTALL_SECS = 240

# As the developer has them: the tests' own home knows no registry.
_ENVIRON = dict(os.environ)
_DIRECTORY = Path(tempfile.gettempdir()) / f"jp-tests-npm-{getattr(os, 'getuid', int)()}"


def installed() -> Path:
    """The directory in which the packages are; skips the test where they can't be had."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here: the servers from npm are not tried")
    _DIRECTORY.mkdir(mode=0o700, exist_ok=True)
    if _DIRECTORY.stat().st_uid != os.getuid():
        pytest.skip(f"{_DIRECTORY} belongs to somebody else")
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    ready = _DIRECTORY / "installed"
    with open(_DIRECTORY / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the workers of a run come at the same time
        said = ready.read_text() if ready.exists() else ""
        if said == "\n".join(wanted) and (_DIRECTORY / "node_modules").is_dir():
            return _DIRECTORY
        failed = _DIRECTORY / f"failed-{_ENVIRON.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
        if failed.exists():
            pytest.skip(failed.read_text())
        command = ["npm", "install", "--prefix", str(_DIRECTORY), "--no-save", "--no-audit", "--no-fund", *wanted]
        try:
            done = subprocess.run(
                command, env=_ENVIRON, cwd=_DIRECTORY, capture_output=True, text=True, timeout=INSTALL_SECS, check=False
            )
            trouble = done.stderr.strip()[-300:] if done.returncode else ""
        except subprocess.TimeoutExpired:
            trouble = f"nothing within {INSTALL_SECS} seconds"
        if trouble:
            failed.write_text(f"npm could not install {' '.join(wanted)}: {trouble}")
            pytest.skip(failed.read_text())
        ready.write_text("\n".join(wanted))
    return _DIRECTORY
