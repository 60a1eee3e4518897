"""One writer for each record: a lock on the open file, which the system takes back when its holder dies."""

from __future__ import annotations

import errno
import os
import sys

from studio.core.text import tr

_TAKEN = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})


def claim(descriptor: int) -> None:
    """Claim the file for as long as `descriptor` is open; never waits.

    Raises:
        OSError: another process, or another run in this one, writes the file. Where the disk knows no locks, as some
            network folders do not, the file counts as free.
    """
    try:
        _lock(descriptor)
    except OSError as error:
        if error.errno in _TAKEN:
            raise OSError(errno.EBUSY, tr("another program is writing this run already")) from None


if sys.platform == "win32":
    import msvcrt

    # Locked bytes cannot be read by others on Windows, so one is locked that no record ever reaches.
    _FAR_BEHIND_THE_END = 2**30

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR_BEHIND_THE_END, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_END)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
