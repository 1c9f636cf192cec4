"""The system prompt and the documents of a request, as text.

Sections and instructions are put in the order of their positions, those of the same position as configured, sections
first. Tags let a model tell the parts from each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jp.config.sections.assistant import Assistant, Instruction, Section
    from jp.conversation.attachments import Attachment


def system_parts(assistant: Assistant) -> list[str]:
    """The parts of the system prompt, none of them empty."""
    first = assistant.system_prompt
    if not first and assistant.name:
        first = f"You are {assistant.name}."
    placed = [(one.position, section(one)) for one in assistant.system_prompt_sections]
    placed += [(one.position, instruction(one)) for one in assistant.instructions]
    placed.sort(key=lambda pair: pair[0])
    return [part for part in [(first or "").strip(), *(text for _, text in placed)] if part]


def section(one: Section) -> str:
    """One section: in its tag, or below its title, or bare."""
    content = one.content.strip("\n")
    if one.tag:
        return tagged(one.tag, content, {"title": one.title})
    return f"# {one.title}\n\n{content}" if one.title else content


def instruction(one: Instruction) -> str:
    """A list of instructions with its examples."""
    blocks = [one.description.strip()] if one.description else []
    if one.items:
        blocks.append("\n".join(f"- {_indented(item.strip())}" for item in one.items))
    if one.examples:
        blocks.append("**Examples**")
    for example in one.examples:
        if isinstance(example, str):
            blocks.append(example.strip())
            continue
        lines = [f"Good: {example.good.strip()}", f"Bad: {example.bad.strip()}"]
        blocks.append("\n".join([*lines, *([f"Reason: {example.reason.strip()}"] if example.reason else [])]))
    return tagged("instruction", "\n\n".join(blocks), {"title": one.title}) if blocks or one.title else ""


def documents(attachments: Iterable[Attachment]) -> str:
    """Attachments as one text."""
    return tagged(
        "documents",
        "\n".join(
            tagged("document", one.content.strip("\n"), {"source": one.source, "description": one.description})
            for one in attachments
        ),
    )


def tagged(tag: str, content: str, attributes: dict[str, str | None] | None = None) -> str:
    """`content` between an opening and a closing tag; a tag with other than letters and digits is made a word."""
    name = "".join(c if c.isalnum() or c in "_-." else "_" for c in tag.strip()).strip("_") or "section"
    named = "".join(f' {key}="{_quoted(value)}"' for key, value in (attributes or {}).items() if value)
    return f"<{name}{named}>\n{content}\n</{name}>"


def _quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("\n", " ")


def _indented(item: str) -> str:
    return item.replace("\n", "\n  ")
