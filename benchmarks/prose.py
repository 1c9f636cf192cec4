"""A long answer to render: prose, lists, code, tables, quotes and links, the same in every run."""

import random
from collections.abc import Iterator

TEXT = """\
the reader of a socket waits for bytes and posts them to one queue where the loop takes each event in turn
because a lock that is held while somebody writes would stop every thread that wants to say something short
**never blocks** `select.poll()` *in order* [the manual](https://example.org/manual/page) `os.write` it’s
naïve café 端末 – e.g. 4,096 bytes (or fewer) at once; errors are said once, and nothing is lost
"""

WORDS = TEXT.split()

PYTHON = '''\
def drain(fd: int, limit: int = 4096) -> bytes:
    """Read what is there; never wait."""
    parts = []
    while limit > 0:
        try:
            data = os.read(fd, limit)  # non-blocking
        except BlockingIOError:
            break
        parts.append(data)
        limit -= len(data)
    return b"".join(parts)
'''

RUST = """\
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (tx, rx) = std::sync::mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || tx.send(vec![0x1b, b'[', b'm']));
    for bytes in rx { println!("{:?} {}", bytes, bytes.len()); }
    Ok(())
}
"""


def document(characters: int) -> str:
    """Markdown of about this length; a longer one begins with the shorter."""
    parts: list[str] = []
    length = 0
    for part in _parts(random.Random(104)):
        if length >= characters:
            break
        parts.append(part)
        length += len(part)
    return "".join(parts)[:characters] + "\n"


def _parts(chance: random.Random) -> Iterator[str]:
    """Sections without end, each with every kind of block."""
    number = 0
    while True:
        number += 1
        yield f"## {number}. {_words(chance, 4)}\n\n"
        for _ in range(3):
            yield _words(chance, chance.randint(40, 120)) + ".\n\n"
        for item in range(chance.randint(3, 7)):
            yield f"{'  ' * (item % 2)}- {_words(chance, chance.randint(5, 25))}\n"
        yield f"\n```python\n{PYTHON}```\n\n"
        yield "\n".join(f"{item}. {_words(chance, 12)}" for item in range(1, 5)) + "\n\n"
        yield "| name | what it does | cost |\n| --- | :-- | --: |\n"
        for _ in range(chance.randint(3, 8)):
            yield f"| `{chance.choice(('read', 'poll', 'wait'))}` | {_words(chance, 6)} | {chance.randint(1, 999)} |\n"
        yield f"\n> {_words(chance, 30)}\n> {_words(chance, 20)}\n\n```rust\n{RUST}```\n\n---\n\n"


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))
