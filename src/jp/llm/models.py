"""Asking a provider which models it has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jp.llm.connect import Lifeline
from jp.llm.errors import BadResponse, HttpError
from jp.llm.exchange import Exchange, Limits
from jp.llm.status import error_for_status

if TYPE_CHECKING:
    from jp.llm.provider import ModelDetails, Provider, Request

LIST_LIMITS = Limits(connect_secs=10, idle_secs=30)
MAX_LIST = 32 * 1024 * 1024


def list_models(
    provider: Provider,
    *,
    lifeline: Lifeline | None = None,
    limits: Limits = LIST_LIMITS,
    environ: Mapping[str, str] = os.environ,
) -> list[ModelDetails]:
    """The provider's models; blocks, so call it from a thread that may wait, and `lifeline.cut()` ends it.

    Further requests of a provider only add details: when they fail, the list is without. Raises leaves of LlmError.
    """
    lifeline = lifeline or Lifeline()
    answers: list[bytes] = []
    try:
        first, *more = provider.models_requests()
        answers.append(fetch(first, lifeline, limits=limits, environ=environ))
        for request in more:
            try:
                answers.append(fetch(request, lifeline, limits=limits, environ=environ))
            except HttpError:
                break
    finally:
        lifeline.close()
    try:
        return provider.parse_models(answers)
    except (AttributeError, LookupError, TypeError, ValueError):  # a detail of a kind that nobody has documented
        raise BadResponse(f"the list of models of {provider.name} makes no sense") from None


def fetch(request: Request, lifeline: Lifeline, *, limits: Limits, environ: Mapping[str, str] = os.environ) -> bytes:
    """The whole body of one answer. Raises leaves of LlmError."""
    with Exchange(request, lifeline, limits=limits, environ=environ) as exchange:
        exchange.send()
        exchange.head()
        body = exchange.read_all(MAX_LIST)
        if exchange.status // 100 != 2:
            raise error_for_status(exchange.status, body, address=exchange.address.shown)
        return body
