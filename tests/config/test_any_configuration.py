"""What holds for every configuration that the schema takes."""

import tomllib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from jp.config.dump import to_toml
from jp.config.kinds import MISSING, SHOWN, Form
from jp.config.schema import root, typed
from jp.config.stored import conversation_layers
from tests.config.generate import values

SECTIONS = list(root().fields)


@pytest.mark.parametrize("section", SECTIONS)
def test_it_has_a_typed_form_and_survives_being_stored_and_shown(section: str) -> None:
    schema = root()
    kind = schema.fields[section]

    @settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
    @given(values(kind))
    def holds(value: Any) -> None:
        resolved = schema.final(schema.merge(MISSING, schema.read({section: value})))
        typed(resolved)
        shown = schema.write(resolved, SHOWN)
        assert schema.final(schema.merge(MISSING, schema.read(shown))) == resolved
        assert schema.read(tomllib.loads(to_toml(shown))) == schema.read(shown)
        stored = schema.write(resolved, Form(True, {}))
        if section not in ("inherit", "extends", "config_load_paths"):
            layer = conversation_layers(stored)[0]
            again = schema.final(schema.merge(MISSING, layer.read()))
            if section == "providers":  # servers are where they are today
                aliases = resolved["providers"]["llm"].get("aliases")
                assert again["providers"]["llm"].get("aliases", {}) == (aliases or {})
            else:
                assert again[section] == resolved[section]

    holds()
