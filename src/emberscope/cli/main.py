"""The command `emberscope`: the one place where errors become one sentence on standard error and an exit code.

Verbs are loaded when called (`cli/group.py`), so that `--version` and completion stay instant.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

from emberscope.errors import EmberscopeError

INTERRUPTED = 130


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a check failed, 2 usage or our fault, 3 input, 4 service, 130 interrupt.

    `emberscope run` exits with the code of its job.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments == ["--version"]:
        from emberscope import __version__

        print(f"emberscope {__version__}")
        return
    sys.exit(exit_code(arguments))


def exit_code(arguments: list[str]) -> int:
    """Run one command line and return its exit code, with every error said in one sentence."""
    debug = bool(os.environ.get("EMBERSCOPE_DEBUG")) or "--debug" in arguments[:1]
    # One answer and the end: what is made stays, and to look for cycles in it again and again takes a tenth of the time
    # for nothing.
    gc.set_threshold(100_000, 50, 50)
    try:
        from emberscope.cli.group import call

        code = call(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is left to say, and Python must not say it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        complain("interrupted.")
        return INTERRUPTED
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT) or debug:
            return _fault(error, debug)
        # Help and other words of click's, or a temporary file: there is no room for them.
        from emberscope.cli.output import drop_standard_output

        drop_standard_output()
        complain(f"no room to write: {error.strerror}. Make room, or write to another disk.")
        return EmberscopeError.exit_code
    except EmberscopeError as error:
        if debug:
            raise
        complain(str(error))
        return error.exit_code
    except Exception as error:
        return _fault(error, debug)


def _fault(error: Exception, debug: bool) -> int:
    """A fault of ours, in one sentence; raised again where its traceback is wanted."""
    if debug:
        raise error
    said = " ".join(str(error).split())
    complain(
        f"this went wrong inside emberscope: {type(error).__name__}{': ' if said else ''}{said[:300]}. "
        "Please report it; EMBERSCOPE_DEBUG=1 shows where it happened."
    )
    return EmberscopeError.exit_code


def complain(sentence: str) -> None:
    """One sentence, in one line, on standard error."""
    from emberscope.units import printable

    words = printable(" ".join(sentence.split()))
    if sys.stderr is None:  # closed by our caller; `print` would take standard output instead
        return
    print(f"emberscope: {words}{'' if words.endswith(('.', '?', '!')) else '.'}", file=sys.stderr)


if __name__ == "__main__":
    main()
