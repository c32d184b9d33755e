"""Tests that end in another way on converted code, each with the reason."""

_FRAMES = "counts the frames of its callers, or compares all of a traceback: blocks of a function have frames of their own"
_DEPTH = "needs nearly all of the recursion limit: blocks of a function have frames of their own"
_LINES = "follows a debugger's line events, of which a block and its call have some more"
_COUNTS = "counts the objects that are alive; a block is a function, which is an object"
_BUILTINS = "takes builtins away that operators use where Python has its own instructions"

_BY_REASON = {
    _FRAMES: """
        test.test_contextlib.TestExitStack.test_exit_exception_traceback
        test.test_contextlib_async.TestAsyncExitStack.test_exit_exception_traceback
        test.test_enum.TestSpecial.test_pickle_enum_function
        test.test_gettext.GNUTranslationsPluralFormsTestCase.test_plural_context_forms
        test.test_gettext.GNUTranslationsPluralFormsTestCase.test_plural_forms
        test.test_gettext.GNUTranslationsPluralFormsTestCase.test_plural_wrong_context_forms
        test.test_gettext.GNUTranslationsWithDomainPluralFormsTestCase.test_plural_context_forms
        test.test_gettext.GNUTranslationsWithDomainPluralFormsTestCase.test_plural_forms
        test.test_gettext.GNUTranslationsWithDomainPluralFormsTestCase.test_plural_wrong_context_forms
        test.test_logging.ExceptionTest.test_formatting
        test.test_logging.HTTPHandlerTest.test_output
        test.test_logging.LoggerTest.test_find_caller_with_stacklevel
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
    _COUNTS: """
        test.test_descr.ClassPropertiesAndMethods.test_slots
    """,
    _BUILTINS: """
        test.test_iter.TestCase.test_reduce_mutating_builtins_iter
    """,
}

DIFFERS = {test: reason for reason, tests in _BY_REASON.items() for test in tests.split()}
