from tests.support.workspace import ask, server, workspace

__all__ = ["ask", "server", "workspace"]
