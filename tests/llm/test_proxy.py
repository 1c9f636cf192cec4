"""Which proxy the environment asks for."""

import pytest

from jp.llm.address import parse
from jp.llm.errors import BadAddressError
from jp.llm.proxy import proxy_for

P = "http://proxy:3128"


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        ("https://api.example.com", {}, None),
        ("https://api.example.com", {"HTTPS_PROXY": P}, "http://proxy:3128"),
        ("https://api.example.com", {"https_proxy": P}, "http://proxy:3128"),
        ("https://api.example.com", {"HTTP_PROXY": P}, None),
        ("http://api.example.com", {"HTTP_PROXY": P}, "http://proxy:3128"),
        ("http://api.example.com", {"HTTP_PROXY": P, "REQUEST_METHOD": "GET"}, None),
        ("http://api.example.com", {"http_proxy": P, "REQUEST_METHOD": "GET"}, "http://proxy:3128"),
        ("https://api.example.com", {"ALL_PROXY": P}, "http://proxy:3128"),
        ("https://api.example.com", {"ALL_PROXY": "http://a:1", "HTTPS_PROXY": P}, "http://proxy:3128"),
        ("https://api.example.com", {"HTTPS_PROXY": "http://a:1", "https_proxy": P}, "http://proxy:3128"),
        ("https://api.example.com", {"ALL_PROXY": "socks5://h"}, "socks5://h:1080"),
        ("https://api.example.com", {"ALL_PROXY": "socks5h://u:p@h:9"}, "socks5://h:9"),
        ("http://api.example.com", {"ALL_PROXY": "SOCKS5://[::1]"}, "socks5://[::1]:1080"),
        ("https://api.example.com", {"HTTPS_PROXY": "proxy:3128"}, "http://proxy:3128"),
        ("https://api.example.com", {"HTTPS_PROXY": " "}, None),
        ("http://localhost:8080", {"HTTP_PROXY": P}, None),
        ("http://127.0.0.1:8080", {"HTTP_PROXY": P}, None),
        ("http://[::1]:8080", {"ALL_PROXY": P}, None),
        ("http://127.evil.example.com", {"HTTP_PROXY": P}, "http://proxy:3128"),
    ],
)
def test_proxy_for(url: str, environ: dict[str, str], expected: str | None) -> None:
    proxy = proxy_for(parse(url), environ)
    assert (proxy and proxy.shown) == expected


@pytest.mark.parametrize(
    ("listed", "bypassed"),
    [
        ("*", True),
        ("example.com", True),
        (".example.com", True),
        ("*.example.com", True),
        ("other, API.example.com", True),
        ("api.example.com:443", True),
        ("api.example.com:80", False),
        ("ample.com", False),
        ("example.com.evil", False),
        ("", False),
        (" , ", False),
    ],
)
def test_no_proxy_names(listed: str, bypassed: bool) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        proxy = proxy_for(parse("https://api.example.com"), {"HTTPS_PROXY": P, name: listed})
        assert (proxy is None) == bypassed


@pytest.mark.parametrize(
    ("listed", "bypassed"), [("10.0.0.0/8", True), ("10.1.2.3", True), ("10.1.0.0/24", False), ("x/8", False)]
)
def test_no_proxy_networks(listed: str, bypassed: bool) -> None:
    proxy = proxy_for(parse("http://10.1.2.3"), {"HTTP_PROXY": P, "NO_PROXY": listed})
    assert (proxy is None) == bypassed


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_the_variable_is_remembered(variable: str) -> None:
    proxy = proxy_for(parse("https://x"), {variable: P})
    assert proxy is not None
    assert proxy.variable == variable
    assert variable in proxy.hints[0]


def test_credentials_of_the_proxy_are_kept_and_not_shown() -> None:
    proxy = proxy_for(parse("https://x"), {"HTTPS_PROXY": "http://u:secret@proxy:1"})
    assert proxy is not None
    assert proxy.address.credentials == (b"u", b"secret")
    assert "secret" not in proxy.shown


@pytest.mark.parametrize("value", ["socks4://h:1", "https://h:1", "http://h:nope"])
def test_a_proxy_that_cannot_be_used_names_its_variable(value: str) -> None:
    with pytest.raises(BadAddressError, match="ALL_PROXY"):
        proxy_for(parse("https://x"), {"ALL_PROXY": value})
