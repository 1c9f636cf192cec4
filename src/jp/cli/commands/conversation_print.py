"""`jp conversation print`: a conversation as it was, or as stored events."""

from jp.cli.arguments import positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from jp.cli.context import Context
    from jp.conversation.stream import Stream


def add_arguments(parser: "argparse.ArgumentParser") -> None:
    parser.add_argument(
        "target", nargs="?", metavar="TARGET", help="an id, a prefix of one, `newest`, …; the active one by default"
    )
    parser.add_argument("--last", type=positive, metavar="N", help="only the last N turns")
    parser.add_argument("--hide-reasoning", action="store_true", help="leave reasoning out")
    parser.add_argument("--hide-tool-calls", action="store_true", help="leave tool calls and their results out")


def run(args: "argparse.Namespace", ctx: "Context") -> int:
    from jp.cli.select import named
    from jp.interrupt.checkpoint import checkpoint

    conversation = ctx.store.open(named(args.target, ctx))
    for notice in conversation.notices:
        ctx.printer.note(notice)
    stream = conversation.stream
    first = _first(stream, args.last)
    if ctx.printer.format.is_json:
        from jp.conversation.events import encode_line

        for event in stream.events(start=first):
            checkpoint()
            ctx.printer.record(encode_line(event))
        return 0
    from jp.render.transcript import print_events

    def events() -> "Iterator[object]":
        for event in stream.events(start=first):
            checkpoint()
            yield event

    root = ctx.load_config().root
    print_events(
        ctx.printer,
        root.style,
        events(),
        tools=root.conversation.tools,
        hide_reasoning=args.hide_reasoning,
        hide_tool_calls=args.hide_tool_calls,
    )
    return 0


def _first(stream: "Stream", last: int | None) -> int:
    """The index of the event with which the last N turns begin."""
    if last is None:
        return 0
    from jp.conversation.turns import starts

    begins = starts(stream)
    return begins[-last] if last <= len(begins) else 0
