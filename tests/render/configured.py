"""The `style` section as it is where nothing is configured, for tests that change a key of it."""

from jp.config.kinds import MISSING
from jp.config.resolved import Config
from jp.config.schema import root
from jp.config.sections.style import Style

STYLE: Style = Config(root().final(MISSING), []).root.style
