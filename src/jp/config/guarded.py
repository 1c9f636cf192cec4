"""Which values of a workspace's own files wait for trust: what runs a program, sends the user's keys somewhere, or
reads the user's files.

A server on this machine (`base_url` on loopback) is free where no secret goes to it, but nothing else of a provider is:
`api_key_env` may name any variable, whose secret then goes to that server, as a key; `base_url_env` and `headers` steer
where and with what. Nor are parameters that a provider is sent as they are, but for numbers: others tell it of servers
that it is to reach, or to keep what was said. How much tools may do is `loosening`'s.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jp.config.attached import leads_outside, parse
from jp.config.containers import Merge, bare
from jp.config.kinds import UNSET
from jp.config.sections.interaction import EDITOR_VARIABLES

ATTACHMENTS = ("conversation", "attachments")
MODELS = (
    ("assistant", "model"),
    ("conversation", "title", "generate", "model"),
    ("conversation", "inquiry", "assistant", "model"),
)
RULES = ("conversation", "compaction", "rules")
SUMMARY = ("summary", "model", "parameters", "other")
LOOPBACK = r"https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[^@\\]*)?"

Found = Iterator[tuple[tuple[str, ...], Any]]


def guarded(form: Mapping[str, Any], has_key: Callable[[str], bool] = lambda _: True) -> Found:
    """The keys of a tree that wait for trust, with their values (`UNSET` where one is taken back).

    `has_key` says whether a provider is sent a secret. The attachments are among the keys as a whole;
    `is_guarded_attachment` says which of them wait.
    """
    conversation = _table(form, "conversation")
    for name, tool in _tables(conversation, "tools"):
        if "command" in tool:
            yield ("conversation", "tools", name, "command"), tool["command"]
        parameters = _table_or_value(tool, "style", "parameters")
        if parameters is not None and parameters not in ("json", "function_call", "off"):
            yield ("conversation", "tools", name, "style", "parameters"), parameters
        for question, _ in _tables(tool, "questions"):
            target = ("conversation", "tools", name, "questions", question, "target")
            yield from _parameters((*target, "model", "parameters", "other"), form)
    for name, label in _tables(conversation, "labels"):
        if isinstance(label.get("value"), dict):
            yield ("conversation", "labels", name, "value"), label["value"]
    if isinstance(bare(conversation.get("attachments")), list):
        yield ATTACHMENTS, conversation["attachments"]
    if _table(form, "style").get("sanitize", "strip") == "off":
        yield ("style", "sanitize"), form["style"]["sanitize"]  # an answer would steer the user's terminal
    if "cmd" in _table(form, "editor"):
        yield ("editor", "cmd"), form["editor"]["cmd"]
    names = bare(_table(form, "editor").get("envs"))
    if isinstance(names, list) and not set(names) <= set(EDITOR_VARIABLES):
        yield ("editor", "envs"), form["editor"]["envs"]  # what is in any other variable would be run
    yield from _others(form, has_key)
    for path in MODELS:
        yield from _parameters((*path, "parameters", "other"), form)
    rules = bare(_table(conversation, "compaction").get("rules"))
    if isinstance(rules, list) and any(list(_parameters(SUMMARY, rule)) for rule in rules if isinstance(rule, dict)):
        yield RULES, _table(conversation, "compaction")["rules"]
    yield from _taken_back(form)


def _others(form: Mapping[str, Any], has_key: Callable[[str], bool]) -> Found:
    """Servers and plugins."""
    for name, server in _tables(_table(form, "providers"), "mcp"):
        yield ("providers", "mcp", name), server
    for name, plugin in _table(_table(form, "plugins"), "command").items():
        yield ("plugins", "command", name), plugin
    for name, provider in _tables(_table(form, "providers"), "llm"):
        if name != "aliases":
            yield from _provider(("providers", "llm", name), provider, has_key)


def _parameters(path: tuple[str, ...], form: Mapping[str, Any]) -> Found:
    """The parameters of one provider that are no numbers, or are taken back."""
    for step in path[:-1]:
        form = _table(form, step)
    if form.get(path[-1]) is UNSET:
        yield path, UNSET
    for name, value in _table(form, path[-1]).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield (*path, name), value


def _taken_back(form: Mapping[str, Any]) -> Found:
    """The tables that are taken back as a whole: what the user has said in them of a server, or against a plugin."""
    for section, part in (("plugins", "command"), ("providers", "llm")):
        for table, path in ((form, (section,)), (_table(form, section), (section, part))):
            if table.get(path[-1]) is UNSET:
                yield path, UNSET
    for name, provider in _table(_table(form, "providers"), "llm").items():
        if provider is UNSET and name != "aliases":
            yield ("providers", "llm", name), UNSET


def _provider(path: tuple[str, ...], provider: Mapping[str, Any], has_key: Callable[[str], bool]) -> Found:
    """What of a provider decides where a secret of the user goes, and which."""
    url = provider.get("base_url", "http://localhost")
    if isinstance(url, Merge) and url.strategy == "replace":
        url = url.value
    here = isinstance(url, str) and is_loopback(url)  # what is joined with another source's is no whole URL
    if "base_url" in provider and (not here or has_key(path[-1])):
        yield (*path, "base_url"), provider["base_url"]
    for key in ("api_key_env", "base_url_env"):
        if key in provider:
            yield (*path, key), provider[key]
    for name, value in _table(provider, "headers").items():
        if value is not UNSET:
            yield (*path, "headers", name), value


def _table_or_value(form: Mapping[str, Any], key: str, below: str) -> Any:
    found = _table(form, key).get(below)
    return None if found is UNSET else found


def _tables(form: Mapping[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, bare(value)) for name, value in _table(form, key).items() if isinstance(bare(value), dict)]


def _table(form: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table at a key, an empty one where there is none or where it is taken back."""
    table = bare(form.get(key))
    return table if isinstance(table, dict) else {}


def is_guarded_attachment(attachment: object, root: str | None = None) -> bool:
    """Whether an attachment runs a program, or reads a file that is not in the workspace at `root`."""
    if is_command(attachment):
        return True
    wanted = parse(attachment)
    return wanted.kind.strip().lower() == "file" and leads_outside(wanted.path, root)


def is_command(attachment: object) -> bool:
    """Whether an attachment runs a program."""
    if isinstance(attachment, dict):
        return str(attachment.get("type", "")).strip().lower() == "cmd"
    return str(attachment).strip().lower().startswith("cmd:")


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    import re

    # Strict on purpose, and not urlsplit: what this does not recognise counts as another machine.
    return re.fullmatch(LOOPBACK, url.strip(), re.IGNORECASE) is not None
