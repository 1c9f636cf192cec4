"""Which files count: formats, `extends`, `inherit`, names, and what is wrong with a file."""

import json
import os
import re
import threading
from pathlib import Path

import pytest

from jp.config.errors import (
    ConfigError,
    ExtendsError,
    InvalidValueError,
    SyntaxFault,
    UnknownKeyError,
    UnknownNameError,
    UnreadableFileError,
)
from jp.config.load import Config, Paths, load
from tests.config.conftest import Write


def order(config: Config, tmp_path: Path) -> list[str]:
    """The files that count, in the order in which they are merged."""
    return [os.path.relpath(layer.path, tmp_path) for layer in config.layers if layer.path]


FORMATS = {
    "toml": '[assistant]\nname = "x"\n[conversation]\nattachments = ["a", { type = "file", path = "b" }]\n',
    "json": json.dumps(
        {"assistant": {"name": "x"}, "conversation": {"attachments": ["a", {"type": "file", "path": "b"}]}}
    ),
    "yaml": "assistant:\n  name: x\nconversation:\n  attachments: [a, {type: file, path: b}]\n",
    "yml": "assistant: {name: x}\nconversation: {attachments: [a, {type: file, path: b}]}\n",
}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("stem", ["user/config", "ws/.jp/config", "ws/.jp", "own/config"])
def test_toml_json_and_yaml_are_equal(paths: Paths, write: Write, stem: str, suffix: str) -> None:
    write(f"{stem}.{suffix}", FORMATS[suffix])
    config = load(paths, {})
    assert config.root.assistant.name == "x"
    assert config.get("conversation.attachments") == ["a", {"type": "file", "path": "b"}]


@pytest.mark.parametrize(
    ("suffix", "text"), [("toml", ""), ("json", ""), ("json", "{}"), ("yaml", ""), ("yaml", "# only")]
)
def test_an_empty_file_says_nothing(paths: Paths, write: Write, suffix: str, text: str) -> None:
    write(f"user/config.{suffix}", text)
    assert load(paths, {}).get("assistant.name") is None


def test_a_byte_order_mark_is_no_part_of_the_file(paths: Paths, write: Write) -> None:
    write("user/config.toml", '\ufeffassistant.name = "x"')
    assert load(paths, {}).root.assistant.name == "x"


def test_extends_merges_sorted_globs_before_and_after(paths: Paths, write: Write, tmp_path: Path) -> None:
    write(
        "ws/.jp/config.toml",
        'extends = ["parts/*.toml", { path = "last.toml", strategy = "after" }, "none/**/*.toml"]\n'
        'assistant.name = "self"',
    )
    write("ws/.jp/parts/b.toml", 'assistant.name = "b"')
    write("ws/.jp/parts/a.toml", 'assistant.name = "a"')
    write("ws/.jp/parts/note.txt", "no configuration")
    write("ws/.jp/last.toml", 'user.name = "last"')
    config = load(paths, {})
    assert order(config, tmp_path) == [
        "ws/.jp/parts/a.toml",
        "ws/.jp/parts/b.toml",
        "ws/.jp/config.toml",
        "ws/.jp/last.toml",
    ]
    assert config.root.assistant.name == "self"
    assert config.root.user.name == "last"


def test_extends_is_recursive_and_relative_to_the_file_that_says_it(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("ws/.jp/config.toml", 'extends = ["personas/dev"]')
    write("ws/.jp/personas/dev.toml", 'extends = ["../skill/read.json"]\nassistant.name = "dev"')
    write("ws/.jp/skill/read.json", '{"assistant": {"name": "read"}}')
    assert order(load(paths, {}), tmp_path) == [
        "ws/.jp/skill/read.json",
        "ws/.jp/personas/dev.toml",
        "ws/.jp/config.toml",
    ]


def test_without_extends_the_files_of_config_d_count(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("user/config.toml", "")
    write("user/config.d/deep/one.toml", 'assistant.name = "one"')
    assert load(paths, {}).root.assistant.name == "one"
    write("user/config.toml", "extends = []")
    assert order(load(paths, {}), tmp_path) == ["user/config.toml"]


def test_of_a_diamond_each_file_counts_once(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("ws/.jp/config.toml", 'extends = ["b.toml", "c.toml"]')
    write("ws/.jp/b.toml", 'extends = ["d.toml"]\nassistant.name = "b"')
    write("ws/.jp/c.toml", 'extends = ["d.toml"]')
    write("ws/.jp/d.toml", 'assistant.name = "d"\nassistant.instructions = [{ title = "t" }]')
    config = load(paths, {})
    assert order(config, tmp_path) == ["ws/.jp/d.toml", "ws/.jp/b.toml", "ws/.jp/c.toml", "ws/.jp/config.toml"]
    assert config.root.assistant.name == "b"
    assert len(config.root.assistant.instructions) == 1


def test_a_circle_is_named(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'extends = ["a.toml"]')
    one = write("ws/.jp/a.toml", 'extends = ["b.toml"]')
    other = write("ws/.jp/b.toml", 'extends = ["a.toml"]')
    with pytest.raises(ExtendsError, match="circle") as caught:
        load(paths, {})
    assert f"{one} → {other} → {one}" in caught.value.message


def test_a_glob_that_holds_its_own_file_is_no_circle(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("ws/.jp/config.toml", 'extends = ["*.toml"]')
    write("ws/.jp/a.toml", "")
    assert order(load(paths, {}), tmp_path) == ["ws/.jp/a.toml", "ws/.jp/config.toml"]


def test_a_path_that_is_not_there_is_an_error_with_the_nearest(paths: Paths, write: Write) -> None:
    file = write("ws/.jp/config.toml", 'extends = ["personas/defualt.toml"]')
    there = write("ws/.jp/personas/default.toml", "")
    with pytest.raises(ExtendsError, match=re.escape(f'{file}: extends "personas/defualt.toml"')) as caught:
        load(paths, {})
    assert caught.value.hints == (f"did you mean {there}?",)


@pytest.mark.parametrize("extends", ['"a.toml"', "[1]", '[{ file = "a" }]', '[{ path = "a", strategy = "later" }]'])
def test_extends_of_another_form_is_an_error(paths: Paths, write: Write, extends: str) -> None:
    file = write("ws/.jp/config.toml", f"extends = {extends}")
    with pytest.raises(InvalidValueError, match=re.escape(f'{file}: "extends')):
        load(paths, {})


def test_inherit_false_cuts_off_files_of_wider_scope(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("user/config.toml", 'assistant.name = "user"\nuser.name = "me"')
    write("ws/.jp/config.toml", 'inherit = false\nextends = ["part.toml"]')
    write("ws/.jp/part.toml", 'user.name = "part"')
    write("own/config.toml", 'assistant.system_prompt = "own"')
    config = load(paths, {"JP_EDITOR_INLINE_EDIT_MODE": "vi"})
    assert order(config, tmp_path) == ["ws/.jp/part.toml", "ws/.jp/config.toml", "own/config.toml"]
    assert config.root.assistant.name is None
    assert config.root.editor.inline.edit_mode == "vi"


def test_a_name_merges_every_match_in_every_root(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("ws/.jp/config.toml", 'config_load_paths = ["personas", ".jp/config"]')
    write("user/personas/dev.toml", 'assistant.name = "user"')
    write("ws/.jp/config/dev.yaml", "user: {name: ws}")
    write("own/personas/dev.json", '{"assistant": {"system_prompt": "own"}}')
    config = load(paths, {}, cfg=["dev"])
    assert order(config, tmp_path)[1:] == ["user/personas/dev.toml", "ws/.jp/config/dev.yaml", "own/personas/dev.json"]
    assert (config.root.assistant.name, config.root.user.name) == ("user", "ws")


def test_a_name_may_lead_into_a_directory(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'config_load_paths = [".jp/config"]')
    write("ws/.jp/config/skill/read.toml", 'assistant.name = "reader"')
    assert load(paths, {}, cfg=["skill/read"]).root.assistant.name == "reader"
    assert load(paths, {}, cfg=["skill/read.toml"]).root.assistant.name == "reader"


def test_an_unknown_name_says_where_it_looked_and_the_nearest(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'config_load_paths = [".jp/config"]')
    write("ws/.jp/config/personas/dev.toml", "")
    with pytest.raises(UnknownNameError) as caught:
        load(paths, {}, cfg=["persona/dev"])
    for root in (paths.user_dir, paths.workspace_root, paths.user_workspace_dir):
        assert f"{root}/.jp/config" in caught.value.message
    assert caught.value.hints == ("did you mean personas/dev?",)


def test_an_unknown_name_without_load_paths_says_so(paths: Paths) -> None:
    with pytest.raises(UnknownNameError) as caught:
        load(paths, {}, cfg=["dev"])
    assert "config_load_paths" in caught.value.hints[0]


@pytest.mark.parametrize("argument", ["./more.toml", "more.toml", "../b/more.toml", "{cwd}/more.toml"])
def test_cfg_takes_a_path(paths: Paths, write: Write, argument: str) -> None:
    write("ws/a/b/more.toml", 'extends = ["other.toml"]\nassistant.name = "more"')
    write("ws/a/b/other.toml", 'user.name = "other"')
    config = load(paths, {}, cfg=[argument.format(cwd=paths.cwd)])
    assert (config.root.assistant.name, config.root.user.name) == ("more", "other")


def test_a_path_that_is_not_there_is_an_error(paths: Paths) -> None:
    with pytest.raises(UnreadableFileError, match=r"more\.toml: No such file"):
        load(paths, {}, cfg=["./more.toml"])


# --- what is wrong with a file ------------------------------------------------------------------------------------


BROKEN = [
    ("toml", "a = 1\nb = = 2\n", 2),
    ("toml", "a = 1\n\n[b", 3),
    ("toml", "a = 1\na = 2\n", 2),
    ("json", '{\n"a": 1,\n}', 3),
    ("json", '{"a": ', 1),
    ("yaml", "a: 1\nb: [1\nc: 2\n", 3),
    ("yaml", "a: 1\n\tb: 2\n", 2),
]


@pytest.mark.parametrize(("suffix", "text", "line"), BROKEN)
def test_a_broken_file_is_named_with_the_line(paths: Paths, write: Write, suffix: str, text: str, line: int) -> None:
    file = write(f"user/config.{suffix}", text)
    with pytest.raises(SyntaxFault) as caught:
        load(paths, {})
    assert caught.value.message.startswith(f"{file}:{line}: not valid {suffix.upper()}")
    assert caught.value.metadata["line"] == line


@pytest.mark.parametrize(("suffix", "text"), [("json", "[1]"), ("json", '"x"'), ("yaml", "- 1"), ("yaml", "x")])
def test_a_file_whose_top_level_is_no_table_is_named(paths: Paths, write: Write, suffix: str, text: str) -> None:
    file = write(f"user/config.{suffix}", text)
    with pytest.raises(SyntaxFault, match=re.escape(f"{file}: the top level is no table")):
        load(paths, {})


@pytest.mark.parametrize(("suffix", "depth"), [("toml", 20_000), ("json", 200_000), ("yaml", 20_000)])
def test_a_file_nested_without_end_is_an_error(paths: Paths, write: Write, suffix: str, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    file = write(
        f"user/config.{suffix}", {"toml": f"a = {nested}", "json": f'{{"a": {nested}}}', "yaml": f"a: {nested}"}[suffix]
    )
    with pytest.raises(SyntaxFault, match=re.escape(str(file))):
        load(paths, {})


def test_an_anchor_inside_itself_is_an_error(paths: Paths, write: Write) -> None:
    file = write("user/config.yaml", "template: &x\n  values:\n    a: *x\n")
    with pytest.raises(SyntaxFault, match=re.escape(str(file))):
        load(paths, {})


def test_a_file_that_is_no_utf_8_is_named_with_the_line(paths: Paths, tmp_path: Path) -> None:
    file = tmp_path / "user/config.toml"
    file.write_bytes(b'user.name = "ok"\nassistant.name = "\xff"\n')
    with pytest.raises(UnreadableFileError, match=re.escape(f"{file}:2: not valid UTF-8")):
        load(paths, {})


def test_a_directory_is_named_as_one(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "user/config.toml").mkdir()
    with pytest.raises(UnreadableFileError, match=r"user/config\.toml: is a directory"):
        load(paths, {})


def test_a_link_to_nothing_is_named(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "user/config.toml").symlink_to("gone")
    with pytest.raises(UnreadableFileError, match=r"user/config\.toml"):
        load(paths, {})


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_named(paths: Paths, write: Write) -> None:
    write("user/config.toml", "").chmod(0)
    with pytest.raises(UnreadableFileError, match="Permission denied"):
        load(paths, {})


def test_a_fifo_is_read_when_its_writer_comes(paths: Paths, tmp_path: Path) -> None:
    fifo = tmp_path / "user/config.toml"
    os.mkfifo(fifo)
    found: list[Config] = []
    reader = threading.Thread(target=lambda: found.append(load(paths, {})), daemon=True)
    reader.start()
    fifo.write_text('assistant.name = "late"')
    reader.join(30)
    assert found[0].root.assistant.name == "late"


@pytest.mark.parametrize("by", ["itself", "a link", "extends"])
def test_a_workspaces_fifo_is_no_settings_file(paths: Paths, write: Write, tmp_path: Path, by: str) -> None:
    """Nor is `/dev/stdin` by a link, which would take the question for settings."""
    place = write("ws/.jp/other.toml", "").parent
    if by == "extends":
        write("ws/.jp/config.toml", 'extends = ["odd.toml"]')
    fifo = {"itself": place / "config.toml", "a link": tmp_path / "pipe", "extends": place / "odd.toml"}[by]
    os.mkfifo(fifo)
    if by == "a link":
        (place / "config.toml").symlink_to(fifo)
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        load(paths, {})


UNKNOWN = [
    ('assistant.nmae = "x"', "assistant.nmae", "assistant.name"),
    ('assistant.mdoel.id = "x"', "assistant.mdoel", "assistant.model"),
    ('[conversation.tools.x]\nsorce = "local"', "conversation.tools.x.sorce", "conversation.tools.x.source"),
    ('model.id = "x"', "model", "assistant.model"),
    ("[[conversation.attachments]]\ntype = 'a'\npath = 'b'\nparms = {}", "conversation.attachments.0.parms", "…params"),
    ("[interrupt.fallback]\naction = 'prompt'", "interrupt.fallback", None),
]


@pytest.mark.parametrize(("text", "key", "near"), UNKNOWN)
def test_an_unknown_key_names_the_file_the_key_and_the_nearest(
    paths: Paths, write: Write, text: str, key: str, near: str | None
) -> None:
    file = write("ws/.jp.toml", text)
    with pytest.raises(UnknownKeyError) as caught:
        load(paths, {})
    error = caught.value
    assert error.message == f'{file}: unknown key "{key}"'
    assert error.code == "config"
    if near:
        assert error.hints[0].endswith(f'{near.removeprefix("…")}"?')
    else:
        assert error.hints


INVALID = [
    ('interrupt.turn.action = "abort"', "interrupt.turn.action", '"abort"', '"prompt", "continue", "reply", "stop"'),
    ("interrupt.turn.action = 1", "interrupt.turn.action", "1", '"prompt"'),
    ('style.code.color = "yes"', "style.code.color", '"yes"', "true or false"),
    ("assistant.request.max_retries = -1", "assistant.request.max_retries", "-1", "at least 0"),
    ("assistant = 1", "assistant", "1", "a table"),
    ('editor.envs = "EDITOR"', "editor.envs", '"EDITOR"', "a list of strings"),
    ("editor.envs = [1]", "editor.envs.0", "1", "a string"),
    ("assistant.name = 1979-05-27", "assistant.name", "a date", "a string"),
    ("[conversation.tools.x]\nenable = 3", "conversation.tools.x.enable", "3", '"explicit"'),
    (
        '[assistant.system_prompt]\nvalue = "x"\nstrategy = "add"',
        "assistant.system_prompt.strategy",
        '"add"',
        '"append"',
    ),
]


@pytest.mark.parametrize(("text", "key", "found", "allowed"), INVALID)
@pytest.mark.req("092-163")
def test_a_wrong_value_names_the_file_the_key_what_was_found_and_what_is_allowed(
    paths: Paths, write: Write, text: str, key: str, found: str, allowed: str
) -> None:
    file = write("ws/.jp/config.toml", text)
    with pytest.raises(InvalidValueError) as caught:
        load(paths, {})
    assert caught.value.message.startswith(f'{file}: "{key}" is {found}; allowed: ')
    assert allowed in caught.value.message
    assert caught.value.metadata["key"] == key


def test_a_file_in_extends_is_the_one_that_is_named(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'extends = ["part.toml"]')
    part = write("ws/.jp/part.toml", "editor.nothing = 1")
    with pytest.raises(UnknownKeyError, match=re.escape(str(part))):
        load(paths, {})


def test_a_table_of_an_older_version_is_read_over_with_a_notice(paths: Paths, write: Write) -> None:
    file = write("user/config.toml", "[mcp.servers.x]\na = 1")
    config = load(paths, {})
    assert config.notices == [
        f'{file}: "mcp" is no longer used: tools of MCP servers are set in conversation.tools, '
        "the servers in providers.mcp"
    ]


def test_a_second_file_of_the_same_name_is_not_read_and_that_is_said(paths: Paths, write: Write) -> None:
    read = write("user/config.toml", 'assistant.name = "toml"')
    other = write("user/config.yaml", "assistant: {name: yaml}")
    config = load(paths, {})
    assert config.root.assistant.name == "toml"
    assert config.notices == [f"{other} is not read: {read} is there as well"]


OFF = ["style.sanitize", "style.code.copy_link", "conversation.tools.x.style.inline_results"]
OFF += ["conversation.tools.x.style.parameters", "assistant.model.parameters.reasoning"]


@pytest.mark.parametrize("key", OFF)
def test_a_bare_off_in_yaml_is_the_word(paths: Paths, write: Write, key: str) -> None:
    *above, last = key.split(".")
    text = "".join("  " * depth + f"{step}:\n" for depth, step in enumerate(above))
    write("user/config.yaml", text + "  " * len(above) + f"{last}: off\n")
    assert load(paths, {}).get(key) == "off"


@pytest.mark.parametrize("bad", ["\\u0000", "\\ud800", "a" * 5000])
@pytest.mark.parametrize("key", ["extends", "config_load_paths"])
def test_paths_that_no_system_has_are_errors_and_no_crash(paths: Paths, write: Write, key: str, bad: str) -> None:
    write("ws/.jp/config.json", f'{{"{key}": ["{bad}/*.toml", "~{bad}", "{bad}"]}}')
    with pytest.raises(ConfigError):
        load(paths, {}, cfg=["name"])


def test_the_search_for_a_near_name_ends(paths: Paths, write: Write) -> None:
    write("ws/.jp/config.toml", 'config_load_paths = ["many"]')
    write("ws/many/near.toml", "")
    for number in range(600):
        (Path(paths.workspace_root or "") / f"many/{number}").mkdir(parents=True)
    with pytest.raises(UnknownNameError) as caught:
        load(paths, {}, cfg=["naer"])
    assert caught.value.hints == ("did you mean near?",)
