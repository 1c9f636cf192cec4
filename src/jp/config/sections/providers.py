"""`providers`: where models and MCP servers are reached."""

from typing import Any

import msgspec

from jp.config.containers import REPEAT, REPLACE, Items, Word
from jp.config.kinds import MISSING, Choice, Flag, Kind, Whole, ours
from jp.config.special import ModelId
from jp.config.tables import OneOf, Table

OPENAI_COMPATIBLE = "openai-compatible"


class Provider(msgspec.Struct, frozen=True):
    """One provider; None where a key does not apply.

    `base_url_env` names a variable that, where it is set, holds the base URL. `api_key_env` is the name of a variable,
    several of which the first one set is used, or named ones. `kind` is set for servers that are not built in.
    """

    api_key_env: str | list[str] | dict[str, str | list[str]] | None = None
    base_url: str | None = None
    base_url_env: str | None = None
    chain_on_max_tokens: bool | None = None
    beta_headers: list[str] = []
    app_name: str | None = None
    app_referrer: str | None = None
    headers: dict[str, str] = {}
    kind: str | None = None


class Llm(msgspec.Struct, frozen=True):
    """All providers: `llm["openai"]`, `name in llm`; `aliases` are model ids by short name."""

    aliases: dict[str, str]
    named: dict[str, Provider]

    def __getitem__(self, name: str) -> Provider:
        return self.named[name]

    def __contains__(self, name: object) -> bool:
        return name in self.named


class Checksum(msgspec.Struct, frozen=True):
    """The hash that a program must have."""

    algorithm: str
    value: str


class McpServer(msgspec.Struct, frozen=True, rename={"kind": "type"}):
    """An MCP server: "stdio", a command that is started and spoken to over its pipes, or "http", at a `url`.

    That the one or the other is there is seen when the server is started: a command may still wait for trust while
    the arguments that another source adds are in effect.
    """

    kind: str
    arguments: list[str]
    variables: list[str]
    optional: bool
    command: str | None = None
    startup_timeout_secs: int | None = None
    checksum: Checksum | None = None
    url: str | None = None
    headers: dict[str, str] = {}


class Providers(msgspec.Struct, frozen=True):
    """The providers section as resolved from all sources."""

    llm: Llm
    mcp: dict[str, McpServer] = {}


def _api_key_env(default: Any) -> OneOf:
    names = Items(Word(), joining=REPLACE)
    doc = "The variable that holds the API key; of a list, the first that is set."
    return OneOf(
        (Word(), names, Table({}, "The variable that holds the key of this name.", rest=OneOf((Word(), names)))),
        default,
        doc,
    )


def _provider(base_url: Any, api_key_env: Any = MISSING, **more: Kind) -> Table:
    """The keys of a provider, in the order in which conversations hold them."""
    keys: dict[str, Kind] = {"api_key_env": _api_key_env(api_key_env)}
    if "app_name" in more:
        keys["app_name"] = more.pop("app_name")
        keys["app_referrer"] = more.pop("app_referrer")
    keys["base_url"] = Word(base_url, "Where its API is.")
    keys["base_url_env"] = more.pop(
        "base_url_env", Word(MISSING, "A variable that, where it is set, holds the base URL.")
    )
    keys |= more
    keys["headers"] = ours(Table({}, "Headers of every request.", rest=Word(), optional=True))
    return Table(keys, "A provider.")


def _llm() -> Table:
    keys: dict[str, Kind] = {
        "aliases": Table(
            {}, "Short names of models; one may name another.", rest=ModelId(MISSING, "A model."), optional=True
        ),
        "anthropic": _provider(
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            chain_on_max_tokens=Flag(True, "Ask for more when a response reaches the provider's limit."),
            beta_headers=Items(Word(), [], "Features of the API that are still in beta."),
        ),
        "cerebras": _provider("https://api.cerebras.ai", "CEREBRAS_API_KEY"),
        "deepseek": _provider("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
        "google": _provider("https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
        "llamacpp": _provider("http://127.0.0.1:8080"),
        "ollama": _provider("http://localhost:11434"),
        "openai": _provider(
            "https://api.openai.com",
            "OPENAI_API_KEY",
            base_url_env=Word("OPENAI_BASE_URL", "A variable that, where it is set, holds the base URL."),
        ),
        "openrouter": _provider(
            "https://openrouter.ai",
            "OPENROUTER_API_KEY",
            app_name=Word("JP", "The name JP is listed under."),
            app_referrer=Word(MISSING, "The address JP is listed under."),
        ),
    }
    kind = Choice((OPENAI_COMPATIBLE,), OPENAI_COMPATIBLE, "What the server speaks.")
    custom = _provider(MISSING, kind=kind)
    return Table(
        keys, "Providers of models; any other name is an OpenAI-compatible server at its base_url.", rest=custom
    )


def checksum(doc: str) -> Table:
    """The keys of the hash that a program must have."""
    return Table(
        {
            "algorithm": Choice(("sha256", "sha1"), "sha256", "How it is hashed."),
            "value": Word(MISSING, "The hash, in hexadecimal."),
        },
        doc,
        optional=True,
        required=("value",),
    )


def _mcp() -> Table:
    server = Table(
        {
            "type": Choice(("stdio", "http"), "stdio", "How it is reached: as a program, or by streamable HTTP."),
            "command": Word(MISSING, "The program; stdio wants one."),
            "arguments": Items(Word(), [], "Its arguments.", joining=REPEAT),
            "variables": Items(Word(), [], "Variables of the environment that it gets."),
            "checksum": checksum("The hash that the command must have."),
            "optional": Flag(False, "Go on without it when it does not start."),
            "startup_timeout_secs": Whole(MISSING, "Seconds it may take to start; 60 when not given, 0 for no limit."),
            "url": ours(Word(MISSING, "Where it is; http wants one.")),
            "headers": ours(
                Table(
                    {},
                    "Headers of every request; ${NAME} is a variable that `variables` names.",
                    rest=Word(),
                    optional=True,
                )
            ),
        },
        "An MCP server.",
    )
    return Table({}, "MCP servers by name.", rest=server, optional=True)


def providers() -> Table:
    """The keys of `providers`."""
    return Table({"llm": _llm(), "mcp": _mcp()}, "Where models and MCP servers are reached.")
