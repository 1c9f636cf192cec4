"""Plugins: requests and their responses under the whole program, and a large conversation read through the protocol."""

import json
import sys
from pathlib import Path

from benchmarks import fixtures
from benchmarks.history import made
from benchmarks.measure import JP, Table, usage, wall

PAIRS = 10_000
PAIRS_LIMIT_S = 1.0
COPIES = 3.0  # of the file that may be in memory at once, beyond what the program takes anyway

HEAD = f"""#!{sys.executable} -S
import json, os, sys, time
out, lines = sys.stdout.buffer, sys.stdin.buffer
if b'"describe"' in lines.readline():
    out.write(b'{{"type":"describe","name":"bench","version":"1","description":"Bench"}}\\n')
    sys.exit()
def note(value):
    with open(os.environ["NOTES"], "w") as file:
        file.write(json.dumps(value))
"""
ASK = """
began = time.monotonic()
for number in range(PAIRS):
    out.write(b'{"type":"read_config","id":%d,"path":"style.sanitize"}\\n' % number); out.flush()
    assert b'"id":%d,' % number in lines.readline()
note(time.monotonic() - began)
out.write(b'{"type":"exit"}\\n')
"""
READ = """
began = time.monotonic()
out.write(b'{"type":"read_events","conversation":"%s"}\\n' % os.environ["CONVERSATION"].encode()); out.flush()
first = total = 0
while (piece := os.read(0, 1 << 16)):
    first = first or time.monotonic() - began
    total += len(piece)
    if piece.endswith(b"\\n"): break
note([first, time.monotonic() - began, total])
out.write(b'{"type":"exit"}\\n')
"""


def run(table: Table, home: Path, rounds: int, megabytes: int) -> None:
    """Measure and print."""
    env = {**fixtures.environment(home), "NOTES": str(home / "notes")}
    settings = home / ".config" / "jp" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('plugins.command.bench.run = "unattended"\n')
    root = home / "project"
    large = made("make_large", root, env, megabytes)
    fixtures.workspace(root, "http://127.0.0.1:9")
    plugin = home / ".local/share/jp/plugins/command/jp-bench"
    plugin.parent.mkdir(parents=True, exist_ok=True)

    def write(body: str) -> None:
        plugin.write_text(HEAD + body)
        plugin.chmod(0o755)

    table.head("plugins")
    write(ASK.replace("PAIRS", str(PAIRS)))
    wall([JP, "bench"], env=env, cwd=str(root))  # describes it
    taken = []
    for _ in range(rounds):
        wall([JP, "bench"], env=env, cwd=str(root))
        taken.append(float((home / "notes").read_text()))
    table.at_most(f"{PAIRS:,} requests, each sent when the one before is answered", min(taken), PAIRS_LIMIT_S, "s")
    write('out.write(b\'{"type":"exit"}\\n\')\n')
    idle = usage([JP, "bench"], env=env, cwd=str(root)).peak
    env["CONVERSATION"] = large
    write(READ)
    peak = usage([JP, "bench"], env=env, cwd=str(root)).peak
    first, whole, total = json.loads((home / "notes").read_text())
    table.row(f"`read_events` of {megabytes} MB: the first piece", f"{first:.2f} s")
    table.row(f"the same, {total / 1e6:.0f} MB on the wire: all of it", f"{whole:.2f} s")
    table.at_most("its memory, to the size of the file", (peak - idle) / megabytes, COPIES, "x")
