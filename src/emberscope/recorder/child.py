"""The user's command as a child process: its input, output and exit code are its own."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126

_PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
# The terminal sends these to the whole process group, so that the command has its own.
_OF_THE_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)


class CannotStart(Exception):
    """The command could not be started: `code` is what a shell would say, `reason` says why."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end and return its exit code, 128+n where signal n ended it.

    All file descriptors are inherited, nothing is read or written. SIGTERM, SIGHUP and the user signals are passed
    on; Ctrl-C reaches the command from the terminal, and we wait for what it makes of it. Raises `CannotStart`.
    """
    with _Witness() as witness, _signals(witness) as relay:
        try:
            child = subprocess.Popen(list(command), env=dict(environment), close_fds=False)
        except OSError as error:
            raise _cannot_start(command[0], error) from None
        relay.to(child)
        code = child.wait()
    return code if code >= 0 else 128 - code


class _Witness:
    """A silent process of our group. It tells whether a SIGINT was for the whole group or for us alone.

    A terminal's Ctrl-C, and `kill` of the group, reach the command without us; passed on, the signal would come
    twice. A SIGINT for our process alone is meant for the command and must be passed on.
    """

    def __init__(self) -> None:
        self._pid = 0
        self._pipe = -1

    def __enter__(self) -> _Witness:
        ours, theirs = os.pipe()
        if not Path("/proc/self/status").exists():
            os.close(ours)
            self._pipe = theirs
            return self
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        pid = os.fork()
        if pid == 0:
            os.closerange(0, ours)
            os.closerange(ours + 1, max(theirs + 1, 256))
            os.read(ours, 1)  # returns when the other end is closed: when we are done, or dead
            os._exit(0)
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        os.close(ours)
        self._pid, self._pipe = pid, theirs
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._pipe)
        if self._pid:
            os.waitpid(self._pid, 0)

    def group_was_meant(self) -> bool:
        """Whether a SIGINT is pending in the witness, which blocks it; True where that cannot be seen."""
        if not self._pid:
            return True
        try:
            status = Path(f"/proc/{self._pid}/status").read_text()
        except OSError:
            return True
        pending = 0
        for line in status.splitlines():
            name, _, mask = line.partition(":")
            if name in ("SigPnd", "ShdPnd"):
                pending |= int(mask, 16)
        return bool(pending & 1 << (signal.SIGINT - 1))


class _Relay:
    """Sends signals on to the command; those that come while it is being started are kept until it is there."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def to(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        while self._early:
            child.send_signal(self._early.pop(0))

    def send(self, number: int) -> None:
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)


@contextmanager
def _signals(witness: _Witness) -> Iterator[_Relay]:
    """While the block runs no signal ends us: it is relayed to the command, or has reached it already.

    Handlers are reset in the child when its program starts; a signal that our own caller ignores stays ignored.
    """
    relay = _Relay()

    def pass_on(number: int, _: FrameType | None) -> None:
        relay.send(number)

    def interrupt(number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT and not witness.group_was_meant():
            relay.send(number)

    before = {}
    for signals, handler in ((_PASSED_ON, pass_on), (_OF_THE_TERMINAL, interrupt)):
        for number in signals:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield relay
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


def _cannot_start(program: str, error: OSError) -> CannotStart:
    if error.errno == errno.ENOENT and os.sep in program and os.path.exists(program):
        return CannotStart(NOT_FOUND, f"{program}: the interpreter in its first line is not there.")
    if error.errno == errno.ENOENT:
        return CannotStart(NOT_FOUND, f"{program}: command not found.")
    return CannotStart(NOT_EXECUTABLE, f"{program}: cannot be executed: {error.strerror}.")
