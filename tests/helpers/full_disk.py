"""A disk on which no file can grow past a size."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(room):
    """Let files of this process have at most `room` bytes, as on a disk with that much left."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
