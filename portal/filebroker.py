"""The embedded broker: messages as files, each appearing whole or not at all.

kombu's own file transport opens a file, then locks and writes it; a reader in between
takes an empty message and the worker's consumer ends. Here a message is written beside
its place and renamed into it, and what cannot be read is dropped: messages are
doorbells, the sweep rings again.
"""

from __future__ import annotations

import json
import logging
import uuid
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem

log = logging.getLogger("portal.filebroker")
SCHEME = "assayfiles"
PARTS = {"body", "headers", "properties"}


def write_whole(path: Path, text: str) -> None:
    """Write `text` so that a reader sees all of it or no file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{uuid.uuid4().hex}")
    waiting.write_text(text, encoding="utf-8")
    waiting.replace(path)


class Channel(filesystem.Channel):
    def get_table(self, exchange: str) -> list[Any]:
        file = self._exchange_file(exchange)
        try:
            rows = json.loads(file.read_text(encoding="utf-8"))
            return [filesystem.exchange_queue_t(*row) for row in rows]
        except (OSError, ValueError, TypeError):
            return []

    def _queue_bind(
        self, exchange: str, routing_key: str, pattern: str, queue: str
    ) -> None:
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        rows = self.get_table(exchange)
        if row not in rows:
            write_whole(self._exchange_file(exchange), json.dumps([row, *rows]))

    def _put(self, queue: Any, payload: Any, **_kwargs: Any) -> None:
        name = f"{time_ns():020}_{uuid.uuid4()}.{queue}.msg"
        write_whole(Path(self.data_folder_out) / name, json.dumps(payload))

    def _get(self, queue: Any, timeout: Any = None) -> Any:
        folder = Path(self.data_folder_in)
        ending = f".{queue}.msg"
        try:
            names = sorted(p.name for p in folder.iterdir() if p.name.endswith(ending))
        except FileNotFoundError:
            names = []
        for name in names:
            if name.startswith("."):
                continue
            taken = folder / f".taken-{uuid.uuid4().hex}"
            try:
                (folder / name).rename(taken)  # one reader wins
            except OSError:
                continue
            if (payload := _read(taken, name)) is not None:
                return payload
        raise Empty


def _read(taken: Path, name: str) -> dict[str, Any] | None:
    """The message in a file that is ours now; None when it is no message."""
    try:
        payload = json.loads(taken.read_text(encoding="utf-8"))
        if isinstance(payload, dict) and payload.keys() >= PARTS:
            return payload
    except (OSError, ValueError) as error:
        log.warning("message_unreadable name=%s error=%s", name, error)
        return None
    finally:
        taken.unlink(missing_ok=True)
    log.warning("not_a_message name=%s", name)
    return None


class Transport(filesystem.Transport):
    Channel = Channel


def register() -> None:
    """Make `assayfiles://` known to kombu."""
    TRANSPORT_ALIASES[SCHEME] = "portal.filebroker:Transport"
