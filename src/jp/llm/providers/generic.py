"""Any server that speaks OpenAI-compatible chat completions, by its base URL."""

from jp.llm.chat import ChatProvider


class Generic(ChatProvider):
    """A server about which nothing else is known; reasoning is read in every form and not asked for."""

    patience = 10.0
    inline_thinking = True
