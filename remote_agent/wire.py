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

KINDS = {
    "opened": "a supervisor took the run: pid, agent version, host, engine, adopted (bool)",
    "prepared": "the environment stands: container, image, limits, engine facts",
    "armed": "the gate waits: step, pid, start_ticks, exec, basis",
    "start_failed": "the gate did not come up or ended before release; nothing ran: step, reason, detail",
    "intent": "an action is about to happen: action (release, stop, grade, ...), id",
    "step_prepared": "what a step finds was put in and run before it: step, code (0: it may begin), stdout, stderr, "
    "seconds",
    "released": "the prompt was released; stamp taken just before the write: step, requested_ms, cutoff_ms, timed, "
    "then (names of the timed steps that follow; absent without any)",
    "exec_seen": "the program was seen exec'd (upper bound of the start): step",
    "transcript": "captured bytes after masking: stream (out, err), offset, text or b64",
    "services": "how the services beside the session are: when (over: the session has ended; else before), services "
    "[{name, status, code, oom}]",
    "verifier": "the place a verifier looks from: step, ready, isolated, subject (address), container or root, image, "
    "interval_ms, timeout_ms; not ready: detail",
    "poll": "looks of the verifier: step, outcome (passed, failed, timeout, error), code, why (change, summary, last), "
    "polls (so far), began_ns, ended_ns (of this look, BOOTTIME), failed_began_ns, failed_ended_ns (of the last that "
    "failed), tail",
    "passed": "the first success seen, once; stamp is its end: step, began_ns, ended_ns, failed_began_ns, "
    "failed_ended_ns (null: none was seen to fail), window_ms, polls, after_end (bool: only the look after the last "
    "step saw it)",
    "verified_again": "the look after the last step: step, passed, verdict (passed, regressed, never), code, outcome, "
    "tail, began_ns, ended_ns",
    "heartbeat": "still alive: free_bytes, capture_bytes, load",
    "result_seen": "the agent's own final event was read: step, offset",
    "held": "nothing is scored, so everything stays as the session left it: reason",
    "hold_asked": "an operator asked something of a held run: id, what (grade, release), by, reason",
    "grade_failed": "a grader that was asked for could not run: detail",
    "cutoff": "the cutoff fired: step, cutoff_ms",
    "skipped": "a step was not begun and will not be: step, reason",
    "swept": "what a step left running was ended before the next one: step, left, killed, kept (bool: it had to live), "
    "environment_gone",
    "secret_file": "a file that held a secret, looked at after its step: step, name, changed (bool; null = not known), "
    "there (bool), left (bool: the next step has it too)",
    "sealed": "what a step said, fixed before the next one: step, sha256, bytes and offset of its stdout as the "
    "transcript records first_seq to last_seq hold it, raw_sha256 (of the file; null where that says nothing), text "
    "(null), number (null), label",
    "step_graded": "the grader's word on what one step left: step, combine (how one grade is made of all), and what "
    "`graded` says",
    "stop_requested": "an operator asked to stop: id, by, reason",
    "signalled": "TERM or KILL was sent: signal, to, count, by",
    "exited": "the root process ended; stamp is the end of the time worked: step, code (null = unknown), basis, "
    "interval (null, or [last seen alive, first seen gone] in boot ns), cause (own, cutoff, operator_stop)",
    "drained": "only the baseline is left: step, survivors, zombies",
    "captured": "a capture file is complete: stream, bytes, sha256 (of what the transcript records hold), "
    "raw_sha256 (of the file at the end), intact",
    "masked": "secrets were masked in the capture: stream, count",
    "integrity": "a capture shrank or was rewritten: stream, detail, step (where it was sealed)",
    "settled": "what the session left was dealt with: mode (stop, snapshot, keep), left, killed",
    "collected": "artefacts were copied out: manifest [{path, bytes, sha256}]",
    "graded": "the grader's word: status, value, passed, detail, code, seconds, flags, grader (image_id or python and "
    "kernel, files: hashes of its own)",
    "clock_flag": "a clock step, a suspend or a stall: flag (step, suspend, stall), amount_ns",
    "disk_low": "transcript bodies are withheld, transitions are not: free_bytes",
    "fault": "the infrastructure failed, not the agent: where, detail, typed (engine, disk, capture, network, agent, "
    "service: one of the task's own is down)",
    "gap": "records that no longer exist: from_seq, to_seq",
    "repaired": "a torn tail was cut: bytes",
    "ended": "nothing more will happen: ending, execution",
}
"""Every record kind with its data, in one line each."""


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
