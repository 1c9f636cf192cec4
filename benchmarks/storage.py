"""What the store costs: listing 5,000 conversations, one conversation of 100 MB, and the journal of a turn.

    python benchmarks/storage.py [--conversations N] [--megabytes N]

Prints one line a number with its limit; the exit status is the number of limits that were exceeded. Each number comes
from a process of its own, so that memory and imports are those of one command.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime

SRC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
sys.path.insert(0, SRC)
sys.setswitchinterval(0.0005)  # as the program's start sets it

BARE = [sys.executable, "-c", "pass"]


class Ticker(threading.Thread):
    """Measures the longest time for which the main thread kept all others from running.

    Between two ticks that is at most the time that passed, and at most what the main thread had of the processor: on a
    loaded machine a tick is late for other reasons too.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self.on = True
        self._clock = None
        if hasattr(time, "pthread_getcpuclockid"):  # not on macOS
            self._clock = time.pthread_getcpuclockid(threading.main_thread().ident or 0)

    def _used(self, now: float) -> float:
        return now if self._clock is None else time.clock_gettime(self._clock)

    def run(self) -> None:
        last = time.perf_counter()
        used = self._used(last)
        while self.on:
            time.sleep(0.001)
            now = time.perf_counter()
            using = self._used(now)
            self.longest = max(self.longest, min(now - last, using - used))
            last, used = now, using


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


# -- making the data


def make_many(root: str, environ: dict[str, str], count: int) -> None:
    from jp.storage.workspace import Workspace

    workspace = Workspace.init(root, environ)
    folders = [workspace.conversations, os.path.join(workspace.ensure_user_dir(), "conversations")]
    for n in range(count):
        conversation_id = str(17_600_000_000 + n * 37)
        moment = f"2026-0{1 + n % 9}-1{n % 10} 1{n % 10}:00:00.{n:06}"
        metadata = {"title": f"Conversation number {n} about something", "last_activated_at": moment}
        content = json.dumps(metadata, indent=2).encode() + b"\n"
        for folder in folders:
            path = os.path.join(folder, f"{conversation_id}-conversation-number-{n}-about-something")
            os.makedirs(path)
            for name, data in (("metadata.json", content), ("events.json", b"[]\n")):
                with open(os.path.join(path, name), "wb") as file:
                    file.write(data)


def make_large(root: str, environ: dict[str, str], megabytes: int) -> str:
    from jp.conversation import events
    from jp.storage.journal import TurnWriter
    from jp.storage.store import Store
    from jp.storage.workspace import Workspace

    store = Store(Workspace.init(root, environ), environ)
    made = store.create(title="A large one", base_config={})
    writer = TurnWriter.begin(made, made.lock)
    stamp = "2026-05-29 19:42:36.46732"
    prose = "The quick brown fox — jumps over “the lazy dog”.\n\tAnd then \\ it sleeps.\n" * 40
    output = 'fn main() { println!("{}", 1); } // a line of a tool\'s output\n' * 120
    turn = [
        events.TurnStart(timestamp=stamp),
        events.ChatRequest(timestamp=stamp, content=prose),
        events.ChatResponse(timestamp=stamp, reasoning=prose, metadata={"signature": "x" * 800}),
        events.ToolCallRequest(timestamp=stamp, id="call", name="fs_read_file", arguments={"path": "src/main.rs"}),
        events.ToolCallResponse(timestamp=stamp, id="call", content=output),
        events.ChatResponse(timestamp=stamp, message=prose),
    ]
    raws = [events.encode(one) for one in turn]
    size = 0
    while size < megabytes << 20:
        for raw in raws:
            made.stream.append_raw(raw)
            size += len(raw) + 20
    writer.fold()
    assert made.lock is not None
    made.lock.release()
    return made.id


# -- what runs in a process of its own


def child_list(root: str, environ: dict[str, str]) -> dict[str, float]:
    start = time.perf_counter()
    from jp.storage.store import Store
    from jp.storage.workspace import Workspace

    imported = time.perf_counter()
    store = Store(Workspace.find(root, environ), environ)
    found = store.list()
    return {
        "import": (imported - start) * 1e3,
        "list": (time.perf_counter() - imported) * 1e3,
        "count": len(found),
        "heavy": float("msgspec" in sys.modules),
    }


def child_large(root: str, environ: dict[str, str], conversation_id: str, ticking: str = "") -> dict[str, float]:
    from jp.conversation import events, thread
    from jp.storage.journal import TurnWriter
    from jp.storage.store import Store
    from jp.storage.workspace import Workspace

    tools = _Bag(defaults=_Bag(cancellation_response="cancelled"), named={})
    assistant = _Bag(name="JP", system_prompt="Help.", system_prompt_sections=[], instructions=[])
    config = _Bag(assistant=assistant, conversation=_Bag(tools=tools))
    store = Store(Workspace.find(root, environ), environ)
    before = peak()
    used = time.process_time()
    ticker = Ticker()
    if ticking:  # in a run of its own: a thread that wakes a thousand times a second slows the others down
        ticker.start()
    start = time.perf_counter()
    lock = store.lock(conversation_id, "benchmark")
    conversation = store.open(conversation_id, lock)
    opened = time.perf_counter()
    writer = TurnWriter.begin(conversation, lock)
    begun = time.perf_counter()
    built = thread.build(config, conversation.stream)  # type: ignore[arg-type]
    ready = time.perf_counter()
    used = time.process_time() - used
    held = ticker.longest
    memory = peak() - before
    messages = len(built.messages)
    del built
    writer.append(events.TurnStart(timestamp="2026-01-01 00:00:00.0"))
    first = time.perf_counter()
    costs = []
    for _ in range(2000):
        at = time.perf_counter()
        writer.partial("message", "a few words ")
        costs.append(time.perf_counter() - at)
    folding = time.perf_counter()
    writer.fold()
    done = time.perf_counter()
    size = os.path.getsize(os.path.join(conversation.path, "events.json"))
    ticker.on = False
    return {
        "request": (ready - start) * 1e3,
        "cpu": used * 1e3,
        "size": size / 2**20,
        "messages": messages,
        "open": (opened - start) * 1e3,
        "begin": (begun - opened) * 1e3,
        "build": (ready - begun) * 1e3,
        "held": held * 1e3,
        "memory": memory,
        "first": (first - ready) * 1e3,
        "append": sorted(costs)[len(costs) // 2] * 1e6,
        "append99": sorted(costs)[len(costs) * 99 // 100] * 1e6,
        "fold": (done - folding) * 1e3,
        "held_all": ticker.longest * 1e3,
    }


class _Bag:
    """Attributes, where a resolved configuration would be."""

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)


# -- the table


def whole_process(argv: list[str], environ: dict[str, str], runs: int = 11) -> float:
    """The median time of a process, in ms."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(argv, env=environ, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return sorted(times)[runs // 2] * 1e3


def ask(what: str, environ: dict[str, str], *arguments: str, runs: int = 1) -> dict[str, float]:
    """The answers of a child process; of several, the one in the middle by the first number."""
    answers = []
    for _ in range(runs):
        argv = [sys.executable, __file__, "--child", what, *arguments]
        answers.append(json.loads(subprocess.run(argv, env=environ, check=True, capture_output=True).stdout))
    answers.sort(key=lambda answer: next(iter(answer.values())))
    return dict(answers[len(answers) // 2])


class Table:
    """Prints numbers beside their limits and counts those that are over."""

    def __init__(self) -> None:
        self.over = 0

    def row(self, name: str, value: float, unit: str, limit: float | None = None) -> None:
        over = limit is not None and value > limit
        self.over += over
        against = f"  limit {limit:g} {unit}{'  OVER' if over else ''}" if limit is not None else ""
        print(f"{name:58} {value:10.1f} {unit:5}{against}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=5000)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    environ = {"HOME": os.environ["HOME"], "PATH": os.environ.get("PATH", "")}
    if options.child:
        what, root, *rest = options.child
        run = {"list": child_list, "large": child_large}[what]
        print(json.dumps(run(root, environ, *rest)))
        return 0
    with tempfile.TemporaryDirectory(prefix="jp-benchmark-") as folder:
        environ["HOME"] = os.path.join(folder, "home")
        return measure(folder, environ, options.conversations, options.megabytes)


def measure(folder: str, environ: dict[str, str], count: int, megabytes: int) -> int:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, {os.cpu_count()} cores{load}")
    table = Table()
    few, many, large = (os.path.join(folder, name) for name in ("few", "many", "large"))
    make_many(few, environ, 11)
    make_many(many, environ, count)
    bare = whole_process(BARE, environ)
    table.row("bare interpreter", bare, "ms")
    answer = ask("list", environ, few, runs=7)
    table.row("list 11: import", answer["import"], "ms")
    table.row("list 11: import and list", answer["import"] + answer["list"], "ms", 25)
    table.row("list 11: msgspec imported", answer["heavy"], "", 0)
    answer = ask("list", environ, many, runs=5)
    assert answer["count"] == count
    table.row(f"list {count}, both copies", answer["list"], "ms", 300 * count / 5000)
    conversation_id = make_large(large, environ, megabytes)
    answer = ask("list", environ, large, runs=5)
    table.row(f"list beside one of {megabytes} MB", answer["list"], "ms", 5)
    answer = ask("large", environ, large, conversation_id, runs=3)
    ticked = ask("large", environ, large, conversation_id, "ticking")
    scale = megabytes / 100
    table.row(f"{answer['size']:.0f} MB, {answer['messages']:.0f} messages: lock and open", answer["open"], "ms")
    table.row("  begin the turn", answer["begin"], "ms")
    table.row("  build the thread", answer["build"], "ms")
    table.row("  all until the request can be made", answer["request"], "ms", 1200 * scale)
    table.row("  of which on the processor", answer["cpu"], "ms")
    table.row("  peak memory, times the file", answer["memory"] / answer["size"], "x", 3)
    table.row("  longest time other threads stood still, until then", ticked["held"], "ms", 100)
    table.row("  first event of the turn (hashes the file)", answer["first"], "ms")
    table.row("  a piece of an answer, median", answer["append"], "us", 200)
    table.row("  a piece of an answer, 99th of 100", answer["append99"], "us")
    table.row("  fold, both copies", answer["fold"], "ms")
    table.row("  longest time other threads stood still, in all", ticked["held_all"], "ms", 100)
    return table.over


if __name__ == "__main__":
    sys.exit(main())
