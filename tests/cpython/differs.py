"""Tests that end in another way on converted code, each with the reason."""

_FRAMES = "counts the frames of its callers, or compares all of a traceback: blocks of a function have frames of their own"
_DEPTH = "needs nearly all of the recursion limit: blocks of a function have frames of their own"

DIFFERS = {
    "test.test_contextlib.TestExitStack.test_exit_exception_traceback": _FRAMES,
    "test.test_enum.TestSpecial.test_pickle_enum_function": _FRAMES,
    "test.test_tomllib.test_misc.TestMiscellaneous.test_inline_array_recursion_limit": _DEPTH,
    "test.test_tomllib.test_misc.TestMiscellaneous.test_inline_table_recursion_limit": _DEPTH,
}
