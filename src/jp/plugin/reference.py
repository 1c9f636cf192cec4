"""The reference of the plugin protocol, from its types: `python -m jp.plugin.reference docs/reference`.

Writes the schema `plugin-protocol.schema.json` there, and the marked parts of `plugin-protocol.md`, whose other text is
written by hand. Fields, their types and what they are for come from `jp.plugin.messages`; the examples are below.
"""

import inspect
import json
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.structs import FieldInfo, fields

from jp.plugin import messages
from jp.plugin.messages import Message, Request, type_of

DOCUMENT = "plugin-protocol.md"
SCHEMA = "plugin-protocol.schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

HOST: tuple[type[Message], ...] = get_args(messages.HostMessage)
PLUGIN: tuple[type[Message], ...] = get_args(messages.PluginMessage)

# What each request is answered with, where it is not refused.
RESPONSES: dict[type[Request], type[Message]] = {
    messages.ListConversations: messages.Conversations,
    messages.ReadEvents: messages.Events,
    messages.ReadConfig: messages.Config,
    messages.Lock: messages.Locked,
    messages.Unlock: messages.Unlocked,
    messages.PushEvents: messages.Pushed,
    messages.CreateConversation: messages.Created,
    messages.Prompt: messages.PromptResponse,
}

# What a field is for, where its type and its name say it in `messages`.
_PURPOSES = {
    "Init.workspace": "Where it runs.",
    "Init.paths": "Where JP keeps things.",
    "Conversations.data": "One entry for each, those used last first.",
    "Locked.conversation": "Its id: digits.",
    "Unlocked.conversation": "Its id: digits.",
    "Pushed.conversation": "Its id: digits.",
    "Print.text": "What is shown. No line end is added.",
    "Log.level": "How much it matters; `-v` … and `--log-file` decide what is kept.",
    "Log.message": "What happened.",
    "Log.fields": "Values that belong to it.",
}

_CHAT = (
    '{"timestamp":"2026-05-29 19:41:27.500000","type":"chat_request","content":"why is it slow?"},'
    '{"timestamp":"2026-05-29 19:41:31.200000","type":"chat_response","message":"It reads the file twice."}'
)

# Each as it may stand on the wire; several where there is more than one form of it.
EXAMPLES: dict[type[Message], tuple[str, ...]] = {
    messages.Init: (
        '{"type":"init","version":1,"workspace":{"root":"/home/me/app","storage":"/home/me/app/.jp","id":"x7k2p"},'
        '"paths":{"user_data":"/home/me/.local/share/jp","user_config":"/home/me/.config/jp",'
        '"user_workspace":"/home/me/.local/share/jp/workspace/app-x7k2p"},'
        '"config":{"assistant":{"model":{"id":"openai/gpt-5-mini"}}},"options":{"days":30},'
        '"args":["--all","src"],"log_level":0,"output_format":"text-pretty"}',
    ),
    messages.Describe: ('{"type":"describe"}',),
    messages.Shutdown: ('{"type":"shutdown"}',),
    messages.Conversations: (
        '{"type":"conversations","id":1,"data":[{"id":"17800836875","title":"Slow start",'
        '"last_activated_at":"2026-05-29T19:41:27.500000Z","events_count":12,"pinned_at":"2026-05-30T08:00:00Z"},'
        '{"id":"17800812345","title":null,"last_activated_at":null,"events_count":0}]}',
    ),
    messages.Events: (
        '{"type":"events","id":2,"conversation":"17800836875","title":"Slow start","lock":"elsewhere","data":'
        f'[{{"timestamp":"2026-05-29 19:41:27.400000","type":"turn_start"}},{_CHAT}]}}',
    ),
    messages.Config: (
        '{"type":"config","path":"assistant.model.id","data":"openai/gpt-5-mini"}',
        '{"type":"config","id":"c","data":{"assistant":{"model":{"id":"openai/gpt-5-mini"}}}}',
    ),
    messages.Locked: ('{"type":"locked","id":3,"conversation":"17800836875"}',),
    messages.Unlocked: ('{"type":"unlocked","id":5,"conversation":"17800836875"}',),
    messages.Pushed: ('{"type":"pushed","id":4,"conversation":"17800836875","count":2}',),
    messages.Created: ('{"type":"created","conversation":"17800899999"}',),
    messages.PromptResponse: (
        '{"type":"prompt_response","outcome":"answered","value":true}',
        '{"type":"prompt_response","id":"which","outcome":"answered","value":"develop"}',
        '{"type":"prompt_response","outcome":"cancelled"}',
        '{"type":"prompt_response","outcome":"unavailable","reason":"nobody can be asked in this run"}',
    ),
    messages.Error: (
        '{"type":"error","id":2,"request":"read_events","message":"no conversation 1780"}',
        '{"type":"error","request":"prompt","message":"`options` of `select` is a list of at least one string"}',
    ),
    messages.Ready: ('{"type":"ready"}',),
    messages.Description: (
        '{"type":"describe","name":"titles","version":"1.0.0","description":"Print the title of each conversation",'
        '"command":["titles"],"author":"A. Author","help":"Usage: jp titles\\n\\nPrints one title a line.",'
        '"repository":"https://example.org/jp-titles"}',
    ),
    messages.ListConversations: ('{"type":"list_conversations","id":1}', '{"type":"list_conversations"}'),
    messages.ReadEvents: ('{"type":"read_events","id":2,"conversation":"jp-c17800836875"}',),
    messages.ReadConfig: ('{"type":"read_config","path":"assistant.model.id"}', '{"type":"read_config","id":"c"}'),
    messages.Lock: ('{"type":"lock","id":3,"conversation":"17800836875"}',),
    messages.Unlock: ('{"type":"unlock","id":5,"conversation":"17800836875"}',),
    messages.PushEvents: (
        '{"type":"push_events","id":4,"conversation":"17800836875","events":['
        '{"type":"chat_request","content":"why is it slow?"},'
        '{"type":"chat_response","message":"It reads the file twice."}]}',
    ),
    messages.CreateConversation: ('{"type":"create_conversation","title":"Review"}',),
    messages.Prompt: (
        '{"type":"prompt","kind":"confirm","message":"Delete 14 stale entries?","default":false}',
        '{"type":"prompt","id":"which","kind":"select","message":"Which branch?",'
        '"options":["main","develop","release"],"default":"develop"}',
        '{"type":"prompt","kind":"text","message":"Commit message","default":"Fix the start"}',
        '{"type":"prompt","kind":"secret","message":"Registry token"}',
    ),
    messages.Print: (
        '{"type":"print","text":"14 entries\\n"}',
        '{"type":"print","text":"## Stale\\n\\n- a\\n- b\\n","format":"markdown"}',
        '{"type":"print","text":"looking…\\n","channel":"chrome"}',
        '{"type":"print","text":"fn main() {}","format":"code","language":"rust"}',
    ),
    messages.Log: ('{"type":"log","level":"info","message":"entries read","fields":{"count":14}}',),
    messages.Exit: ('{"type":"exit"}', '{"type":"exit","code":2,"reason":"unknown argument --al"}'),
}


# --- the document


def parts() -> dict[str, str]:
    """The parts of the document that are generated, by their names."""
    return {
        "requests": "\n".join(_overview()),
        "host": "\n\n".join("\n".join(_section(each, "host")) for each in HOST),
        "plugin": "\n\n".join("\n".join(_section(each, "plugin")) for each in PLUGIN),
    }


def renewed(text: str) -> str:
    """The text of the document with its generated parts made anew. Raises ValueError where one is not marked."""
    for name, part in parts().items():
        begin, end = f"<!-- {name}: written by jp.plugin.reference -->", f"<!-- {name}: end -->"
        before, (_, after) = text[: text.index(begin)], text[text.index(begin) :].split(end, 1)
        text = f"{before}{begin}\n\n{part}\n\n{end}{after}"
    return text


def _overview() -> list[str]:
    rows = ["| a request of the plugin | is answered with |", "| --- | --- |"]
    rows += [f"| {_linked(asked, 'plugin')} | {_linked(RESPONSES[asked], 'host')} |" for asked in RESPONSES]
    others = [each for each in PLUGIN if not issubclass(each, Request)]
    rows += [
        "",
        "Without a response: " + ", ".join(_linked(each, "plugin") for each in others) + ".",
        "Of its own accord the host sends "
        + ", ".join(_linked(each, "host") for each in HOST if not issubclass(each, messages.Response))
        + ".",
    ]
    return rows


def _linked(each: type[Message], side: str) -> str:
    return f"[`{type_of(each)}`](#{_anchor(each, side)})"


def _title(each: type[Message], side: str) -> str:
    """The heading of a message; `describe` goes both ways."""
    both = {type_of(one) for one in HOST} & {type_of(one) for one in PLUGIN}
    return f"`{type_of(each)}`" + (f" (from the {side})" if type_of(each) in both else "")


def _anchor(each: type[Message], side: str) -> str:
    return _title(each, side).replace("`", "").replace("(", "").replace(")", "").replace(" ", "-")


def _section(each: type[Message], side: str) -> list[str]:
    lines = [f"### {_title(each, side)}", "", inspect.cleandoc(each.__doc__ or "")]
    lines += _table(each)
    for name in dict.fromkeys(name for field in fields(each) for name in _structs(field.type)):
        struct = getattr(messages, name)
        lines += ["", f"{name}: {inspect.cleandoc(struct.__doc__ or '')}", *_table(struct)]
    return [*lines, "", "```json", *EXAMPLES[each], "```"]


def _table(struct: type[Struct]) -> list[str]:
    described = [_row(struct, field) for field in fields(struct)]
    return ["", "| field | type | needed | |", "| --- | --- | --- | --- |", *described] if described else []


def _row(struct: type[Struct], field: FieldInfo) -> str:
    hint = get_type_hints(struct, include_extras=True)[field.name]
    purpose = next((meta.description for meta in get_args(hint)[1:] if isinstance(meta, Meta)), None)
    purpose = purpose or _PURPOSES[f"{struct.__name__}.{field.name}"]
    if field.required:
        needed = "yes"
    else:
        needed = "" if field.default is UNSET else f"`{json.dumps(_default(field))}`"
    return f"| `{field.encode_name}` | {spelled(hint)} | {needed} | {purpose.replace('|', chr(92) + '|')} |"


def _default(field: FieldInfo) -> Any:
    return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()


def spelled(hint: Any) -> str:
    """A type in words; null is the same as left out, and not named."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        limits = next((meta for meta in arguments[1:] if isinstance(meta, Meta) and meta.ge is not None), None)
        return f"{limits.ge} to {limits.le}" if limits is not None else spelled(arguments[0])
    if origin is Literal:
        return ", ".join(f'`"{each}"`' for each in arguments)
    if origin in (Union, UnionType):
        kinds = [each for each in arguments if each not in (UnsetType, Raw) and each is not NoneType]
        nullable = NoneType in arguments and UnsetType not in arguments
        return " or ".join(dict.fromkeys([spelled(each) for each in kinds] + (["null"] if nullable else [])))
    if origin is list:
        return f"array of {_plural(arguments[0])}"
    if origin is dict:
        return "object"
    if isinstance(hint, type) and issubclass(hint, Struct):
        return f"object ({hint.__name__})"
    return {str: "string", int: "integer", bool: "boolean"}.get(hint, "any value")


def _plural(hint: Any) -> str:
    return "objects" if hint is Raw else spelled(hint).replace("string", "strings").replace("object", "objects")


def _structs(hint: Any) -> list[str]:
    """The names of structs that are part of a type."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        return [hint.__name__]
    return [name for each in get_args(hint) for name in _structs(each)]


# --- the schema


def schema() -> dict[str, Any]:
    """Both directions as one JSON Schema: `#/$defs/HostMessage` and `#/$defs/PluginMessage`."""
    sides = (messages.HostMessage, messages.PluginMessage)
    (host, plugin), definitions = msgspec.json.schema_components(sides, ref_template="#/$defs/{name}")
    named = {
        "HostMessage": {"description": "A line on the plugin's stdin.", "anyOf": host["anyOf"]},
        "PluginMessage": {"description": "A line on the plugin's stdout.", "anyOf": plugin["anyOf"]},
    }
    return {
        "$schema": DIALECT,
        "title": f"The plugin protocol of JP, version {messages.VERSION}",
        "description": "One message: a line of JSON. Fields that are not known are ignored.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in named],
        "$defs": named | definitions,
    }


def schema_text() -> str:
    """The schema as it is written to its file."""
    return json.dumps(schema(), ensure_ascii=False, indent=2) + "\n"


def main() -> None:
    """Write both files in the directory that is named on the command line."""
    directory = Path(sys.argv[1])
    text = (directory / DOCUMENT).read_text(encoding="utf-8")
    (directory / DOCUMENT).write_text(renewed(text), encoding="utf-8")
    (directory / SCHEMA).write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
