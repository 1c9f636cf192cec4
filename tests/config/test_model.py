"""Model ids: aliases, chains, circles, and names that lead nowhere."""

import pytest

from jp.config.errors import ModelIdError
from jp.config.model import PROVIDERS, ModelId, parse_model_id

ALIASES = {"sonnet": "anthropic/claude-sonnet-5", "claude": "sonnet", "best": "claude", "openai": "openai/gpt-5"}
ALIASES |= {"a": "b", "b": "c", "c": "a", "self": "self", "typo": "antropic/x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anthropic/claude-sonnet-5", ModelId("anthropic", "claude-sonnet-5")),
        ("openrouter/meta/llama-4", ModelId("openrouter", "meta/llama-4")),
        ("ollama/qwen3:8b", ModelId("ollama", "qwen3:8b")),
        ("local/qwen2.5-coder-1.5b", ModelId("local", "qwen2.5-coder-1.5b")),
        ("sonnet", ModelId("anthropic", "claude-sonnet-5")),
        (" best ", ModelId("anthropic", "claude-sonnet-5")),
        ("openai", ModelId("openai", "gpt-5")),
    ],
)
def test_a_text_means_a_model(text: str, expected: ModelId) -> None:
    assert parse_model_id(text, ALIASES) == expected
    assert parse_model_id(str(expected), {}) == expected


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("antropic/x", "unknown provider antropic", "did you mean anthropic/x?"),
        ("typo", "(alias typo → antropic/x)", "did you mean anthropic/x?"),
        ("sonet", "sonet is no model alias and no provider/name", "did you mean sonnet?"),
        ("gpt-5", "is no model alias", "aliases are set in providers.llm.aliases"),
        ("anthropic/", "names no model of anthropic", None),
        ("/x", "unknown provider (none)", "known providers: "),
        ("", "is empty", '"provider/name"'),
        ("zzz/x", "unknown provider zzz", "providers.llm.zzz.base_url"),
    ],
)
def test_a_text_that_means_none_is_an_error_with_the_nearest(text: str, says: str, hint: str | None) -> None:
    with pytest.raises(ModelIdError) as caught:
        parse_model_id(text, ALIASES)
    assert says in caught.value.message
    assert caught.value.code == "config"
    assert hint is None or any(hint in each for each in caught.value.hints)


@pytest.mark.parametrize(("text", "circle"), [("a", "a → b → c → a"), ("self", "self → self")])
def test_aliases_that_lead_in_a_circle_are_named(text: str, circle: str) -> None:
    with pytest.raises(ModelIdError, match=f"in a circle: {circle}$"):
        parse_model_id(text, ALIASES)


def test_a_server_of_ones_own_is_a_provider() -> None:
    assert parse_model_id("lab/x", {}, (*PROVIDERS, "lab")) == ModelId("lab", "x")
