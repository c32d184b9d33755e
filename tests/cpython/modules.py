from __future__ import annotations
from typing import NamedTuple


class Row(NamedTuple):
    tests: str
    converted: tuple[str, ...]


ROWS = {}


def _library(name, *modules, tests=None):
    ROWS[name] = Row(tests or f"test.test_{name}", modules or (name,))


def _language(*names):
    for name in names:
        ROWS[name] = Row(f"test.{name}", (f"test.{name}",))


for n in "heapq bisect statistics fractions difflib textwrap colorsys random tokenize".split():
    _library(n)
_library("json", "json.decoder", "json.encoder", "json.scanner", "json")
_library("datetime", "datetime", "_pydatetime")
_library("decimal", "_pydecimal")
_language(*"test_grammar test_scope test_exceptions test_with test_patma test_named_expressions test_generators test_unpack test_fstring".split())

for n in """string shlex csv configparser copy calendar pprint reprlib graphlib base64 quopri fnmatch glob getopt
    argparse optparse gettext sched queue cmd code codeop contextlib functools enum dataclasses types abc
    operator keyword stat genericpath posixpath ntpath ipaddress html gzip zipfile tarfile plistlib netrc mimetypes
    shelve filecmp fileinput linecache tempfile shutil timeit traceback weakref locale opcode secrets
    selectors socketserver stringprep struct symtable tabnanny trace uuid wave zipapp hmac imaplib
    nntplib poplib smtplib ftplib telnetlib pickletools pickle pkgutil platform profile pstats pyclbr rlcompleter
    copyreg numbers ast bdb dis inspect typing pathlib logging threading modulefinder aifc chunk cgi colorsys
    xdrlib uu sunau mailbox mailcap zoneinfo tomllib re bz2 lzma warnings asyncio dis""".split():
    _library(n)
_library("collections", "collections", "collections.abc", "_collections_abc")
_library("ordered_dict", "collections")
_library("deque", "collections")
_library("userdict", "collections"); _library("userlist", "collections"); _library("userstring", "collections")
_library("htmlparser", "html.parser", "_markupbase")
_library("http_cookies", "http.cookies")
_library("http_cookiejar", "http.cookiejar")
_library("httplib", "http.client")
_library("urlparse", "urllib.parse")
_library("urllib", "urllib.request", "urllib.parse")
_library("robotparser", "urllib.robotparser")
_library("email", "email._header_value_parser", "email._parseaddr", "email._policybase", "email.base64mime", "email.charset", "email.contentmanager", "email.encoders", "email.errors", "email.feedparser", "email.generator", "email.header", "email.headerregistry", "email.iterators", "email.message", "email.parser", "email.policy", "email.quoprimime", "email.utils", tests="test.test_email")
_library("strptime", "_strptime")
_library("weakset", "_weakrefset")
_library("dynamicclassattribute", "types")
_library("minidom", "xml.dom.minidom", "xml.dom.expatbuilder", "xml.dom.pulldom")
_library("xml_etree", "xml.etree.ElementTree", "xml.etree.ElementPath")
_library("sax", "xml.sax.saxutils", "xml.sax.handler", "xml.sax.expatreader", "xml.sax.xmlreader")
_library("xmlrpc", "xmlrpc.client", "xmlrpc.server")
_library("unparse", "ast")
_library("contextlib_async", "contextlib")
_library("wsgiref", "wsgiref.handlers", "wsgiref.headers", "wsgiref.util", "wsgiref.validate")
_library("unittest", "unittest.mock")
_library("doctest")
_library("io", "_pyio")
_library("zoneinfo", "zoneinfo._common", "zoneinfo._zoneinfo", "zoneinfo._tzpath", "zoneinfo")
_library("tomllib", "tomllib._parser", "tomllib._re", "tomllib._types")
_library("re", "re._compiler", "re._parser", "re._casefix", "re")
_library("long", "_pylong")
_language(*"""test_augassign test_baseexception test_binop test_bool test_bytes test_call test_class test_cmath test_compare test_complex
 test_contains test_context test_coroutines test_asyncgen test_decorators test_defaultdict test_descr test_descrtut test_dict test_dictcomps test_dictviews
 test_dynamic test_enumerate test_except_star test_exception_group test_exception_hierarchy test_exception_variations test_extcall
 test_float test_format test_funcattrs test_future_stmt test_generator_stop test_genericalias test_genericclass test_genexps test_global test_hash
 test_index test_int test_int_literal test_isinstance test_iter test_iterlen test_itertools test_keywordonlyarg test_list test_listcomps test_long test_longexp test_math
 test_metaclass test_numeric_tower test_opcache test_pep646_syntax test_positional_only_arg test_pow test_print test_property test_raise test_range
 test_richcmp test_set test_setcomps test_slice test_sort test_string_literals test_structseq test_subclassinit test_super test_syntax
 test_sys test_tuple test_type_annotations test_type_cache test_typechecks test_unary test_unicode test_unicode_identifiers test_unpack_ex
 test_yield_from test_builtin test_collections test_functools test_heapq test_statistics test_difflib test_fractions test_datetime test_decimal
 test_json test_random test_textwrap test_tokenize test_bisect test_typing test_dataclasses test_enum test_contextlib test_copy test_pickle
 test_string test_re test_argparse test_configparser test_memoryview test_array test_struct test_deque test_ordered_dict test_weakref test_gc test_code
 test_compile test_frame test_inspect test_traceback test_dis test_peepholer test_sys_settrace test_sys_setprofile test_types test_abc test_ast test_io test_logging test_threading test_warnings test_operator
 test_type_params test_type_aliases test_monomorphic test_monitoring test_pathlib test_shutil test_os test_csv test_base64 test_urlparse test_ipaddress test_calendar test_userdict test_userlist test_userstring test_zipfile test_doctest
""".split())
