"""Keeping what could not be stored: a file wherever there is room, for a person to bring back."""

import os

from jp.places import temporary_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from jp.storage.conversation import Conversation


def rescue(conversation: "Conversation", environ: "Mapping[str, str]") -> str | None:
    """Write the events that are in no `events.json` yet to a file of their own, as `events.json` would hold them.

    Tried are the directory for temporary files, the workspace and the home; returns the path, None where nothing could
    be written either.
    """
    stream = conversation.stream
    events = [bytes(stream.raw(i)) for i in range(stream.stored, len(stream))]
    document = b"[" + b",\n".join(events) + b"]\n"
    for folder in (temporary_directory(), conversation.store.workspace.root, environ.get("HOME")):
        if not folder:
            continue
        path = os.path.join(folder, f"jp-c{conversation.id}-unstored-{os.getpid()}.json")
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            continue
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(document)
                file.flush()
                os.fsync(file.fileno())
            return path
        except OSError:
            os.unlink(path)
    return None
