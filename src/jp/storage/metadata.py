"""`metadata.json`: what a listing shows of a conversation (contracts, section 5).

Fields that this version does not know stay where they are through every change.
"""

import json

from jp.conversation.timestamps import format_timestamp, parse_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

FILE = "metadata.json"


class Metadata:
    """The fields of one `metadata.json`. Times are aware and in UTC."""

    __slots__ = ("_source", "fields")

    def __init__(self, fields: "dict[str, object] | None" = None, source: bytes = b"{}") -> None:
        self.fields = {} if fields is None else fields
        self._source = source

    @classmethod
    def parse(cls, data: bytes) -> "Metadata":
        """Raises `ValueError` when `data` is no JSON object."""
        try:
            fields = json.loads(data.decode())
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        if not isinstance(fields, dict):
            raise ValueError("not a JSON object")
        return cls(fields, data)

    def encode(self) -> bytes:
        """The file's content, as the original writes it; values that were not changed keep their bytes."""
        old = _raw_values(self._source)
        lines = []
        for key, value in self.fields.items():
            raw = old.get(key)
            if raw is None or json.loads(raw) != value:
                raw = _dump(value).replace(b"\n", b"\n  ")
            lines.append(b"  %s: %s" % (_dump(key), raw))
        return b"{\n%s\n}\n" % b",\n".join(lines) if lines else b"{}\n"

    @property
    def title(self) -> str | None:
        """The title, if it has one."""
        title = self.fields.get("title")
        return title if isinstance(title, str) else None

    @title.setter
    def title(self, value: str | None) -> None:
        if value is None:
            self.fields.pop("title", None)
        elif "title" in self.fields:
            self.fields["title"] = value
        else:
            self.fields = {"title": value, **self.fields}

    def time(self, name: str) -> "datetime | None":
        """A time by the name of its field: `last_activated_at`, `pinned_at`, `archived_at`, `expires_at`."""
        return parse_timestamp(self.fields.get(name))

    def set_time(self, name: str, value: "datetime | None") -> None:
        """Sets a time, or removes it."""
        if value is None:
            self.fields.pop(name, None)
        else:
            self.fields[name] = format_timestamp(value)

    @property
    def labels(self) -> dict[str, list[str]]:
        """The labels, each with its values; the empty value alone says that the label is there."""
        found = self.fields.get("labels")
        if not isinstance(found, dict):
            return {}
        values = {key: [one] if isinstance(one, str) else one for key, one in found.items()}
        return {
            key: [str(v) for v in one] for key, one in sorted(values.items()) if isinstance(one, list) and len(one) > 0
        }

    @labels.setter
    def labels(self, value: "Mapping[str, Sequence[str]]") -> None:
        labels = {key: list(dict.fromkeys(values)) for key, values in sorted(value.items()) if values}
        # A label with a real value needs no mark that it is there.
        labels = {key: [v for v in values if v] or [""] for key, values in labels.items()}
        if labels:
            self.fields["labels"] = labels
        else:
            self.fields.pop("labels", None)


def _dump(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode(errors="replace")


def _raw_values(data: bytes) -> dict[str, bytes]:
    import msgspec

    try:
        return {key: bytes(raw) for key, raw in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items()}
    except ValueError:
        return {}  # JSON in the wider sense of the standard library, such as NaN
