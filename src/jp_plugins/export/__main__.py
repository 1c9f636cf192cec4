"""The program `jp-export`."""

from jp.plugin import sdk
from jp_plugins.export.arguments import HELP
from jp_plugins.version import VERSION

plugin = sdk.Plugin(
    "export", version=VERSION, description="Write conversations as documents", help=HELP, command=["export"]
)


@plugin.main
def _run(host: sdk.Host) -> int:
    from jp_plugins.export.command import run

    return run(host)


def main() -> None:
    """Be the plugin."""
    plugin.run()


if __name__ == "__main__":
    main()
