"""The same question through other programs, against the same instant server: `llm` and Codex CLI.

They are set up from the package registries by name, on request, into a directory that is kept (`$JP_BENCH_CACHE`,
`~/.cache/jp-bench` by default). One that cannot be had or run here is in the table with the reason.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import fixtures, size
from benchmarks.measure import BARE, JP, Asked, Table, times, usage, wall

SETUP_SECONDS = 900


class UnavailableError(Exception):
    """Why a peer is not measured."""


@dataclass(frozen=True)
class Peer:
    """A program that answers one question: its command, its environment, and where it is installed."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Path


def run(table: Table, home: Path, rounds: int, *, set_up: bool) -> None:
    """Measure and print. With `set_up`, what is not there yet is installed."""
    cache = Path(os.environ.get("JP_BENCH_CACHE") or Path.home() / ".cache" / "jp-bench")
    log = home / "requests.jsonl"
    env = fixtures.environment(home)
    with fixtures.instant(log) as url:
        root = fixtures.workspace(home / "project", url)
        peers = [Peer("jp", (JP, "q", "-n", "hi"), env, root)]
        missing: dict[str, str] = {}
        for name, prepare in (("llm", llm), ("Codex CLI", codex)):
            try:
                peers.append(prepare(cache, home, url, set_up))
            except UnavailableError as error:
                missing[name] = str(error)
        measured(table, peers, root, str(log), rounds)
    for name, reason in missing.items():
        table.row(f"{name}: not measured, {reason}", "")


def measured(table: Table, peers: list[Peer], root: Path, log: str, rounds: int) -> None:
    """Time all of them in the same rounds and print."""
    bare_env = peers[0].env
    commands: dict[str, Callable[[], float]] = {"bare": lambda: wall(BARE, env=bare_env)}
    for peer in peers:
        asked = Asked(peer.argv, env=peer.env, cwd=str(root), log=log)
        commands |= {peer.name: asked.whole, f"{peer.name} request": asked.leaves}
    taken = times(commands, rounds)
    bare = taken["bare"]
    table.head(f"Peers, one question: to `python -c pass` ({bare.median * 1000:.1f} ms) and to jp, medians of {rounds}")
    for peer in peers:
        for title, key, own in (
            ("whole process", peer.name, "jp"),
            ("until its request", f"{peer.name} request", "jp request"),
        ):
            mine = f"{taken[key].median * 1000:.0f} ms"
            other = f"{taken[key].median / taken[own].median:.1f} x jp"
            table.row(f"{peer.name}: {title}", taken[key].ratio(bare), mine if peer.name == "jp" else other)
        used = usage(peer.argv, env=peer.env, cwd=str(root))
        table.row(f"{peer.name}: peak memory of its largest process", f"{used.peak:.0f} MB")
        if peer.name != "jp":
            table.row(f"{peer.name}: installed", f"{size.folder(peer.files) / 2**20:.0f} MB")


def llm(cache: Path, home: Path, url: str, set_up: bool) -> Peer:
    """`llm` from PyPI, its model the server by `extra-openai-models.yaml`."""
    folder = cache / "llm"
    program = folder / "bin" / "llm"
    if not program.exists():
        _wanted(set_up)
        _install([sys.executable, "-m", "venv", str(folder)])
        _install([str(folder / "bin" / "pip"), "install", "--quiet", "llm"])
    user = home / "llm"
    user.mkdir()
    model = {"model_id": "bench", "model_name": "test", "api_base": f"{url}/v1", "api_key_name": "bench"}
    (user / "extra-openai-models.yaml").write_text(json.dumps([model]))  # JSON is YAML
    (user / "keys.json").write_text(json.dumps({"bench": "dummy"}))
    version = _version([str(program), "--version"])
    env = {**fixtures.environment(home), "LLM_USER_PATH": str(user)}
    return Peer(f"llm {version}", (str(program), "-m", "bench", "hi"), env, folder / "lib")


def codex(cache: Path, home: Path, url: str, set_up: bool) -> Peer:
    """Codex CLI from npm, its provider the server by `config.toml`. It speaks the Responses API alone."""
    folder = cache / "codex"
    program = folder / "node_modules" / ".bin" / "codex"
    if not program.exists():
        if shutil.which("npm") is None:
            raise UnavailableError("npm is not installed")
        _wanted(set_up)
        folder.mkdir(parents=True, exist_ok=True)
        _install(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@openai/codex"])
    own = cache / "codex-home"  # it refuses some of its work when its home is a temporary directory
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.toml").write_text(
        'model = "test"\nmodel_provider = "bench"\ncheck_for_update_on_startup = false\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.bench]\nname = "bench"\nbase_url = "{url}/v1"\n'
        'wire_api = "responses"\nenv_key = "BENCH_KEY"\n'
    )
    version = _version([str(program), "--version"])
    env = {**fixtures.environment(home), "CODEX_HOME": str(own), "BENCH_KEY": "dummy"}
    argv = (str(program), "exec", "--skip-git-repo-check", "hi")
    return Peer(f"Codex CLI {version}", argv, env, folder / "node_modules")


def _wanted(set_up: bool) -> None:
    if not set_up:
        raise UnavailableError("not set up (--peers does)")


def _install(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SETUP_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command[0]}: {type(error).__name__}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UnavailableError(f"`{' '.join(command[-3:])}`: {said[-1] if said else done.returncode}")


def _version(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"it does not run: {error}") from error
    return done.stdout.split()[-1]
