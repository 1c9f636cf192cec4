"""What goes wrong with plugins."""

from jp.errors import JpError


class PluginError(JpError):
    """A plugin that can't be run, or that broke the protocol; `metadata["plugin"]` names it."""

    code = "plugin"


class RequestError(JpError):
    """A request of a plugin that is refused: it is told so by an `error` message, and goes on."""

    code = "plugin_request"
