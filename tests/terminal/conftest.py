from tests.support.plugins import plugin
from tests.support.tools import tool
from tests.support.workspace import ask, server, workspace

__all__ = ["ask", "plugin", "server", "tool", "workspace"]
