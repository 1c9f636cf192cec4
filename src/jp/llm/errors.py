"""What can go wrong between JP and a model.

Every leaf says what happened, at which address, and what to do next. Whether it is worth trying again is not its
business but `jp.llm.retry`'s, which looks at the class, `status_code` and `retry_after`.
"""

from jp.errors import JpError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class LlmError(JpError):
    """A failure on the way to or from a model.

    `address` is where it happened (`https://host:port/path`, never with credentials). `status_code` is the HTTP status
    where there was one, `retry_after` the seconds that the server asked to wait.
    """

    code = "provider"

    def __init__(
        self,
        message: str,
        *,
        address: str | None = None,
        status_code: int | None = None,
        retry_after: float | None = None,
        hints: "Sequence[str]" = (),
    ) -> None:
        known = {"address": address, "status": status_code, "retry_after": retry_after}
        super().__init__(message, hints=hints, metadata={k: v for k, v in known.items() if v is not None})
        self.address = address
        self.status_code = status_code
        self.retry_after = retry_after


class MissingKeyError(LlmError):
    """No API key in the environment; nothing was sent."""

    code = "missing_key"


class BadKeyError(LlmError):
    """The API key in the environment can't be one; nothing was sent."""

    code = "bad_key"


class BadHeaderError(LlmError):
    """A configured header can't be one; nothing was sent."""

    code = "bad_header"


class UnknownProviderError(UsageError):
    """A model id names a provider that JP does not have."""

    code = "unknown_provider"


class UnsupportedProviderError(LlmError):
    """A provider that the configuration knows and this version can't talk to."""

    code = "unsupported_provider"


class BadAddressError(UsageError):
    """A base URL or proxy URL that can't be used."""

    code = "bad_address"


class NetworkError(LlmError):
    """The connection could not be made, or broke."""

    code = "network"


class NameNotFound(NetworkError):
    """The host's name has no address."""

    code = "name_not_found"


class ConnectionRefused(NetworkError):
    """Nothing listens at the address."""

    code = "connection_refused"


class ServerNotRunning(ConnectionRefused):
    """Nothing listens at an address of this machine: somebody has to start it, and waiting does not."""


class ConnectionLost(NetworkError):
    """The connection was reset or broke while it was in use."""

    code = "connection_lost"


class ProxyError(NetworkError):
    """The proxy refused or could not make the connection."""

    code = "proxy"


class TlsError(NetworkError):
    """The server's certificate was not accepted, or the handshake failed."""

    code = "tls"


class Timeout(NetworkError):
    """Nothing came for too long."""

    code = "timeout"


class Stopped(LlmError):
    """The exchange was stopped by JP itself; never shown."""

    code = "stopped"


class HttpError(LlmError):
    """The server answered with a status that is not success."""

    code = "http_status"


class Unauthorized(HttpError):
    """401 or 403: the key is wrong, or may not do this."""

    code = "unauthorized"


class RateLimited(HttpError):
    """429: too many requests or too little quota."""

    code = "rate_limited"


class OutOfCredit(HttpError):
    """402, or a 429 that no waiting helps: the account has nothing left."""

    code = "out_of_credit"


class Overloaded(HttpError):
    """529 and 503: the provider has too much to do."""

    code = "overloaded"


class NotFound(HttpError):
    """404: the model or the path does not exist there."""

    code = "not_found"


class Redirected(HttpError):
    """A redirect to another origin, which would carry the key away."""

    code = "redirected"


class ProviderError(LlmError):
    """An error object inside a stream that had begun with success."""

    code = "provider_error"


class BadResponse(LlmError):
    """The server answered, but not in the language that was expected: HTML for JSON, half a line, no HTTP."""

    code = "bad_response"


class StreamCut(LlmError):
    """The stream ended without the provider's own terminal event: what came is not the whole answer."""

    code = "stream_cut"


class TooLarge(LlmError):
    """More came than `assistant.request.max_response_bytes` allows."""

    code = "too_large"
