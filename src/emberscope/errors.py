"""Everything that can be told to a user instead of a traceback.

One base class; the command line catches it in one place (`cli/main.py`) and turns `exit_code` into the process's own.
An error says what is wrong, where, and what to do next. Truncated or still-growing input is not an error but data:
it is reported as `Coverage`.
"""


class EmberscopeError(Exception):
    """Base of all errors meant for the user: `message`, and `hint`, the next thing to do."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(EmberscopeError):
    """The call itself is wrong: an option, a combination, a missing command."""


class InputError(EmberscopeError):
    """An input is missing, unreadable or not supported. `place` is an offset, a line or a member name."""

    exit_code = 3

    def __init__(self, path: str, reason: str, *, place: str = "", hint: str = "") -> None:
        where = f"{path} ({place})" if place else path
        super().__init__(f"{where}: {reason}", hint=hint)
        self.path = path
        self.place = place
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """As it is: errors come back from processes that read inputs side by side."""
        return _input_error, (type(self), self.path, self.reason, self.place, self.hint)

    def with_hint(self, hint: str) -> "InputError":
        """The same error with another next thing to do."""
        return _input_error(type(self), self.path, self.reason, self.place, hint)


def _input_error(kind: type[InputError], path: str, reason: str, place: str, hint: str) -> InputError:
    return kind(path, reason, place=place, hint=hint)


class UnreachableError(InputError):
    """An input is on a server that cannot be reached, or that fails."""

    exit_code = 4


class StoreError(EmberscopeError):
    """The store of runs cannot be read or written."""

    exit_code = 3

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}", hint=hint)
        self.path = path
        self.reason = reason


class ServiceError(EmberscopeError):
    """A service (server, History Server, Prometheus) cannot be reached."""

    exit_code = 4
