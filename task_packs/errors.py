"""The exceptions of the task packs: each message is one sentence for the operator."""

from __future__ import annotations


class PackError(ValueError):
    """A pack, task or file that cannot be used; the sentence names the file and the key."""


class ImageError(Exception):
    """An image that cannot be had; the sentence names the image, what is missing and the remedy."""


class ServiceError(Exception):
    """A service of a task that did not become ready; the sentence names it and what it said last."""
