"""`assistant.model` and every other place where a model and its parameters are chosen."""

from typing import Any

import msgspec

from jp.config.containers import Items, Word
from jp.config.kinds import MISSING, Json, Kind, Number, Whole
from jp.config.special import ModelId, Reasoning
from jp.config.tables import Table


class ReasoningTable(msgspec.Struct, frozen=True):
    """How much a model reasons, in words (`low` … `max`, `auto`) or tokens, and whether what it reasons is returned."""

    effort: str | int
    exclude: bool


class Parameters(msgspec.Struct, frozen=True):
    """What is sent with a request beside the thread; None is left to the provider."""

    stop_words: list[str]
    other: dict[str, Any]
    max_tokens: int | None = None
    reasoning: ReasoningTable | str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None


class Model(msgspec.Struct, frozen=True):
    """A model by id (`provider/name` or an alias, see `jp.config.model`) and its parameters."""

    parameters: Parameters
    id: str | None = None


def parameters() -> Table:
    """The keys of `….model.parameters`."""
    return Table(
        {
            "max_tokens": Whole(MISSING, "Most tokens of one response; unset is the provider's own limit.", minimum=1),
            "reasoning": Reasoning('How much the model may reason: "off", "auto", an effort, or { effort, exclude }.'),
            "temperature": Number(MISSING, "Randomness of the response."),
            "top_p": Number(MISSING, "Nucleus sampling: the share of probability that is considered."),
            "top_k": Whole(MISSING, "How many of the most likely tokens are considered."),
            "stop_words": Items(Word(), [], "Texts at which the model stops."),
            "other": Table({}, "Parameters of one provider, sent as they are.", rest=Json()),
        },
        "What is sent with a request beside the conversation.",
    )


def model(doc: str, *, optional: bool = False) -> Table:
    """The keys of a model."""
    keys: dict[str, Kind] = {
        "id": ModelId(MISSING, "The model: provider/name, or an alias of providers.llm.aliases."),
        "parameters": parameters(),
    }
    table = Table(keys, doc, optional=optional)
    table.like = "assistant.model" if optional else ""
    return table
