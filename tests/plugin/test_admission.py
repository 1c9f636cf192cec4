"""Whether a plugin may be run: every policy with every origin and every approval."""

from itertools import product
from pathlib import Path

import pytest

from jp.config.sections.providers import Checksum
from jp.plugin.admission import Admit, AskFirst, Candidate, Refused, decide, key
from jp.plugin.approvals import Approval
from jp.plugin.discovery import BUNDLED, INSTALLED, ON_PATH
from jp.plugin.errors import PluginError

PATH = "/home/me/bin/jp-hello"
DIGESTS = {"sha256": "aa" * 32, "sha1": "bb" * 20}
APPROVED = Approval(PATH, DIGESTS["sha256"])
OTHER = Approval(PATH, "cc" * 32)
ELSEWHERE = Approval("/elsewhere/jp-hello", DIGESTS["sha256"])
MATCHES = Checksum("sha256", DIGESTS["sha256"])
DIFFERS = Checksum("sha256", "dd" * 32)
RUN = "plugins.command.hello.run"


def decided(
    policy: str | None = None,
    *,
    origin: str = ON_PATH,
    approval: Approval | None = None,
    pinned: Checksum | None = None,
    promptable: bool = True,
    digests: dict[str, str] = DIGESTS,
    waiting: tuple[str, ...] = (),
) -> Admit | AskFirst | Refused:
    candidate = Candidate("hello", PATH, origin, digests)
    return decide(candidate, policy=policy, pinned=pinned, approval=approval, promptable=promptable, waiting=waiting)


def refused(*args: object, **options: object) -> tuple[str, PluginError]:
    found = decided(*args, **options)  # type: ignore[arg-type]
    assert isinstance(found, Refused)
    return found.state, found.error


@pytest.mark.req("PROTO-9")
@pytest.mark.parametrize(
    ("origin", "approval", "pinned"),
    list(product((ON_PATH, INSTALLED, BUNDLED), (None, APPROVED), (None, MATCHES))),
)
def test_what_is_denied_is_refused_whatever_was_approved(
    origin: str, approval: Approval | None, pinned: Checksum | None
):
    state, error = refused("deny", origin=origin, approval=approval, pinned=pinned)
    assert state == "denied"
    assert RUN in error.message
    assert isinstance(error, PluginError)
    assert error.metadata["plugin"] == "hello"


@pytest.mark.req("PROTO-10")
@pytest.mark.parametrize(
    ("origin", "approval", "pinned"),
    list(product((ON_PATH, INSTALLED, BUNDLED), (None, APPROVED, OTHER), (None, MATCHES))),
)
def test_ask_is_a_question_before_every_run(origin: str, approval: Approval | None, pinned: Checksum | None):
    assert decided("ask", origin=origin, approval=approval, pinned=pinned) == AskFirst("ask", remember=False)


@pytest.mark.req("PROTO-11")
@pytest.mark.parametrize(("origin", "approval"), list(product((ON_PATH, INSTALLED, BUNDLED), (None, APPROVED, OTHER))))
@pytest.mark.parametrize("promptable", [True, False])
def test_unattended_runs_without_a_question(origin: str, approval: Approval | None, promptable: bool):
    found = decided("unattended", origin=origin, approval=approval, promptable=promptable)
    assert found == Admit("unattended")
    assert decided("unattended", digests={}) == Admit("unattended")


@pytest.mark.req("PROTO-12")
@pytest.mark.parametrize("origin", [ON_PATH, INSTALLED])
@pytest.mark.parametrize("promptable", [True, False])
def test_without_a_policy_an_approval_of_this_file_as_it_is_counts(origin: str, promptable: bool):
    assert decided(origin=origin, approval=APPROVED, promptable=promptable) == Admit("approved")


@pytest.mark.req("PROTO-12")
@pytest.mark.parametrize(("approval", "state"), [(None, "unapproved"), (OTHER, "changed"), (ELSEWHERE, "elsewhere")])
@pytest.mark.parametrize("origin", [ON_PATH, INSTALLED])
def test_without_one_it_is_asked_about_and_remembered(approval: Approval | None, state: str, origin: str):
    assert decided(origin=origin, approval=approval) == AskFirst(state, remember=True)


def test_a_link_to_the_approved_file_is_that_file(tmp_path: Path):
    (tmp_path / "real").touch()
    (tmp_path / "jp-hello").symlink_to(tmp_path / "real")
    for approved, path in (("real", "jp-hello"), ("jp-hello", "real"), ("real", "real")):
        approval = Approval(str(tmp_path / approved), DIGESTS["sha256"])
        candidate = Candidate("hello", str(tmp_path / path), ON_PATH, DIGESTS)
        found = decide(candidate, policy=None, pinned=None, approval=approval, promptable=True)
        assert found == Admit("approved")


@pytest.mark.parametrize("promptable", [True, False])
def test_what_came_with_jp_is_jp(promptable: bool):
    assert decided(origin=BUNDLED, promptable=promptable) == Admit("bundled")
    assert decided(origin=BUNDLED, approval=OTHER, digests={}) == Admit("bundled")


@pytest.mark.req("PROTO-13", "104-85")
@pytest.mark.parametrize(
    ("policy", "approval", "said"),
    [
        ("ask", APPROVED, "it is asked about before every run"),
        (None, None, "it has not been approved"),
        (None, OTHER, "it has changed since it was approved"),
        (None, ELSEWHERE, "it is another file"),
    ],
)
def test_where_nobody_can_be_asked_the_error_names_the_key_and_promptability(
    policy: str | None, approval: Approval | None, said: str
):
    _, error = refused(policy, approval=approval, promptable=False)
    assert said in error.message
    assert RUN in error.message
    assert "not promptable" in error.message
    assert any(f"{RUN} unattended" in hint for hint in error.hints)
    assert any("jp plugin trust hello" in hint for hint in error.hints) == (policy is None)
    assert "in a terminal" not in " ".join([error.message, *error.hints])
    assert error.metadata["key"] == RUN


def test_one_that_was_installed_and_has_changed_says_so():
    _, error = refused(origin=INSTALLED, approval=OTHER, promptable=False)
    assert "it has changed since it was installed" in error.message


@pytest.mark.req("PROTO-14")
@pytest.mark.parametrize(
    "pinned",
    [MATCHES, Checksum("sha256", DIGESTS["sha256"].upper()), Checksum("sha1", f" {DIGESTS['sha1']}\n")],
)
@pytest.mark.parametrize("policy", [None, "unattended"])
@pytest.mark.parametrize("promptable", [True, False])
def test_a_pinned_file_runs(pinned: Checksum, policy: str | None, promptable: bool):
    assert isinstance(decided(policy, pinned=pinned, promptable=promptable), Admit)
    assert isinstance(decided(policy, pinned=pinned, promptable=promptable, approval=OTHER), Admit)


@pytest.mark.req("PROTO-15")
@pytest.mark.parametrize("pinned", [DIFFERS, Checksum("sha1", DIGESTS["sha256"]), Checksum("sha1", "")])
@pytest.mark.parametrize("policy", [None, "ask", "unattended", "deny"])
@pytest.mark.parametrize(("origin", "approval"), [(ON_PATH, APPROVED), (INSTALLED, None), (BUNDLED, None)])
def test_another_file_than_the_pinned_one_is_refused_whatever_the_policy_says(
    pinned: Checksum, policy: str | None, origin: str, approval: Approval | None
):
    state, error = refused(policy, pinned=pinned, origin=origin, approval=approval)
    assert state == "mismatch"
    assert f"expected {pinned.algorithm} {pinned.value}" in error.message
    assert f"found {pinned.algorithm} {DIGESTS[pinned.algorithm]}" in error.message
    assert "plugins.command.hello.checksum.value" in error.message
    assert (error.metadata["expected"], error.metadata["found"]) == (pinned.value, DIGESTS[pinned.algorithm])


def test_a_file_that_can_not_be_read_has_no_hash_to_go_by():
    assert refused(digests={})[0] == "unreadable"
    assert refused(digests={}, approval=APPROVED)[0] == "unreadable"
    assert refused("unattended", digests={}, pinned=MATCHES)[0] == "mismatch"
    assert decided("ask", digests={}) == AskFirst("ask", remember=False)


def test_what_waits_for_trust_is_a_hint_of_every_refusal():
    options = {"waiting": ("it waits",)}
    for found in (
        refused("deny", **options),
        refused("ask", promptable=False, **options),
        refused(promptable=False, **options),
        refused(pinned=DIFFERS, **options),
        refused(digests={}, **options),
    ):
        assert found[1].hints[-1] == "it waits"


def test_the_key_of_a_plugin_is_one_that_can_be_typed():
    assert key("hello", "run") == "plugins.command.hello.run"
    assert key("a.b", "checksum", "value") == 'plugins.command."a.b".checksum.value'
