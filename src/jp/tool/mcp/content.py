"""What an MCP tool has answered, as text for the model."""

from typing import Any

import msgspec


class Resource(msgspec.Struct, frozen=True):
    """A resource that is embedded in an answer: text, or bytes in base64."""

    uri: str = ""
    mime: str = msgspec.field(default="", name="mimeType")
    text: str | None = None
    blob: str = ""


class Block(msgspec.Struct, frozen=True):
    """One block of an answer, of whatever type."""

    type: str
    text: str = ""
    data: str = ""
    mime: str = msgspec.field(default="", name="mimeType")
    uri: str = ""
    name: str = ""
    resource: Resource | None = None

    @property
    def is_text(self) -> bool:
        """Whether it says something that can be read, rather than that there is something."""
        return self.type == "text" or (self.resource is not None and self.resource.text is not None)

    def __str__(self) -> str:
        if self.type == "text":
            return self.text
        if self.resource is not None:
            embedded = self.resource
            if embedded.text is not None:
                return embedded.text
            return _line("resource", embedded.uri, embedded.mime, _size(embedded.blob))
        if self.type == "resource_link":
            return _line("resource", self.uri, self.name, self.mime)
        return _line(self.type, self.mime, _size(self.data))


class Answer(msgspec.Struct, frozen=True):
    """The result of a tool call as it stands in the message; the blocks and the data as they came."""

    content: list[msgspec.Raw] = []
    structured: msgspec.Raw = msgspec.field(default=msgspec.Raw(b""), name="structuredContent")
    is_error: bool = msgspec.field(default=False, name="isError")


def answered(result: bytes) -> tuple[str, bool]:
    """The text of a result as it came (JSON), and whether it is an error. Raises msgspec.DecodeError."""
    answer = msgspec.json.decode(result, type=Answer)
    blocks = [msgspec.json.decode(block, type=Block) for block in answer.content]
    return rendered(blocks, bytes(answer.structured).decode("utf-8", "replace")), answer.is_error


def of_result(result: Any) -> tuple[str, bool]:
    """The text of a result as the SDK has it (`CallToolResult`), and whether it is an error."""
    blocks = [msgspec.convert(block.model_dump(by_alias=True, mode="json"), Block) for block in result.content]
    structured = result.structured_content
    data = "" if structured is None else msgspec.json.encode(structured).decode("utf-8", "replace")
    return rendered(blocks, data), bool(result.is_error)


def rendered(blocks: list[Block], structured: str = "") -> str:
    """The blocks below each other; the structured data (JSON) where none of them is text."""
    parts = [str(block) for block in blocks]
    if structured not in ("", "null") and not any(block.is_text for block in blocks):
        parts.append(structured)
    return "\n".join(parts)


def _line(*parts: str) -> str:
    kind, *rest = (" ".join(part.split()) for part in parts)
    return f"[{kind} {', '.join(part for part in rest if part)}]"


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4 - base64.count("=", -2)
    return f"{size} bytes"
