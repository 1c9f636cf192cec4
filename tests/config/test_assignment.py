"""Variables and `--cfg key=value`: what they assign, and how they name what is wrong."""

import pytest

from jp.config.assignment import NOT_CONFIG, locate, variables
from jp.config.errors import AssignmentError, ConfigError, InvalidValueError, UnknownKeyError, UnknownVariableError
from jp.config.load import Paths, load
from jp.config.schema import find
from tests.config.conftest import Write

ARGUMENTS = [
    ("assistant.name=x=y", "assistant.name", "x=y"),
    ("assistant.name=", "assistant.name", ""),
    ('assistant.name:="true"', "assistant.name", "true"),
    ("style.code.color=false", "style.code.color", False),
    ("style.code.color:=false", "style.code.color", False),
    ("assistant.request.max_retries=7", "assistant.request.max_retries", 7),
    ("assistant.model.parameters.temperature=0.3", "assistant.model.parameters.temperature", 0.3),
    ("assistant.model.parameters.reasoning=high", "assistant.model.parameters.reasoning.effort", "high"),
    ("assistant.model.parameters.reasoning=off", "assistant.model.parameters.reasoning", "off"),
    ("assistant.model.parameters.other.seed=7", "assistant.model.parameters.other", {"seed": "7"}),
    ("assistant.model.parameters.other.seed:=7", "assistant.model.parameters.other", {"seed": 7}),
    ("editor.envs=A,B", "editor.envs", ["A", "B"]),
    ("editor.envs=", "editor.envs", []),
    ("editor.envs+=A", "editor.envs", ["JP_EDITOR", "VISUAL", "EDITOR", "A"]),
    ('editor.envs:=["A"]', "editor.envs", ["A"]),
    ('editor.envs:+=["A"]', "editor.envs", ["JP_EDITOR", "VISUAL", "EDITOR", "A"]),
    ('editor.envs+:="A"', "editor.envs", ["JP_EDITOR", "VISUAL", "EDITOR", "A"]),
    ('editor.envs:={"value":["A"],"strategy":"prepend"}', "editor.envs", ["A", "JP_EDITOR", "VISUAL", "EDITOR"]),
    ("conversation.attachments+=file://a,b", "conversation.attachments", ["file://a,b"]),
    ("conversation.attachments=file://a?x=1&y=2", "conversation.attachments", ["file://a?x=1&y=2"]),
    ("assistant.instructions+=be brief", "assistant.instructions", [{"title": "be brief", "position": 0}]),
    ("assistant.system_prompt+=Be brief.", "assistant.system_prompt", "Be brief."),
    (
        'editor.cmd:={"program":"code","args":["--wait"]}',
        "editor.cmd",
        {"program": "code", "args": ["--wait"], "shell": False},
    ),
    ("editor.cmd=code --wait", "editor.cmd", "code --wait"),
    ('conversation.tools."my.tool".run=edit', 'conversation.tools."my.tool".run', "edit"),
    ("conversation.tools.*.run=edit", "conversation.tools.*.run", "edit"),
    ("conversation.tools.x.enable=explicit", "conversation.tools.x.enable", "explicit"),
    ("conversation.labels.team=platform", "conversation.labels", {"team": "platform"}),
    ("providers.llm.aliases.fast=openai/gpt", "providers.llm.aliases", {"fast": "openai/gpt"}),
    ("interrupt.streaming.compose_in_editor=true", "interrupt.streaming.compose_in_editor", True),
    ("interrupt.streaming.compose_in_editor=always", "interrupt.streaming.compose_in_editor", "always"),
    ("style.reasoning.display=80", "style.reasoning.display", 80),
    ("style.typewriter.text_delay=1s", "style.typewriter.text_delay", "1s"),
]


@pytest.mark.parametrize(("argument", "key", "expected"), ARGUMENTS)
def test_an_argument_sets_its_key(paths: Paths, argument: str, key: str, expected: object) -> None:
    assert load(paths, {}, cfg=[argument]).get(key) == expected


def test_equals_replaces_a_list_and_plus_adds_to_it(paths: Paths, write: Write) -> None:
    write("user/config.toml", 'editor.envs = ["A"]')
    assert load(paths, {}, cfg=["editor.envs=B"]).root.editor.envs == ["B"]
    assert load(paths, {}, cfg=["editor.envs+=B"]).root.editor.envs == ["A", "B"]


REFUSED = [
    ("assistant.nmae=x", UnknownKeyError, "assistant.nmae"),
    ("assistant.name.first=x", UnknownKeyError, "assistant.name.first"),
    ("=x", UnknownKeyError, ""),
    ("assistant.model=x", InvalidValueError, ":="),
    ("style.code.color=yes", InvalidValueError, "true or false"),
    ("style.code.color+=true", InvalidValueError, "only lists and texts"),
    ("assistant.name+=x", InvalidValueError, "only lists and texts"),
    ("assistant.request.max_retries:=1.5", InvalidValueError, "an integer"),
    ("assistant.name:=x", AssignmentError, "not valid JSON"),
    ("assistant.instructions.0.title=x", AssignmentError, "one item of a list"),
    ("interrupt.turn.action=abort", InvalidValueError, '"prompt", "continue", "reply", "stop"'),
    ('editor.envs:=["A", 1]', InvalidValueError, "editor.envs.1"),
]


@pytest.mark.parametrize(("argument", "error", "says"), REFUSED)
def test_an_argument_that_does_not_fit_is_named(
    paths: Paths, argument: str, error: type[ConfigError], says: str
) -> None:
    with pytest.raises(error) as caught:
        load(paths, {}, cfg=[argument])
    assert caught.value.message.startswith(f"--cfg {argument}: ")
    assert says in caught.value.message


VARIABLES = [
    ("JP_ASSISTANT_NAME", "true", "assistant.name", "true"),
    ("JP_ASSISTANT_MODEL_PARAMETERS_MAX_TOKENS", "9", "assistant.model.parameters.max_tokens", 9),
    ("JP_ASSISTANT_REQUEST_STREAM_IDLE_TIMEOUT_SECS", "1", "assistant.request.stream_idle_timeout_secs", 1),
    ("JP_STYLE_CODE_COLOR", "false", "style.code.color", False),
    ("JP_EDITOR_ENVS", "A,B", "editor.envs", ["A", "B"]),
    ("JP_EDITOR_ENVS", "+A", "editor.envs", ["JP_EDITOR", "VISUAL", "EDITOR", "A"]),
    ("JP_EDITOR_ENVS", ':["A"]', "editor.envs", ["A"]),
    ("JP_EDITOR_ENVS", ':+["A"]', "editor.envs", ["JP_EDITOR", "VISUAL", "EDITOR", "A"]),
    ("JP_EDITOR_ENVS", '+:"A"', "editor.envs", ["JP_EDITOR", "VISUAL", "EDITOR", "A"]),
    ("JP_ASSISTANT_NAME", "\\:x", "assistant.name", ":x"),
    ("JP_ASSISTANT_NAME", "\\+x", "assistant.name", "+x"),
    ("JP_ASSISTANT_NAME", "\\x", "assistant.name", "\\x"),
    ("JP_EDITOR_CMD", "code --wait", "editor.cmd", "code --wait"),
    ("JP_EDITOR_CMD_PROGRAM", "code", "editor.cmd", {"program": "code", "args": [], "shell": False}),
    ("JP_PROVIDERS_LLM_OPENAI_BASE_URL", "http://x", "providers.llm.openai.base_url", "http://x"),
    ("JP_PROVIDERS_LLM_OPENAI_BASE_URL_ENV", "X", "providers.llm.openai.base_url_env", "X"),
    ("JP_PROVIDERS_LLM_MY_LAB_BASE_URL", "http://x", "providers.llm.my_lab.base_url", "http://x"),
    ("JP_PROVIDERS_LLM_ALIASES_FAST", "openai/x", "providers.llm.aliases", {"fast": "openai/x"}),
    ("JP_CONVERSATION_TOOLS_FS_READ_FILE_RUN", "edit", "conversation.tools.fs_read_file.run", "edit"),
    ("JP_CONVERSATION_TOOLS_FS_READ_FILE_STYLE_HIDDEN", "true", "conversation.tools.fs_read_file.style.hidden", True),
    ("JP_CONVERSATION_TOOLS_A_QUESTIONS_Q_ANSWER", ":true", "conversation.tools.a.questions.q.answer", True),
    ("JP_CONVERSATION_ATTACHMENTS", "+file://a,b", "conversation.attachments", ["file://a,b"]),
    ("JP_QUERY_COMPOSE_IN_EDITOR", "never", "query.compose_in_editor", "never"),
    ("JP_USER_NAME", "me", "user.name", "me"),
    ("JP_CONFIG_LOAD_PATHS", "a,b", "config_load_paths", ["a", "b"]),
]


@pytest.mark.parametrize(("name", "value", "key", "expected"), VARIABLES)
def test_a_variable_sets_its_key(paths: Paths, name: str, value: str, key: str, expected: object) -> None:
    assert load(paths, {name: value}).get(key) == expected


def test_an_empty_variable_says_nothing(paths: Paths) -> None:
    assert load(paths, {"JP_STYLE_CODE_COLOR": "", "JP_NOTHING_AT_ALL": ""}).layers == []


@pytest.mark.req("104-62")
@pytest.mark.parametrize("name", sorted(NOT_CONFIG))
def test_names_of_their_own_are_no_keys(paths: Paths, name: str) -> None:
    config = load(paths, {name: "1"})
    assert config.layers == []
    assert config.shown() == load(paths, {}).shown()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('editor.envs = ["JP_MY_EDITOR"]', "JP_MY_EDITOR"),
        ('providers.llm.openai.api_key_env = "JP_KEY"', "JP_KEY"),
        ('providers.llm.openai.api_key_env = { work = ["JP_A", "JP_KEY"] }', "JP_KEY"),
        ('providers.llm.openai.base_url_env = "JP_URL"', "JP_URL"),
        ('providers.mcp.x = { command = "c", variables = ["JP_TOKEN"] }', "JP_TOKEN"),
    ],
)
def test_variables_that_a_key_names_are_no_keys(paths: Paths, write: Write, text: str, name: str) -> None:
    write("user/config.toml", text)
    assert [layer.source for layer in load(paths, {name: "x"}).layers] == ["file"]


def test_an_unknown_variable_is_named_with_the_nearest(paths: Paths) -> None:
    with pytest.raises(UnknownVariableError) as caught:
        load(paths, {"JP_ASSISTANT_MODLE_ID": "x"})
    assert caught.value.message == "environment variable JP_ASSISTANT_MODLE_ID names no configuration key"
    assert caught.value.hints == ("did you mean JP_ASSISTANT_MODEL_ID?",)


@pytest.mark.parametrize(
    "name", ["JP_ASSISTANT", "JP_ASSISTANT_MODEL", "JP_CONVERSATION_TOOLS", "JP_", "JP__", "JP_X_Y"]
)
def test_a_table_cannot_be_set_by_a_variable(paths: Paths, name: str) -> None:
    with pytest.raises(UnknownVariableError, match=f"environment variable {name} names"):
        load(paths, {name: "x"})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("JP_STYLE_CODE_COLOR", "yes", '"style.code.color" is "yes"; allowed: true or false'),
        ("JP_EDITOR_ENVS", ":[", "not valid JSON"),
        ("JP_INTERRUPT_TURN_ACTION", "abort", '"interrupt.turn.action" is "abort"'),
    ],
)
def test_a_wrong_value_names_the_variable(paths: Paths, name: str, value: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(paths, {name: value})
    assert caught.value.message.startswith(f"environment variable {name}: ")
    assert says in caught.value.message


def test_every_leaf_has_a_variable_that_leads_back_to_it() -> None:
    """Keys hold underscores themselves; of two that would share a variable one could not be set."""
    listed = variables()
    assert len(listed) > 150
    for name, key, kind in listed:
        found = locate(name[3:].replace("<NAME>", "SOME_NAME"))
        assert found is not None, name
        path, there = found
        assert ".".join(path) == key.replace("<name>", "some_name"), name
        assert there is kind


def test_every_variable_names_a_key_that_can_be_asked_for() -> None:
    for _, key, kind in variables():
        assert find(key.replace("<name>", "x"), "test")[1] is kind


@pytest.mark.parametrize("key", ["inherit", "extends"])
def test_what_a_file_says_about_its_own_loading_cannot_be_set_elsewhere(paths: Paths, key: str) -> None:
    for load_it in (
        lambda: load(paths, {f"JP_{key.upper()}": ":[]" if key == "extends" else "false"}),
        lambda: load(paths, {}, cfg=[f"{key}:=[]" if key == "extends" else f"{key}=false"]),
    ):
        with pytest.raises(AssignmentError, match=f'"{key}" steers the loading of the file that says it'):
            load_it()


def test_load_paths_count_for_the_names_that_follow(paths: Paths, write: Write) -> None:
    write("ws/here/dev.toml", 'assistant.name = "dev"')
    assert load(paths, {"JP_CONFIG_LOAD_PATHS": "here"}, cfg=["dev"]).root.assistant.name == "dev"
    assert load(paths, {}, cfg=["config_load_paths+=here", "dev"]).root.assistant.name == "dev"
