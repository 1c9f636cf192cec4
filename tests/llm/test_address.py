"""URLs of servers."""

import pytest

from jp.llm.address import Address, join, parse, resolve
from jp.llm.errors import BadAddressError


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:11434", Address("http", "localhost", 11434)),
        ("https://API.example.com/v1/x?y=1#z", Address("https", "api.example.com", 443, "/v1/x?y=1")),
        ("http://[::1]:8080/a", Address("http", "::1", 8080, "/a")),
        ("http://[::1]", Address("http", "::1", 80)),
        ("HTTP://h", Address("http", "h", 80)),
        ("http://h?x=1", Address("http", "h", 80, "/?x=1")),
        ("http://user:p%40ss@h:1/", Address("http", "h", 1, "/", "user:p%40ss")),
        (" http://h ", Address("http", "h", 80)),
        ("http://bücher.example", Address("http", "xn--bcher-kva.example", 80)),
    ],
)
def test_parse(url: str, expected: Address) -> None:
    assert parse(url) == expected


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("localhost:11434", "http://"),
        ("ftp://x", "http://"),
        ("", "http://"),
        ("http://", "no host"),
        ("http:///x", "no host"),
        ("http://:80", "no host"),
        ("http://h:0", "port"),
        ("http://h:65536", "port"),
        ("http://h:x", "port"),
        ("http://h:8080:9", "port"),
        ("http://[::1", "bracket"),
        ("http://[::1]x", "port"),
        ("http://" + "ä" * 70, "not a possible name"),
        ("http://a b", "space"),
        ("http://h/\r\nX: y", "control"),
    ],
)
def test_what_is_wrong_is_said(url: str, why: str) -> None:
    with pytest.raises(BadAddressError, match=why) as error:
        parse(url, name="the base_url of openai")
    assert "the base_url of openai" in error.value.message


def test_credentials_are_never_shown() -> None:
    address = parse("https://user:secret@h/p?key=secret")
    assert "secret" not in address.shown + address.origin
    with pytest.raises(BadAddressError) as error:
        parse("https://user:secret@h:x/p")
    assert "secret" not in error.value.message


@pytest.mark.parametrize(
    ("address", "authority"),
    [("http://h", "h"), ("http://h:80", "h"), ("https://h:80", "h:80"), ("http://[::1]:1", "[::1]:1")],
)
def test_authority(address: str, authority: str) -> None:
    assert parse(address).authority == authority


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b", "http://h:1/b"),
        ("c", "http://h:1/v1/c"),
        ("https://other/x", "https://other/x"),
        ("//other/x", "http://other/x"),
    ],
)
def test_resolve(location: str, expected: str) -> None:
    base = parse("http://h:1/v1/chat?x=1")
    where = resolve(base, location)
    assert where.origin + where.path == expected


def test_join() -> None:
    assert join("http://h/", "/v1") == join("http://h", "/v1") == "http://h/v1"
