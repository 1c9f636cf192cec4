"""The program `jp-serve-web`."""

from jp.plugin import sdk
from jp_plugins.version import VERSION
from jp_plugins.web.arguments import HELP

plugin = sdk.Plugin(
    "serve-web",
    version=VERSION,
    description="Show conversations in a browser, on this machine alone",
    help=HELP,
    command=["serve", "web"],
)


@plugin.main
def _run(host: sdk.Host) -> int:
    from jp_plugins.web.command import run

    return run(host)


def main() -> None:
    """Be the plugin."""
    plugin.run()


if __name__ == "__main__":
    main()
