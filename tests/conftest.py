"""Settings of all tests."""

from hypothesis import settings

# No test asserts how long something takes: a machine that is busy is not a fault of the code.
settings.register_profile("emberscope", deadline=None)
settings.load_profile("emberscope")
