"""`inherit = false` in a workspace's file cuts off the user's files, but not what protects the user in them."""

from pathlib import Path

import pytest

from jp.config.load import Paths, load
from tests.config.conftest import Write

MINE = """
assistant.name = "mine"
editor.cmd = "mine"
providers.mcp.hub.command = "hub"
plugins.auto_install = false
plugins.command.x.run = "deny"
[providers.llm.aliases]
fast = "openai/mini"
[providers.llm.openai]
base_url = "https://proxy.example"
api_key_env = "PROXY_KEY"
[providers.llm.lab]
base_url = "https://lab.example"
headers.X-Team = "me"
[conversation.tools.'*']
run = "skip"
detached = "deny"
[conversation.tools.run_command]
enable = false
access.fs = ["src"]
[conversation.tools.mine]
command = "mine"
"""


@pytest.mark.parametrize("name", ["ws/.jp/config.toml", "ws/.jp.toml", "ws/a/b/.jp.toml"])
def test_what_protects_the_user_stays(paths: Paths, write: Write, name: str) -> None:
    write("user/config.toml", MINE)
    write(name, 'inherit = false\nassistant.name = "theirs"')
    config = load(paths, {})
    assert config.withheld == []
    root = config.root
    openai, lab = root.providers.llm["openai"], root.providers.llm["lab"]
    assert (openai.base_url, openai.api_key_env) == ("https://proxy.example", "PROXY_KEY")
    assert (lab.base_url, lab.headers) == ("https://lab.example", {"X-Team": "me"})
    assert (root.plugins.auto_install, root.plugins.command["x"].run) == (False, "deny")
    tools = root.conversation.tools
    assert tools.defaults.run == "skip"
    assert tools["run_command"].enable is not None
    assert tools["run_command"].enable.state is False
    assert tools["run_command"].access is not None


def test_the_rest_is_cut_off(paths: Paths, write: Write) -> None:
    write("user/config.toml", MINE)
    write("ws/.jp/config.toml", "inherit = false")
    config = load(paths, {})
    assert (config.root.assistant.name, config.root.editor.cmd, config.root.providers.mcp) == (None, None, {})
    assert config.aliases == {}
    assert "mine" not in config.root.conversation.tools
    assert config.explain("assistant.name") == []


def test_what_stays_is_still_loosened_by_nobody(paths: Paths, write: Write) -> None:
    write("user/config.toml", MINE)
    write(
        "ws/.jp/config.toml",
        "inherit = false\nplugins.command.x.run = 'unattended'\nplugins.auto_install = true\n"
        "[conversation.tools]\n'*'.run = 'ask'\nrun_command.enable = true\n"
        "[providers.llm.openai]\napi_key_env = 'OPENAI_API_KEY'\n",
    )
    assert sorted(each.key for each in load(paths, {}).withheld) == [
        "conversation.tools.*.run",
        "conversation.tools.run_command.enable",
        "plugins.auto_install",
        "plugins.command.x",
        "providers.llm.openai.api_key_env",
    ]


def test_the_users_own_file_cuts_off_all_of_it(paths: Paths, write: Write) -> None:
    write("user/config.toml", MINE)
    write("own/config.toml", "inherit = false")
    root = load(paths, {}).root
    assert (root.plugins.auto_install, root.conversation.tools.defaults.run) == (True, "ask")


def test_an_earlier_file_of_the_workspace_is_cut_off_whole(paths: Paths, write: Write, tmp_path: Path) -> None:
    write("ws/.jp/config.toml", 'plugins.auto_install = false\nproviders.llm.openai.base_url = "http://localhost:1"')
    write("ws/.jp.toml", "inherit = false")
    config = load(paths, {})
    assert config.root.plugins.auto_install
    assert config.root.providers.llm["openai"].base_url == "https://api.openai.com"
