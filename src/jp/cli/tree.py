"""The commands: their names, aliases, one-line descriptions and the module that runs each.

Only the module of the command at hand is imported, and its parser built (architecture, Start-up). A command module has
`add_arguments(parser)` and `run(args, ctx) -> int`.
"""


class Node:
    """A command, or a group of them."""

    __slots__ = ("aliases", "children", "module", "name", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        module: str = "",
        aliases: "tuple[str, ...]" = (),
        children: "tuple[Node, ...]" = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.module = module
        self.aliases = aliases
        self.children = children

    def child(self, word: str) -> "Node | None":
        for node in self.children:
            if word == node.name or word in node.aliases:
                return node
        return None

    def words(self) -> "list[str]":
        """Every name and alias that can follow here."""
        return [word for node in self.children for word in (node.name, *node.aliases)]


ROOT = Node(
    "jp",
    "An LLM assistant for programmers that behaves like a good Unix citizen.",
    children=(
        Node("query", "Ask a question; the answer streams to stdout", "jp.cli.commands.query", aliases=("q",)),
        Node(
            "conversation",
            "List, show, print and manage conversations",
            aliases=("c",),
            children=(
                Node("ls", "List conversations", "jp.cli.commands.conversation_ls", aliases=("list",)),
                Node("show", "Show what is known about a conversation", "jp.cli.commands.conversation_show"),
                Node("print", "Print a conversation", "jp.cli.commands.conversation_print", aliases=("p",)),
                Node("use", "Make a conversation the active one of this session", "jp.cli.commands.conversation_use"),
                Node("path", "Print the directory of a conversation", "jp.cli.commands.conversation_path"),
                Node(
                    "edit",
                    "Edit a conversation's events, metadata or configuration in your editor",
                    "jp.cli.commands.conversation_edit",
                ),
                Node("rm", "Delete conversations", "jp.cli.commands.conversation_rm", aliases=("remove",)),
            ),
        ),
        Node(
            "config",
            "Show, explain and set configuration",
            children=(
                Node("show", "Print the configuration in effect", "jp.cli.commands.config_show"),
                Node("explain", "Print which sources set a key", "jp.cli.commands.config_explain"),
                Node("set", "Set a key in a config file", "jp.cli.commands.config_set"),
            ),
        ),
        Node(
            "workspace",
            "Show a workspace, and trust what it says",
            aliases=("w",),
            children=(
                Node("show", "Show where a workspace is, and what of it is trusted", "jp.cli.commands.workspace_show"),
                Node("trust", "Show what waits for trust, and trust it", "jp.cli.commands.workspace_trust"),
                Node("untrust", "Forget what was trusted in a workspace", "jp.cli.commands.workspace_untrust"),
            ),
        ),
        Node(
            "tool",
            "List, show and try the tools that a model may call",
            children=(
                Node("ls", "List tools", "jp.cli.commands.tool_ls", aliases=("list",)),
                Node("show", "Show what is known about a tool", "jp.cli.commands.tool_show"),
                Node("run", "Run a tool as a model's call would", "jp.cli.commands.tool_run"),
            ),
        ),
        Node(
            "plugin",
            "List, install and approve the plugins that add commands",
            children=(
                Node("ls", "List plugins", "jp.cli.commands.plugin_ls", aliases=("list",)),
                Node("show", "Show what is known about a plugin", "jp.cli.commands.plugin_show"),
                Node("install", "Install a plugin from a file, and approve it", "jp.cli.commands.plugin_install"),
                Node("update", "Install plugins again from where they came from", "jp.cli.commands.plugin_update"),
                Node("rm", "Delete an installed plugin", "jp.cli.commands.plugin_rm", aliases=("remove",)),
                Node(
                    "trust",
                    "Approve a plugin, or take an approval back",
                    "jp.cli.commands.plugin_trust",
                    aliases=("approve",),
                ),
                Node("check", "Try whether a plugin keeps to the protocol", "jp.cli.commands.plugin_check"),
            ),
        ),
        Node("model", "List, install and remove embedded models", "jp.cli.commands.model"),
        Node("init", "Make a workspace in a directory", "jp.cli.commands.init"),
    ),
)
