"""Settings of all tests."""

from hypothesis import settings

# No test asserts how long something takes: a machine that is busy is not a fault of the code.
settings.register_profile("emberscope", deadline=None)
settings.load_profile("emberscope")


def pytest_make_parametrize_id(val: object) -> str | None:
    """What gzip packs holds the time: a name made of it differs between the processes that share the tests."""
    return "gzip" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None
