"""What each channel can carry: every row of the two tables of RFD 104, as values."""

from itertools import product

import pytest

from jp.terminal.capabilities import ChannelCaps, Format, colour, resolve

SMART = {"TERM": "xterm-256color"}
BOTH = [(out, err) for out in (True, False) for err in (True, False)]


def caps(escapes: bool, addressable: bool) -> ChannelCaps:
    return ChannelCaps(escapes=escapes, addressable=addressable)


@pytest.mark.req("104-8", "104-9", "104-10", "104-11")
@pytest.mark.parametrize(("out_tty", "err_tty"), BOTH)
def test_auto_is_decided_for_each_channel_by_itself(out_tty: bool, err_tty: bool) -> None:
    out, err = resolve(Format.AUTO, out_tty=out_tty, err_tty=err_tty, environ=SMART)
    assert (out.escapes, err.escapes) == (out_tty, err_tty)


@pytest.mark.req("104-14", "104-16", "104-17", "104-18")
@pytest.mark.parametrize(("out_tty", "err_tty"), BOTH)
@pytest.mark.parametrize(
    ("format_", "escapes"),
    [(Format.TEXT, False), (Format.TEXT_PRETTY, True), (Format.JSON, False), (Format.JSON_PRETTY, False)],
)
def test_every_other_format_holds_for_both_channels(
    format_: Format, escapes: bool, out_tty: bool, err_tty: bool
) -> None:
    out, err = resolve(format_, out_tty=out_tty, err_tty=err_tty, environ=SMART)
    assert (out.escapes, err.escapes) == (escapes, escapes)


@pytest.mark.req("104-2")
@pytest.mark.parametrize(("format_", "out_tty", "err_tty"), list(product(Format, (True, False), (True, False))))
def test_addressable_is_the_terminal_itself_whatever_the_format(format_: Format, out_tty: bool, err_tty: bool) -> None:
    out, err = resolve(format_, out_tty=out_tty, err_tty=err_tty, environ=SMART)
    assert (out.addressable, err.addressable) == (out_tty, err_tty)


@pytest.mark.req("104-4")
@pytest.mark.parametrize(("out_tty", "err_tty"), BOTH)
def test_no_value_is_derived_from_another(out_tty: bool, err_tty: bool) -> None:
    out, err = resolve(Format.AUTO, out_tty=out_tty, err_tty=err_tty, environ=SMART)
    flipped_out, same_err = resolve(Format.AUTO, out_tty=not out_tty, err_tty=err_tty, environ=SMART)
    assert same_err == err
    assert flipped_out != out
    forced_out, forced_err = resolve(Format.TEXT_PRETTY, out_tty=out_tty, err_tty=err_tty, environ=SMART)
    assert forced_out.escapes
    assert (forced_out.addressable, forced_err.addressable) == (out.addressable, err.addressable)


@pytest.mark.req("104-22", "104-23", "104-24", "104-25")
@pytest.mark.parametrize(("escapes", "addressable"), BOTH)
def test_a_repaint_needs_both(escapes: bool, addressable: bool) -> None:
    assert caps(escapes, addressable).can_repaint is (escapes and addressable)


@pytest.mark.parametrize("environ", [{}, {"TERM": ""}, {"TERM": "dumb"}])
def test_a_dumb_or_missing_term_is_plain_under_auto(environ: dict[str, str]) -> None:
    out, err = resolve(Format.AUTO, out_tty=True, err_tty=True, environ=environ)
    assert out == err == caps(False, False)


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}])
def test_escapes_can_be_forced_on_a_dumb_terminal_but_never_addressability(environ: dict[str, str]) -> None:
    out, err = resolve(Format.TEXT_PRETTY, out_tty=True, err_tty=True, environ=environ)
    assert out == err == caps(True, False)


@pytest.mark.parametrize(
    ("format_", "escapes", "environ", "wanted"),
    [
        (Format.AUTO, True, {}, True),
        (Format.AUTO, True, {"NO_COLOR": "1"}, False),
        (Format.AUTO, True, {"NO_COLOR": ""}, True),
        (Format.AUTO, False, {}, False),
        (Format.TEXT_PRETTY, True, {"NO_COLOR": "1"}, True),
        (Format.TEXT, False, {}, False),
    ],
)
def test_no_color_drops_colour_unless_it_is_asked_for(
    format_: Format, escapes: bool, environ: dict[str, str], wanted: bool
) -> None:
    assert colour(format_, caps(escapes, True), environ) is wanted


def test_the_formats_are_the_five_of_the_flag() -> None:
    assert [str(format_) for format_ in Format] == ["auto", "text", "text-pretty", "json", "json-pretty"]
    with pytest.raises(ValueError, match="yaml"):
        Format("yaml")


def test_caps_are_values() -> None:
    assert caps(True, False) == caps(True, False)
    assert len({caps(True, False), caps(True, False), caps(False, True)}) == 2
    assert repr(caps(True, False)) == "ChannelCaps(escapes=True, addressable=False)"
