"""What a journal says: for readers, and therefore not shipped to machines."""

from __future__ import annotations

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
