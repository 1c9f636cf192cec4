"""Highlighted code: line by line, yet as if the block had been read as a whole."""

from __future__ import annotations

import re

import pytest

from jp.render.code import Effort
from jp.render.highlight import highlighter, language
from jp.render.theme import Theme, nearest
from tests.render.showing import Screen, plain, rendered

BLOCKS = {
    "python": 'x = """one\ntwo "q" if\n"""\ny = f(\n    a,\n)\n',
    "c": "int a; /* one\n * two if\n */ int b;\n#define X \\\n  y\n",
    "cpp": "int a; /* one\n * if two\n */ int b;\n",
    "java": '/** doc\n * @param two\n */ class A { String s = """\n text if\n """; }\n',
    "javascript": "const a = `one ${b}\ntwo if\n`; /* c\n if d\n*/ let x;\n",
    "typescript": "const a = `one ${b}\ntwo if\n`; let x: number;\n",
    "go": "/* a\nif b\n*/\nvar s = `raw\nif x\n`\nfunc f() {}\n",
    "rust": '/* a /* n */\n if b\n*/\nlet s = "one\n if two"; let r = r#"x\n if y\n"#;\nfn f() {}\n',
    "html": "<!-- a\n b <p>\n--><p>t</p>\n<script>\nvar a; /* x\n if */\n</script>\n<style>\na { b: c }\n</style>\n",
    "css": "/* a\n b { } */ p { color: red }\n",
    "sql": "/* a\n select b */ select 1; -- x\nselect 'a\n where b'\n",
    "lua": "--[[ a\n if b\n]] local s = [[x\n if y]]\n",
    "haskell": "{- a\n let b -} f = 1\n",
    "kotlin": '/* a\n if b */ val s = """x\n if y\n"""\n',
    "bash": "cat <<EOF\nif x\nEOF\necho \"a\n if b\" 'c\n if d'\n# e\n",
    "php": '<?php\n/* a\n if b */\n$s = "x\n if y";\n',
    "csharp": '/* a\n if b */ var s = @"x\n if y";\n',
    "toml": 'a = """x\n y = 1\n"""\n[b]\nc = 1\n',
    "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n",
}


def coloured(text: str) -> list[tuple[str, str]]:
    """Every visible character with the escape that is in force for it."""
    found = []
    escape = ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if part.startswith("\x1b"):
            escape = "" if part == "\x1b[39;22;23;24m" else part
        else:
            found += [(char, escape) for char in part if not char.isspace()]
    return found


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_what_spans_lines_is_coloured_as_in_the_whole_block(name: str) -> None:
    from pygments.lexers import get_lexer_by_name

    source = BLOCKS[name]
    lines = highlighter(name, "gruvbox-dark")
    assert lines is not None
    theme = Theme("gruvbox-dark", truecolor=False)
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    tokens = lexer.get_tokens_unprocessed(source)
    whole = [(char, theme.escape(token)) for _at, token, text in tokens for char in text if not char.isspace()]
    assert [pair for line in source.split("\n") for pair in coloured(lines.line(line))] == whole


def test_a_line_ends_with_no_style_and_keeps_its_text() -> None:
    for name, source in BLOCKS.items():
        lines = highlighter(name, "monokai", truecolor=True)
        assert lines is not None
        for line in source.split("\n"):
            styled = lines.line(line)
            assert plain(styled) == line
            assert styled.count("\x1b") == 0 or styled.rindex("\x1b[39;22;23;24m") > styled.rindex("38;2;")


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ("python", "python"),
        ("Python linenos", "python"),
        ("{.rust .numberLines}", "rust"),
        ("js,ignore", "js"),
        ("src/main.rs:10-20", "main.rs"),
        ("c++", "c++"),
        ("", ""),
    ],
)
def test_the_language_of_a_fence(info: str, expected: str) -> None:
    assert language(info) == expected


@pytest.mark.parametrize(
    "info", ["py", "src/a.py:3", "PYTHON", "jsonc", "tsx", "Makefile", "c++", "sh", "zsh", "yml", "x.toml"]
)
def test_languages_are_found_by_name_alias_and_file(info: str) -> None:
    assert highlighter(info, "gruvbox-dark") is not None


@pytest.mark.parametrize("info", ["", "text", "no-such-language", "output"])
def test_other_text_is_not_highlighted(info: str) -> None:
    assert highlighter(info, "gruvbox-dark") is None
    assert rendered(f"```{info}\nif x\n```").split("\n")[1] == "if x"


def test_ordinary_text_of_code_has_the_terminal_s_own_colour() -> None:
    screen = Screen(rendered("```python\nif name:\n```"))
    assert screen.style("if")["fg"] is not None
    assert screen.style("name")["fg"] is None


def test_colour_can_be_turned_off_and_lines_numbered() -> None:
    assert rendered("```python\nif x\n```", code_colour=False).split("\n")[1] == "if x"
    numbered = plain(rendered("```\na\n\nb\n```", line_numbers=True))
    assert numbered == "```\n   1 a\n   2\n   3 b\n```\n"


def test_an_unknown_theme_is_the_default_one() -> None:
    assert Theme("no such theme", truecolor=True).colour("Token.Keyword") == "38;2;251;73;52"


def test_code_that_has_its_own_colours_keeps_them() -> None:
    assert rendered("```python\n\x1b[31mif\x1b[0m x\n```").split("\n")[1] == "\x1b[31mif\x1b[0m x\x1b[0m"


def test_a_colour_is_matched_by_the_nearest_of_the_table() -> None:
    assert nearest(255, 0, 0) == 196
    assert nearest(128, 128, 128) == 244
    assert nearest(0xFB, 0x49, 0x34) == 203


def test_lines_that_would_cost_too_much_are_shown_as_they_are() -> None:
    effort = Effort()
    assert effort.allows("x = 1")
    assert not effort.allows("x" + " " * 1990)
    effort.spend(10**9)
    assert not effort.allows("x = 1")
    line = "y" + " " * 1990 + "z"
    assert rendered(f"```c\n{line}\n```").split("\n")[1] == line
