"""TLS: certificates as the environment names them, failures in words. Imported for https alone; it costs 30 ms."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping

from jp.llm.address import Address
from jp.llm.errors import TlsError

CA_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_CA_HINT = "For a certificate authority of your own, name its file in SSL_CERT_FILE."


def context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """A verifying context, made once for what the environment names: reading the authorities costs 20 ms.

    Raises TlsError when a variable names a file that can't be used.
    """
    variable = next((name for name in CA_FILES if environ.get(name)), "SSL_CERT_DIR")
    path = environ.get(variable)
    if path not in _contexts:
        _contexts[path] = _make(path, variable)
    return _contexts[path]


_contexts: dict[str | None, ssl.SSLContext] = {}


def _make(path: str | None, variable: str) -> ssl.SSLContext:
    directory = path is not None and os.path.isdir(path)
    try:
        made = ssl.create_default_context(capath=path) if directory else ssl.create_default_context(cafile=path)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "strerror", None) or "it holds no certificates"
        raise TlsError(f"{variable} names {path}, which can't be used: {why}") from error
    made.set_alpn_protocols(["http/1.1"])
    return made


def wrap(sock: socket.socket, host: str, at: Address, environ: Mapping[str, str]) -> ssl.SSLSocket:
    """Shake hands. Raises TlsError; OSError and TimeoutError are the caller's."""
    made = context(environ)
    try:
        return made.wrap_socket(sock, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise TlsError(
            f"the certificate of {at.origin} was not accepted: {error.verify_message}",
            address=at.origin,
            hints=[_CA_HINT, "Check this machine's clock." if "expired" in error.verify_message else ""][
                : 2 if "expired" in error.verify_message else 1
            ],
        ) from error
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
        raise ConnectionResetError("the server closed the connection during the TLS handshake") from None
    except ssl.SSLError as error:
        if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE"):
            raise TlsError(
                f"{at.origin} does not speak TLS",
                address=at.origin,
                hints=["Is its address meant to begin with http:// ?"],
            ) from error
        raise TlsError(
            f"no secure connection to {at.origin}: {error.reason or error}", address=at.origin, hints=[_CA_HINT]
        ) from error
