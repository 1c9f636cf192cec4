"""What a turn knows of its tools (`jp.turn.calls.Tools`): the toolbox, and how a call looks to who approves it."""

from typing import Any

from jp.turn.calls import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from jp.ask.pending import Permission
    from jp.render.tool import Look
    from jp.tool.definition import Definition
    from jp.tool.executor import Executor
    from jp.tool.toolbox import Toolbox

ROWS = 1000  # of what is to be approved; the window shows what fits of it, with the number that is left


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

    def approval(self, tool: "Definition", arguments: dict[str, Any], formatted: str | None) -> str:
        """What is shown of a call that is to be approved."""
        from jp.render.tool import approval

        style = tool.settings.style
        assert style is not None
        configured = tool.origin != "builtin"
        return approval(
            shown_name(tool), arguments, style, formatted, configured=configured, look=self._look()
        ).rstrip()

    def whole(self, prompt: "Permission") -> str:
        """All arguments of a call that is to be approved."""
        from jp.config.sections.tools import ToolStyle
        from jp.render.abridged import abridged
        from jp.render.tool import approval

        style = ToolStyle(parameters="json")
        shown = abridged(prompt.arguments, items=2000, characters=1_000_000)
        return approval(prompt.name, shown, style, look=self._look(), rows=None).rstrip()

    def faults(self, prompt: "Permission", arguments: dict[str, Any]) -> list[str]:
        """What is wrong with other arguments for such a call."""
        tool = self.find(prompt.tool)
        return self.checked(tool, arguments)[1] if tool is not None else []
