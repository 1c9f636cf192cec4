"""Which provider a model id means; a missing key is an error before anything is sent."""

from pathlib import Path

import pytest

from jp.config.load import Config, Paths, load
from jp.config.model import ModelId
from jp.llm import errors as e
from jp.llm.chat import ChatProvider
from jp.llm.registry import provider_for


def configured(*cfg: str) -> Config:
    return load(Paths("/nonexistent", None, "/", None), {}, cfg=cfg)


def find(name: str, environ: dict[str, str] | None = None, *cfg: str) -> ChatProvider:
    return provider_for(ModelId(name, "m"), configured(*cfg).root.providers, environ or {})


KEYS = {
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "cerebras": "CEREBRAS_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
}


@pytest.mark.parametrize(("name", "variable"), KEYS.items())
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_its_variable_and_the_way_out(name: str, variable: str, value: str | None) -> None:
    with pytest.raises(e.MissingKeyError) as error:
        find(name, {} if value is None else {variable: value})
    assert variable in error.value.message
    assert any("`jp init -m provider/name`" in hint for hint in error.value.hints)
    assert error.value.code == "missing_key"


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("openai", "https://api.openai.com/v1/chat/completions"),
        ("openrouter", "https://openrouter.ai/api/v1/chat/completions"),
        ("cerebras", "https://api.cerebras.ai/v1/chat/completions"),
        ("deepseek", "https://api.deepseek.com/v1/chat/completions"),
        ("llamacpp", "http://127.0.0.1:8080/v1/chat/completions"),
        ("ollama", "http://localhost:11434/api/chat"),
    ],
)
def test_addresses(name: str, address: str) -> None:
    provider = find(name, {KEYS[name]: "key"} if name in KEYS else {})
    assert provider.address == address
    assert provider.name == name
    assert address in repr(provider)


def test_the_key_is_sent_and_not_shown() -> None:
    provider = find("openai", {"OPENAI_API_KEY": " sk-123\n"})
    assert provider.headers()["Authorization"] == "Bearer sk-123"
    assert provider.key_env == "OPENAI_API_KEY"
    assert "sk-123" not in repr(provider)


def test_a_key_that_cannot_be_one() -> None:
    with pytest.raises(e.BadKeyError, match="OPENAI_API_KEY"):
        find("openai", {"OPENAI_API_KEY": "sk-1\nX-Evil: 1"})


@pytest.mark.parametrize("base", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"])
def test_a_base_url_with_and_without_version(base: str) -> None:
    provider = find("openai", {"OPENAI_API_KEY": "k"}, f"providers.llm.openai.base_url={base}")
    assert provider.address == "http://h:1/v1/chat/completions"


def test_the_variable_for_the_base_url_wins() -> None:
    provider = find("openai", {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h:2/v1"})
    assert provider.address == "http://h:2/v1/chat/completions"


def test_a_base_url_that_is_none() -> None:
    with pytest.raises(e.BadAddressError, match="base_url of llamacpp"):
        find("llamacpp", {}, "providers.llm.llamacpp.base_url=localhost:8080")


def test_any_server_by_its_base_url() -> None:
    provider = find(
        "mine",
        {"MY_KEY": "k"},
        "providers.llm.mine.base_url=http://h:3/v1",
        "providers.llm.mine.api_key_env=MY_KEY",
        'providers.llm.mine.headers:={"X-Team": "a"}',
    )
    assert provider.name == "mine"
    assert provider.address == "http://h:3/v1/chat/completions"
    assert provider.headers() == {"Authorization": "Bearer k", "X-Team": "a"}


def test_of_several_variables_the_first_that_is_set() -> None:
    several = 'providers.llm.openai.api_key_env:=["A", "B"]'
    assert find("openai", {"B": "b"}, several).headers() == {"Authorization": "Bearer b"}
    with pytest.raises(e.MissingKeyError, match="A or B"):
        find("openai", {}, several)


@pytest.mark.parametrize("name", ["anthropic", "google"])
def test_providers_that_come_later_say_so(name: str) -> None:
    with pytest.raises(e.UnsupportedProviderError, match=name):
        find(name, {})


def test_an_unknown_provider_and_the_nearest() -> None:
    with pytest.raises(e.UnknownProviderError, match="openaii") as error:
        find("openaii")
    assert any("openai?" in hint for hint in error.value.hints)


def test_openrouter_says_who_asks() -> None:
    headers = find("openrouter", {"OPENROUTER_API_KEY": "k"}).headers()
    assert headers["X-Title"] == "JP"
    assert "HTTP-Referer" not in headers


def test_nothing_else_is_loaded(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = """
import sys
from jp.config.load import Paths, load
from jp.config.model import ModelId
from jp.llm.registry import provider_for
before = set(sys.modules)
provider_for(ModelId("llamacpp", "m"), load(Paths("/nonexistent", None, "/", None), {}).root.providers, {})
import jp.llm.source
heavy = ("ssl", "http.client", "email", "urllib.request", "asyncio", "logging")
print([m for m in sys.modules if m in heavy
       or m.startswith("jp.llm.providers.") and not m.endswith("llamacpp")])
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert out.stdout == "[]\n"
