"""What the configuration changes of the run itself."""

import argparse
import os
from pathlib import Path

import pytest

from jp.cli.context import Context
from jp.interrupt.router import Router
from jp.terminal.capabilities import Format
from jp.terminal.printer import Printer
from jp.terminal.promptability import Request, resolve


def context(workspace: Path, *cfg: str) -> Context:
    """A command's context with a router that is not armed."""
    printer, _, _ = Printer.memory(Format.TEXT)
    return Context(
        args=argparse.Namespace(workspace=str(workspace), cfg=list(cfg)),
        argv=[],
        environ=os.environ,
        printer=printer,
        promptability=resolve(Request.FORCED_OFF, {}, False),
        router=Router(),
        wind_down=lambda: None,
    )


@pytest.mark.req("092-5", "092-164")
@pytest.mark.parametrize(("configured", "in_effect"), [("5", 5), ("0", 1), ("1", 1)])
def test_the_cooldown_holds_from_the_moment_the_configuration_is_known(workspace: Path, configured, in_effect):
    ctx = context(workspace, f"interrupt.escalation_cooldown_secs={configured}")
    assert ctx.router.cooldown_secs == 2
    ctx.load_config()
    assert ctx.router.cooldown_secs == in_effect


@pytest.mark.req("092-164")
def test_how_a_shutdown_is_bounded_and_shown_is_configured(workspace: Path):
    ctx = context(
        workspace,
        "interrupt.shutdown.timeout_secs=3",
        "interrupt.shutdown.show=false",
        "interrupt.shutdown.delay_secs=2",
        "interrupt.shutdown.interval_ms=250",
    )
    ctx.load_config()
    router = ctx.router
    assert (router.shutdown_timeout_secs, router.shutdown_show) == (3, False)
    assert (router.shutdown_delay_secs, router.shutdown_interval_secs) == (2, 0.25)
