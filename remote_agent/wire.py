"""The record and frame formats that machine and operator share: the one schema of the journal.

Kept free of heavy imports (no dataclasses, typing, re): every supervisor carries it for days.
"""

from __future__ import annotations

import json
import struct
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PROTOCOL = 1
"""Version of frames and records; a different one is refused in one sentence."""

LINE_CAP_BYTES = 64 * 1024
"""A transcript record holds at most this many captured bytes; a longer line becomes several records."""


class BadRecord(ValueError):
    """A journal line that is torn, altered or not ours."""


class Stamp:
    """One instant on one machine: three clocks and the boot they belong to (all nanoseconds)."""

    __slots__ = ("boot_id", "t_boot_ns", "t_mono_ns", "t_utc_ns")

    def __init__(self, boot_id: str, t_boot_ns: int, t_mono_ns: int, t_utc_ns: int) -> None:
        self.boot_id = boot_id
        self.t_boot_ns = t_boot_ns
        self.t_mono_ns = t_mono_ns
        self.t_utc_ns = t_utc_ns


class Record:
    """One fact of a run as it stands in the journal."""

    __slots__ = ("boot_id", "data", "kind", "seq", "t_boot_ns", "t_mono_ns", "t_utc_ns")

    def __init__(
        self, seq: int, kind: str, boot_id: str, t_boot_ns: int, t_mono_ns: int, t_utc_ns: int, data: dict[str, Any]
    ) -> None:
        self.seq = seq
        self.kind = kind
        self.boot_id = boot_id
        self.t_boot_ns = t_boot_ns
        self.t_mono_ns = t_mono_ns
        self.t_utc_ns = t_utc_ns
        self.data = data

    def as_dict(self) -> dict[str, Any]:
        """The record with the keys `agenttime events --json` prints."""
        return {name: getattr(self, name) for name in ("seq", "kind", *CLOCKS, "data")}


CLOCKS = ("boot_id", "t_boot_ns", "t_mono_ns", "t_utc_ns")


def encode_record(seq: int, kind: str, stamp: Stamp, data: dict[str, Any]) -> bytes:
    """One journal line with newline: ASCII JSON, last key the crc32 of everything before it."""
    body = json.dumps(
        {
            "seq": seq,
            "kind": kind,
            "boot_id": stamp.boot_id,
            "t_boot_ns": stamp.t_boot_ns,
            "t_mono_ns": stamp.t_mono_ns,
            "t_utc_ns": stamp.t_utc_ns,
            "data": data,
        },
        separators=(",", ":"),
    ).encode("ascii")
    return b'%s,"crc":%d}\n' % (body[:-1], zlib.crc32(body[:-1]))


def decode_record(line: bytes) -> Record:
    """The record of one journal line; raises BadRecord when the line is torn or altered."""
    body, _, tail = line.rpartition(b',"crc":')
    if not body or not tail.rstrip(b"\n").endswith(b"}"):
        raise BadRecord("journal line has no crc: it is torn or not a journal line")
    try:
        crc = int(tail.rstrip(b"\n")[:-1])
        raw = json.loads(line)
        record = Record(
            raw["seq"], raw["kind"], raw["boot_id"], raw["t_boot_ns"], raw["t_mono_ns"], raw["t_utc_ns"], raw["data"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecord(f"journal line cannot be read: {error}") from None
    if crc != zlib.crc32(body):
        raise BadRecord(f"journal line seq {record.seq} was altered: its crc does not match")
    return record


FRAME_CAP_BYTES = 8 * 1024 * 1024
_LENGTH = struct.Struct(">I")


def encode_frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A length-prefixed frame: JSON header, newline, raw body."""
    head = json.dumps(header, separators=(",", ":")).encode("ascii")
    return b"%s%s\n%s" % (_LENGTH.pack(len(head) + 1 + len(body)), head, body)


class FrameReader:
    """Cuts a byte stream into frames; feed it whatever arrives."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, chunk: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Yields (header, body) of every frame completed by `chunk`; raises ValueError on a malformed one."""
        held = self._held
        held += chunk
        while len(held) >= 4:
            (size,) = _LENGTH.unpack_from(held)
            if size > FRAME_CAP_BYTES:
                raise ValueError(f"frame of {size} bytes is longer than {FRAME_CAP_BYTES}: not our protocol")
            if len(held) < 4 + size:
                return
            payload = bytes(held[4 : 4 + size])
            del held[: 4 + size]
            head, _, body = payload.partition(b"\n")
            yield json.loads(head), body
