"""What a job says about its own run, and what is kept of its result. Jobs without options never come here."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from procession.engine import Delivery, said
from procession.engine.values import plain_json
from procession.errors import InvalidValue, Unreadable
from procession.jobs.codec import MARK, Codec, seal, unseal
from procession.jobs.options import JobOptions
from procession.jobs.retry import Backoff, decode_backoff
from procession.limits import JOB_OUTPUT_BYTES_MAX

logger = logging.getLogger("procession.worker")

_decode = msgspec.json.Decoder(JobOptions).decode
_decode_args = msgspec.json.Decoder(dict[str, Any]).decode


def arguments_of(job: Delivery, codec: Codec | None) -> dict[str, Any]:
    """The arguments of a plain job. Raises Unreadable."""
    args = job.args
    if args.startswith(MARK):
        args = unseal(codec, args, f"the arguments of job {job.key}")
    try:
        return _decode_args(args) if args else {}
    except msgspec.MsgspecError as error:  # others have written them: no attempt can read them
        raise Unreadable(f"Expected the arguments of job {job.key} to be a JSON object: {error}") from error


def own_timeout_s(job: Delivery) -> float:
    """The timeout that a job has been given, 0 for none."""
    return _options_of(job).timeout_ms / 1000 if job.options else 0.0


def _options_of(job: Delivery) -> JobOptions:
    """What a job was given beyond its arguments. Raises Unreadable."""
    try:
        return _decode(job.options)
    except msgspec.MsgspecError as error:
        raise Unreadable(f"Expected the options of job {job.key} to be readable: {error}") from error


def own_backoff(job: Delivery) -> Backoff | None:
    """The pauses between attempts that a job has been given."""
    text = _options_of(job).backoff if job.options else ""
    return decode_backoff(text) if text else None


def output_of(job: Delivery, value: object, what: str, codec: Codec | None) -> bytes:
    """What the handler of a plain job gave back, as it is stored; nothing for None.

    What cannot be kept raises InvalidValue where the job was asked for its output; elsewhere it is not kept.
    """
    if value is None:
        return b""
    try:
        return _bounded(seal(codec, plain_json(value, what), what), what)
    except InvalidValue as error:
        if job.options and _options_of(job).output:
            raise
        logger.debug("the result of job %d (%s) is not kept: %s", job.key, job.type, error, extra=said(job))
        return b""


def _bounded(output: bytes, what: str) -> bytes:
    if len(output) > JOB_OUTPUT_BYTES_MAX:
        most = f"{JOB_OUTPUT_BYTES_MAX} bytes as it is stored (JOB_OUTPUT_BYTES_MAX)"
        raise InvalidValue(f"Expected {what} to take at most {most}, found {len(output)}")
    return output
