"""Tests that end in another way on converted code, each with the reason."""

_FRAMES = "counts the frames of its callers, or compares all of a traceback: blocks of a function have frames of their own"
_DEPTH = "needs nearly all of the recursion limit: blocks of a function have frames of their own"
_LINES = "follows a debugger's line events, of which a block and its call have some more"
_BUILTINS = "takes builtins away that operators use where Python has its own instructions"

_BY_REASON = {
    _FRAMES: """
        test.test_contextlib.TestExitStack.test_exit_exception_traceback
        test.test_enum.TestSpecial.test_pickle_enum_function
    """,
    _DEPTH: """
        test.test_tomllib.test_misc.TestMiscellaneous.test_inline_array_recursion_limit
        test.test_tomllib.test_misc.TestMiscellaneous.test_inline_table_recursion_limit
    """,
    _LINES: """
        test.test_patma.TestTracing.test_default_capture
        test.test_patma.TestTracing.test_default_wildcard
        test.test_patma.TestTracing.test_no_default
        test.test_patma.TestTracing.test_only_default_wildcard
        test.test_patma.TestTracing.test_unreachable_code
    """,
}

DIFFERS = {test: reason for reason, tests in _BY_REASON.items() for test in tests.split()}
