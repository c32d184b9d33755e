"""The rows of the table: which of CPython's test modules run, and the functions of which modules are converted meanwhile."""

from __future__ import annotations

import importlib.util
from typing import NamedTuple


class Row(NamedTuple):
    """A test module, and the modules whose functions are converted."""

    tests: str
    converted: tuple[str, ...]


def reason_to_omit(row: Row) -> str | None:
    """Why a row cannot run on this Python; None where it can."""
    try:
        found = [importlib.util.find_spec(name) for name in ("test", row.tests)]
    except ModuleNotFoundError:
        found = [None]
    if found[0] is None:
        return "this Python comes without the `test` package"
    if found[1] is None:
        return "this Python has no such test module"
    if all(_missing(name) for name in row.converted):
        return "this Python has no such module"
    return None


def _missing(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except ModuleNotFoundError:
        return True


def _library(names: str) -> dict[str, Row]:
    return {name: Row(f"test.test_{name}", (name,)) for name in names.split()}


def _language(names: str) -> dict[str, Row]:
    return {name: Row(f"test.{name}", (f"test.{name}",)) for name in names.split()}


def _package(package: str, modules: str) -> tuple[str, ...]:
    return (package, *(f"{package}.{name}" for name in modules.split()))


# What every run of the tests judges.
CORE = {
    **_library("bisect colorsys difflib fractions heapq random statistics textwrap tokenize"),
    "json": Row("test.test_json", _package("json", "decoder encoder scanner")),
    "datetime": Row("test.test_datetime", ("datetime", "_pydatetime")),
    "decimal": Row("test.test_decimal", ("_pydecimal",)),
    **_language(
        """test_grammar test_scope test_exceptions test_with test_patma test_named_expressions test_generators test_unpack
        test_fstring"""
    ),
}

# Functions of the standard library, judged by its tests.
LIBRARY = {
    **_library(
        """abc aifc argparse ast base64 calendar cgi cmd codeop configparser contextlib copy copyreg csv dataclasses
        enum filecmp fileinput fnmatch functools genericpath getopt gettext glob graphlib gzip hmac html
        imaplib io ipaddress linecache locale logging mailbox mailcap mimetypes netrc ntpath operator optparse pathlib
        pickle pickletools pkgutil platform plistlib poplib posixpath pprint profile pstats pyclbr queue quopri reprlib
        rlcompleter sched secrets selectors shelve shlex shutil smtplib stat string stringprep struct sunau
        symtable tabnanny tarfile tempfile timeit types typing uu uuid warnings wave weakref xdrlib zipapp zipfile"""
    ),
    "code": Row("test.test_code_module", ("code",)),
    "contextlib_async": Row("test.test_contextlib_async", ("contextlib",)),
    "dynamicclassattribute": Row("test.test_dynamicclassattribute", ("types",)),
    "numbers": Row("test.test_abstract_numbers", ("numbers",)),
    "email": Row(
        "test.test_email",
        _package(
            "email",
            """_header_value_parser _parseaddr _policybase base64mime charset contentmanager encoders errors feedparser
            generator header headerregistry iterators message parser policy quoprimime utils""",
        ),
    ),
    "htmlparser": Row("test.test_htmlparser", ("html.parser", "_markupbase")),
    "http_cookiejar": Row("test.test_http_cookiejar", ("http.cookiejar",)),
    "http_cookies": Row("test.test_http_cookies", ("http.cookies",)),
    "httplib": Row("test.test_httplib", ("http.client",)),
    "_pyio": Row("test.test_io", ("_pyio",)),
    "_pylong": Row("test.test_int", ("_pylong",)),
    "minidom": Row("test.test_minidom", ("xml.dom.minidom", "xml.dom.expatbuilder", "xml.dom.pulldom")),
    "re": Row("test.test_re", _package("re", "_casefix _compiler _parser")),
    "robotparser": Row("test.test_robotparser", ("urllib.robotparser",)),
    "sax": Row("test.test_sax", _package("xml.sax", "expatreader handler saxutils xmlreader")),
    "strptime": Row("test.test_strptime", ("_strptime",)),
    "tomllib": Row("test.test_tomllib", _package("tomllib", "_parser _re _types")),
    "unparse": Row("test.test_unparse", ("ast",)),
    "urllib": Row("test.test_urllib", ("urllib.request", "urllib.parse")),
    "urlparse": Row("test.test_urlparse", ("urllib.parse",)),
    "weakset": Row("test.test_weakset", ("_weakrefset",)),
    "wsgiref": Row("test.test_wsgiref", _package("wsgiref", "handlers headers util validate")),
    "xml_etree": Row("test.test_xml_etree", _package("xml.etree", "ElementPath ElementTree")),
    "xmlrpc": Row("test.test_xmlrpc", _package("xmlrpc", "client server")),
}

# Test methods themselves, with the functions and classes inside them.
LANGUAGE = _language(
    """test_abc test_argparse test_array test_asyncgen test_augassign test_base64 test_baseexception test_binop test_bisect
    test_bool test_builtin test_bytes test_calendar test_call test_class test_cmath test_collections test_compare
    test_complex test_configparser test_contains test_context test_contextlib test_copy test_coroutines test_csv
    test_dataclasses test_datetime test_decorators test_defaultdict test_deque test_descr test_descrtut test_dict
    test_dictcomps test_dictviews test_difflib test_dynamic test_enum test_enumerate test_except_star test_exception_group
    test_exception_hierarchy test_exception_variations test_extcall test_float test_format test_fractions test_funcattrs
    test_functools test_future_stmt test_generator_stop test_genericalias test_genericclass test_genexps test_global
    test_hash test_heapq test_index test_int test_int_literal test_ipaddress test_isinstance test_iter test_iterlen
    test_itertools test_json test_keywordonlyarg test_list test_listcomps test_logging test_long test_longexp test_math
    test_memoryview test_metaclass test_numeric_tower test_opcache test_operator test_ordered_dict test_pathlib
    test_pep646_syntax test_pickle test_positional_only_arg test_pow test_print test_property test_raise test_random
    test_range test_re test_richcmp test_set test_setcomps test_shutil test_slice test_sort test_statistics test_string
    test_string_literals test_struct test_structseq test_subclassinit test_super test_syntax test_textwrap test_tokenize
    test_tuple test_type_aliases test_type_annotations test_type_cache test_type_params test_typechecks test_types
    test_typing test_unary test_unicode test_unicode_identifiers test_unpack_ex test_urlparse test_userdict test_userlist
    test_userstring test_warnings test_weakref test_yield_from test_zipfile"""
)

ROWS = CORE | LIBRARY | LANGUAGE
