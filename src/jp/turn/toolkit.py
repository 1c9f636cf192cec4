"""What a turn knows of its tools (`jp.turn.calls.Tools`): the toolbox, and how a call looks to who approves it."""

from typing import Any

from jp.turn.calls import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.render.tool import Look
    from jp.tool.definition import Definition
    from jp.tool.executor import Executor
    from jp.tool.toolbox import Toolbox


class Toolkit:
    """The tools of one turn. `look()` is how the terminal shows what is to be approved."""

    def __init__(
        self, box: "Toolbox", executor: "Callable[[Definition], Executor]", look: "Callable[[], Look]"
    ) -> None:
        self._look = look
        self._executor = executor
        self.find = box.find
        self.names = box.names
        self.checked = box.checked
        self.always_asks = box.always_asks

    def formats(self, tool: "Definition") -> bool:
        """Whether the tool itself says how its arguments look."""
        return self._executor(tool).formats(tool)

    def approval(self, tool: "Definition", arguments: dict[str, Any], formatted: str | None) -> tuple[str, str]:
        """What is shown of a call that is to be approved, and the whole of it."""
        from jp.render.tool import approval

        style, name = tool.settings.style, shown_name(tool)
        assert style is not None
        look = self._look()
        body = approval(name, arguments, style, formatted, look=look)
        return body.rstrip(), approval(name, arguments, style, None, look=look, rows=None).rstrip()
