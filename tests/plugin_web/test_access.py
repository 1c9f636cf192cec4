"""Who is let in."""

from typing import Any

import pytest

from jp_plugins.web.access import Access, Asked, Refused, field


def asked(access: Access, path: str = "/", query: str = "", **headers: Any) -> Asked:
    known: dict[str, list[str]] = {"host": ["127.0.0.1:8123"], "cookie": [access.cookie().partition(";")[0]]}
    for name, value in headers.items():
        known[name.replace("_", "-")] = value if isinstance(value, list) else [value]
    return Asked("GET", path, query, {name: value for name, value in known.items() if value != [None]})


@pytest.fixture
def access() -> Access:
    return Access(8123)


def test_the_cookie_lets_in(access: Access) -> None:
    assert not access.by_token(asked(access))


def test_the_cookie_is_for_this_site_alone_and_not_for_scripts(access: Access) -> None:
    _, _, attributes = access.cookie().partition(";")
    assert attributes == " Path=/; HttpOnly; SameSite=Strict"


def test_the_token_lets_in_again_and_again(access: Access) -> None:
    token = access.address().partition("?")[2]
    for _ in range(2):
        assert access.by_token(asked(access, query=token, cookie=None))


def test_a_ticket_lets_in_once(access: Access) -> None:
    ticket = access.address_for_once().partition("?")[2]
    assert access.by_token(asked(access, query=ticket, cookie=None))
    with pytest.raises(Refused):
        access.by_token(asked(access, query=ticket, cookie=None))


def test_the_cookie_is_not_the_token(access: Access) -> None:
    token = access.address().rpartition("=")[2]
    assert token not in access.cookie()
    with pytest.raises(Refused):
        access.by_token(asked(access, cookie=f"jp-8123={token}"))
    session = access.cookie().partition(";")[0].rpartition("=")[2]
    with pytest.raises(Refused):
        access.by_token(asked(access, query=f"token={session}"))


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": None},
        {"cookie": "jp-8123="},
        {"cookie": "jp-8123=wrong"},
        {"cookie": "\xff=;;;"},
        {"host": None},
        {"host": "evil.com"},
        {"host": "evil.com:8123"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:80"},
        {"host": "localhost:8123"},
        {"host": "127.0.0.1:8123.evil.com"},
        {"host": ["127.0.0.1:8123", "evil.com"]},
        {"host": ["127.0.0.1:8123", "127.0.0.1:8123"]},
        {"origin": "http://evil.com"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8123"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": ["none", "cross-site"]},
    ],
    ids=str,
)
def test_who_is_not_let_in(access: Access, headers: dict[str, Any]) -> None:
    token = access.address().partition("?")[2]
    with pytest.raises(Refused):
        access.by_token(asked(access, **headers))
    if "cookie" not in headers:
        with pytest.raises(Refused):
            access.by_token(asked(access, query=token, **headers))


@pytest.mark.parametrize("headers", [{"origin": "http://127.0.0.1:8123"}, {"sec_fetch_site": "none"}], ids=str)
def test_a_page_of_ours_and_a_typed_address(access: Access, headers: dict[str, str]) -> None:
    assert not access.by_token(asked(access, **headers))


@pytest.mark.parametrize("query", ["token=x", "token=%FF", "token=x&token=y", "token=é"])
def test_a_wrong_token_is_refused_also_with_the_cookie(access: Access, query: str) -> None:
    with pytest.raises(Refused):
        access.by_token(asked(access, query=query))


def test_each_server_has_secrets_of_its_own() -> None:
    assert len({Access(1).address() for _ in range(3)} | {Access(1).cookie() for _ in range(3)}) == 6


def test_fields() -> None:
    assert field("a=1&b=2&b=3&c=%C3%A9+x", "b") == "2"
    assert field("a=1&b=2&b=3&c=%C3%A9+x", "c") == "é x"
    assert field("&".join("a=1" for _ in range(1000)), "a") == ""
