"""The model that a query asks: chosen before anything is made, started when there is a conversation."""

from jp.errors import JpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.cli.context import Context
    from jp.config.load import Config
    from jp.config.model import ModelId
    from jp.config.sections.assistant import AssistantOverride
    from jp.llm.embedded.catalogue import Model as Weights
    from jp.llm.embedded.runtime import Running
    from jp.llm.provider import Provider
    from jp.turn.loop import Model

EMBEDDED = "local"


class NoModelError(JpError):
    """Nothing says which model to ask."""

    code = "no_model"

    def __init__(self) -> None:
        super().__init__(
            "no model is configured",
            hints=[
                "a provider: `jp init -m openai/gpt-5-mini`, with its key in the environment (OPENAI_API_KEY)",
                "a server of yours: `jp init -m ollama/NAME`, or `providers.llm.NAME.base_url` for any other",
                "the embedded model, no key and no server: `jp model install`",
            ],
        )


class Choice:
    """A model that can be asked, nothing started yet: a provider, or the weights of the embedded model."""

    __slots__ = ("id", "provider", "weights")

    def __init__(self, id_: "ModelId", provider: "Provider | None", weights: "Weights | None" = None) -> None:
        self.id = id_
        self.provider = provider
        self.weights = weights


def choose(config: "Config", environ: "Mapping[str, str]", notices: "list[str]") -> Choice:
    """The configured model; without one, the embedded model where it is installed.

    What a person should know about the choice is added to `notices`. Raises NoModelError, ModelIdError, MissingKeyError
    and NotInstalledError: before anything is sent or made.
    """
    wanted = config.model_id()
    if wanted is None or wanted.provider == EMBEDDED:
        return _embedded(wanted, environ, notices)
    from jp.llm.registry import provider_for

    if held := config.withheld_for(wanted.provider):
        from jp.config.trust import waits_for_trust

        notices.extend(waits_for_trust(one) for one in held)
    provider = provider_for(wanted, config.root.providers, environ)
    provider.cache = config.root.assistant.request.cache not in (False, "off", 0)
    return Choice(wanted, provider)


def _embedded(wanted: "ModelId | None", environ: "Mapping[str, str]", notices: "list[str]") -> Choice:
    from jp.config.model import ModelId
    from jp.llm.embedded import catalogue, shelf
    from jp.llm.embedded.runtime import missing_runtime

    if wanted is None:
        installed = [model for model in catalogue.MODELS if shelf.installed(model, environ)]
        if not installed:
            raise NoModelError
        weights = installed[0]
        notices.append(f"no model is configured; asking the embedded {weights.name}")
        wanted = ModelId(EMBEDDED, weights.name)
    else:
        weights = catalogue.find(wanted.name)
        shelf.require(weights, environ)
    if (missing := missing_runtime()) is not None:
        raise missing
    return Choice(wanted, None, weights)


class Connection:
    """A model ready to be asked; `close` ends what was started for it."""

    def __init__(self, model: "Model", running: "Running | None" = None) -> None:
        self.model = model
        self._running = running

    @property
    def embedded(self) -> bool:
        """Whether it is a process of ours."""
        return self._running is not None

    def keep(self) -> None:
        """Save what makes the next turn of this conversation start at once."""
        if self._running is not None:
            self._running.save()

    def close(self) -> None:
        """End the embedded model's process, if there is one."""
        if self._running is not None:
            self._running.stop()


def connect(choice: Choice, config: "Config", conversation_id: str | None, ctx: "Context") -> Connection:
    """Start what has to be started; raises LoadError, RuntimeMissingError, Shutdown."""
    from jp.llm.retry import Policy
    from jp.llm.source import Options
    from jp.turn.loop import Model

    request = config.root.assistant.request
    policy = Policy(request.max_retries, request.base_backoff_ms, request.max_backoff_secs)
    running = None
    provider = choice.provider
    if choice.weights is not None:
        from jp.llm.embedded import runtime
        from jp.llm.embedded.provider import Local

        with ctx.printer.status(f"Loading {choice.weights.name}…", delay=0.5):
            options = runtime.Options(conversation=conversation_id)
            running = runtime.start(choice.weights, ctx.environ, options)
        provider = Local(running)
    assert provider is not None
    options_ = Options(
        idle_secs=request.stream_idle_timeout_secs,
        patience=provider.patience,
        max_response_bytes=request.max_response_bytes,
        key=provider.key_env,
    )
    parameters = config.root.assistant.model.parameters
    model = Model(provider, choice.id.name, parameters, policy, options_, ctx.environ)
    if running is not None:
        model.explain = running.explain  # before it is decided whether to try again: a dead process is not asked twice
    return Connection(model, running)


def title_model(config: "Config", connection: Connection, ctx: "Context") -> "Model | None":
    """The model that writes titles; None where it would be the embedded one, which answers one question at a time."""
    from jp.llm.source import Options
    from jp.turn.loop import Model

    settings = config.root.conversation.title.generate.model
    wanted = config.model_id(settings.id) if settings is not None and settings.id else None
    own = _plain(connection.model) if not connection.embedded else None
    if wanted is None:
        return own
    if wanted.provider == EMBEDDED:
        return None
    from jp.llm.registry import provider_for

    try:
        provider = provider_for(wanted, config.root.providers, ctx.environ)
    except JpError:
        return own
    assert settings is not None
    options = Options(patience=provider.patience, key=provider.key_env)
    return Model(provider, wanted.name, settings.parameters, connection.model.policy, options, ctx.environ)


def inquiry_model(config: "Config", by: "AssistantOverride | None", connection: Connection, ctx: "Context") -> "Model":
    """The model that answers a tool's question: the question's own, the configured one, else the conversation's."""
    from jp.llm.registry import provider_for
    from jp.llm.source import Options
    from jp.turn.loop import Model

    shared = config.root.conversation.inquiry
    settings = by.model if by is not None and by.model is not None else None
    if settings is None and shared.assistant is not None:
        settings = shared.assistant.model
    wanted = config.model_id(settings.id) if settings is not None and settings.id else None
    if settings is None or wanted is None or wanted.provider == EMBEDDED:
        return _plain(connection.model)
    provider = provider_for(wanted, config.root.providers, ctx.environ)
    options = Options(patience=provider.patience, key=provider.key_env)
    return Model(provider, wanted.name, settings.parameters, connection.model.policy, options, ctx.environ)


def _plain(model: "Model") -> "Model":
    """The same model without what the answer was asked with: a title takes no reasoning and no token limit."""
    from jp.config.sections.model import Parameters
    from jp.turn.loop import Model

    parameters = Parameters(stop_words=[], other={}, reasoning="off")
    return Model(model.provider, model.name, parameters, model.policy, model.options, model.environ)
