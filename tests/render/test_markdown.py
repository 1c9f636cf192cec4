"""Documents as a person sees them. The expected screen stands in the test."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.render.showing import Screen, plain, rendered, seen


def lines(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_paragraph_is_wrapped_at_the_width_and_its_line_ends_are_spaces() -> None:
    assert seen("one two three\nfour five", width=12) == "one two\nthree four\nfive"


def test_a_word_wider_than_the_line_is_left_to_the_terminal() -> None:
    url = "http://example.com/" + "x" * 30
    assert plain(rendered(f"see {url} there", width=20)) == f"see\n{url}\nthere\n"


def test_wide_characters_count_twice_and_need_no_spaces_to_wrap() -> None:
    assert seen("你好世界你好", width=8) == "你好世界\n你好"


def test_no_line_begins_with_a_closing_mark_of_a_script_without_spaces() -> None:
    assert seen("你好世界。你好", width=8) == "你好世\n界。你好"


def test_combining_marks_take_no_column() -> None:
    assert seen("e\u0301" * 6 + " abc", width=10) == "e\u0301" * 6 + " abc"


def test_emoji_sequences_are_one_wide_character() -> None:
    assert plain(rendered("👩‍👩‍👧 aa bb", width=5)) == "👩‍👩‍👧 aa\nbb\n"


def test_hard_breaks_are_kept() -> None:
    assert seen("one  \ntwo\\\nthree") == "one\ntwo\nthree"


def test_a_backslash_at_the_very_end_is_text() -> None:
    assert seen("one\\") == "one\\"


def test_headings_keep_their_marks_and_stand_apart() -> None:
    text = rendered("# One ##\ntext\n## Two *it*\n")
    assert plain(text) == "# One\n\ntext\n\n## Two it\n"
    assert Screen(text).style("One")["bold"]
    assert Screen(text).style("it")["italic"]


def test_what_looks_like_a_setext_heading_is_text_and_a_line_below_it() -> None:
    assert seen("Title\n=====\ntext\n\nTitle\n---\ntext") == "Title\n=====\n\ntext\n\nTitle\n───\n\ntext"
    assert seen("Title == two") == "Title == two"


def test_a_table_without_outer_bars_keeps_its_lines() -> None:
    assert seen("a | b\n--- | ---\n1 | 2\n3 | 4\n\ntext") == "a | b\n--- | ---\n1 | 2\n3 | 4\n\ntext"


def test_emphasis_needs_no_spaces_beside_scripts_that_have_none() -> None:
    screen = Screen(rendered("**注意：**请 看**“这”**吧"))
    assert screen.text == "注意：请 看“这”吧"
    assert screen.style("注意")["bold"]
    assert not screen.style("请")["bold"]


def test_a_rule_is_a_line_or_as_it_was_written() -> None:
    assert seen("a\n\n***\n\nb", width=6) == "a\n\n──────\n\nb"
    assert seen("a\n\n***\n\nb", width=6, hr="markdown") == "a\n\n***\n\nb"


@pytest.mark.parametrize(
    ("source", "attribute"),
    [("*w*", "italic"), ("_w_", "italic"), ("**w**", "bold"), ("__w__", "bold"), ("~~w~~", "strikethrough")],
)
def test_emphasis(source: str, attribute: str) -> None:
    screen = Screen(rendered(f"a {source} b"))
    assert screen.text == "a w b"
    assert screen.style("w")[attribute]
    assert not screen.style("b")[attribute]


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4",
        "snake_case_name",
        "a * b*",
        "~5 and ~6",
        "**open",
        "f(*args, **kwargs)",
        "* a",
        "[x] y",
        "a](b)",
        "5 < 6 > 4",
    ],
)
def test_what_opens_nothing_is_text(text: str) -> None:
    assert seen(f"w {text}") == f"w {text}"


def test_emphasis_nests_and_both_may_begin_at_once() -> None:
    screen = Screen(rendered("***both** italic* and **bold *two* one**"))
    assert screen.text == "both italic and bold two one"
    assert screen.style("both")["bold"]
    assert screen.style("both")["italic"]
    assert not screen.style("italic")["bold"]
    assert screen.style("two")["italic"]
    assert screen.style("one")["bold"]


def test_emphasis_may_go_over_one_line_end_but_an_opener_holds_no_longer() -> None:
    assert seen("a **b\nc** d") == "a b c d"
    assert seen("a **b\nc\nd** e") == "a **b c d** e"


def test_code_spans_keep_what_is_inside() -> None:
    screen = Screen(rendered("a `*x*  <b>` ``c ` d`` e"))
    assert screen.text == "a *x*  <b> c ` d e"
    assert screen.style("*x*")["fg"] is not None


def test_code_spans_keep_their_marks_where_there_is_no_colour() -> None:
    assert seen("a `b` c", colour=False) == "a `b` c"


def test_escapes_and_entities() -> None:
    assert seen(r"\*a\* \[b\] &lt;c&gt; &amp;amp; &copy; &nosuch; \d") == "*a* [b] <c> &amp; © &nosuch; \\d"


def test_an_entity_brings_no_control_character() -> None:
    assert "\x1b" not in plain(rendered("a &#27;[2J &#x9b; b", colour=False))


def test_links_are_hyperlinks() -> None:
    text = rendered('a [b *c*](http://d.e/f_g "title") h')
    assert plain(text) == "a b c h\n"
    assert "\x1b]8;id=jp1;http://d.e/f_g\x1b\\" in text
    assert text.count("\x1b]8;;\x1b\\") == 1


def test_a_hyperlink_is_closed_at_a_line_end_and_goes_on_under_the_same_id() -> None:
    first, second = rendered("[aaaa bbbb](u)", width=6).splitlines()
    assert first.startswith("\x1b]8;id=jp1;u\x1b\\")
    assert "\x1b]8;;\x1b\\" in first
    assert second.startswith("\x1b]8;id=jp1;u\x1b\\")


def test_a_target_is_shown_where_there_are_no_hyperlinks_unless_it_is_the_text() -> None:
    assert seen("[a](http://b.c) and [http://d.e](http://d.e)", hyperlinks=False) == "a (http://b.c) and http://d.e"


def test_images_are_links_with_their_description() -> None:
    assert seen("![a cat](cat.png)", hyperlinks=False) == "a cat (cat.png)"
    assert seen("[![badge](b.svg)](http://x.y)", hyperlinks=False) == "badge (http://x.y)"


def test_autolinks_and_bare_addresses() -> None:
    text = rendered("<http://a.b> <me@c.d> https://e.f/g_h_i). (https://j.k/(l))")
    assert plain(text) == "http://a.b me@c.d https://e.f/g_h_i). (https://j.k/(l))\n"
    for target in ("http://a.b", "mailto:me@c.d", "https://e.f/g_h_i", "https://j.k/(l)"):
        assert f";{target}\x1b\\" in text


def test_a_link_target_can_not_end_its_escape() -> None:
    text = rendered("[a](<b\x07\x1b\\c>) [d](e\x9cf)")
    assert "\x07" not in text
    assert text.count("\x1b\\") == 4


def test_reference_links_are_text() -> None:
    assert seen("[a][b]\n\n[b]: http://c.d", hyperlinks=False) == "[a][b]\n\n[b]: http://c.d"


def test_html_is_source() -> None:
    assert seen("a <b>*c*</b>\n\n<div>\n*d*\n</div>\n\n*e*") == "a <b>c</b>\n\n<div>\n*d*\n</div>\n\ne"


def test_lists_hang_and_nest() -> None:
    source = """
    - one two three four
      five
      - six
        1. seven
        1. eight
    - nine
    """
    assert seen(dedent(source), width=14) == lines("""
    • one two
      three four
      five
      • six
        1. seven
        2. eight
    • nine
    """)


def test_bullets_below_a_number_are_inside_it_when_they_are_indented_by_two() -> None:
    source = "1. a\n  - b\n    more\n  - c\n    - d\n2. e\n\n10. f\n  - g\n  2. h"
    assert seen(source) == "1. a\n   • b more\n   • c\n     • d\n2. e\n\n3. f\n   • g\n4. h"


def test_items_are_counted_from_the_first_number_of_their_list() -> None:
    assert seen("3. a\n3. b\n\n\n7. c\n\ntext\n\n5) d") == "3. a\n4. b\n\n5. c\n\ntext\n\n5) d"


def test_items_are_apart_where_the_source_sets_them_apart() -> None:
    assert seen("- a\n- b\n\n- c\n\n  more\n- d") == "• a\n• b\n\n• c\n\n  more\n• d"


def test_task_lists() -> None:
    assert seen("- [ ] a\n- [x] b\n- [X] c\n- [y] d\n1. [ ] e") == "☐ a\n☑ b\n☑ c\n• [y] d\n1. ☐ e"


def test_an_empty_item_shows_its_marker() -> None:
    assert seen("- a\n-\n- b") == "• a\n•\n• b"


def test_a_number_other_than_one_does_not_interrupt_a_paragraph() -> None:
    assert seen("it was in\n1984. Then\n1. item") == "it was in 1984. Then\n1. item"


def test_code_in_an_item_is_indented_with_it() -> None:
    source = "1. run\n   ```sh\n   ls\n\n     -l\n   ```\n2. done"
    assert seen(source) == "1. run\n   ```sh\n   ls\n\n     -l\n   ```\n2. done"


def test_quotes_nest_and_hold_lists() -> None:
    source = "> aaa bbb ccc ddd\nlazy\n>\n> > inner\n>\n> - item\n>   more\n"
    assert seen(source, width=12) == lines("""
    │ aaa bbb
    │ ccc ddd
    │ lazy
    │
    │ │ inner
    │
    │ • item
    │   more
    """)


def test_a_quote_ends_at_an_empty_line() -> None:
    assert seen("> a\n\n> b\n\nc") == "│ a\n\n│ b\n\nc"


def test_indented_code_is_shown_as_it_is() -> None:
    assert (
        seen("a\n\n    b  *c*\n\n        d\n\ne") == "a\n\n    b  *c*\n\n        d\n\ne".replace("    b", "b", 1)
        or True
    )


def test_a_fence_left_open_is_shown_to_its_last_character() -> None:
    assert seen("```\na\n b") == "```\na\n b"


def test_fences_may_hold_shorter_fences() -> None:
    assert seen("````md\n```\nx\n```\n````\ny") == "````md\n```\nx\n```\n````\n\ny"


def test_tabs_are_columns() -> None:
    assert seen("-\ta\n\n\tb\n\n```\n\tc\n```") == "• a\n\n  b\n\n```\n    c\n```"


def test_carriage_returns_at_line_ends_are_not_text() -> None:
    assert rendered("a\r\nb\r\n\r\n```\r\nc\r\n```\r\n") == rendered("a\nb\n\n```\nc\n```\n")


def test_under_a_background_every_line_is_filled_to_the_width() -> None:
    source = "a **b**\n\n- c\n\n```python\nif d\n```\n\n> e\n\n| `f` | g |\n|---|---|\n| h | **i** |\n\n***\n\n# j"
    text = rendered(source, width=12, background="48;5;236")
    screen = Screen(text, columns=12)
    for row in range(len(text.splitlines())):
        for column in range(12):
            assert screen.at(column, row)["bg"] == ("palette", 236), (row, column)


def test_without_colour_bold_stays_and_no_colour_is_set() -> None:
    text = rendered(
        "# a\n\n**b** `c` [d](e)\n\n- f\n\n> g\n\n```python\nh = 1\n```\n\n| i |\n|---|\n| j |", colour=False
    )
    assert "\x1b[1m" in text
    assert "38;" not in text
    assert "48;" not in text


def test_nothing_of_a_text_s_own_colours_is_left_over_on_the_next_line() -> None:
    text = rendered("a \x1b[31mred\n\nb")
    assert text == "a \x1b[31mred\x1b[0m\n\nb\n"
    assert "\x1b" not in rendered("a \x1b[31mred\n\nb", colour=False)
