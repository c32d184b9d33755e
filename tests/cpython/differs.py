"""Tests that end in another way on converted code, each with the reason."""

_FRAMES = "counts the frames of its callers, or compares all of a traceback: blocks of a function have frames of their own"
_DEPTH = "needs nearly all of the recursion limit: blocks of a function have frames of their own"
_LINES = "follows a debugger's line events, of which a block and its call have some more"
_COUNTS = "counts the objects that are alive; a block is a function, which is an object"
_ORDER = "its message lists a set of classes, in the order of their addresses"
_LOOKUP = "Python calls a method in C without making it, and names its class in a message"
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
        test.test_typing.ProtocolTests.test_isinstance_checks_not_at_whim_of_gc
        test.test_typing.ProtocolTests.test_none_treated_correctly
        test.test_typing.ProtocolTests.test_protocol_decorated_with_final_mixed_members
        test.test_typing.ProtocolTests.test_protocol_decorated_with_final_noncallable_members
        test.test_typing.ProtocolTests.test_protocols_isinstance_monkeypatching
        test.test_typing.ProtocolTests.test_protocols_isinstance_not_fooled_by_custom_dir
        test.test_typing.ProtocolTests.test_protocols_isinstance_properties_and_descriptors
        test.test_typing.ProtocolTests.test_protocols_isinstance_py36
        test.test_typing.ProtocolTests.test_protocols_issubclass_non_callable
        test.test_typing.ProtocolTests.test_protocols_support_register
    """,
    _DEPTH: """
        test.test_exceptions.ExceptionTests.test_recursion_in_except_handler
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
    _ORDER: """
        test.test_enum.TestSpecial.test_too_many_data_types
    """,
    _LOOKUP: """
        test.test_call.TestCallingConventionsInstance.test_varargs_error_kw
    """,
    _BUILTINS: """
        test.test_iter.TestCase.test_reduce_mutating_builtins_iter
    """,
}

DIFFERS = {test: reason for reason, tests in _BY_REASON.items() for test in tests.split()}
