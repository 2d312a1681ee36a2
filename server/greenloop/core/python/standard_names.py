"""The import of the standard library that a name without one stands for, where only one is meant.

Names that programs often give to things of their own (`copy`, `mode`, `e`) are left out.
"""

from __future__ import annotations

import ast
from datetime import datetime
from importlib import import_module

from greenloop.core.python.ast_source import walk_code

# Modules that do nothing when they are imported: which attributes they have is looked up.
_MODULES = """
abc argparse array ast base64 bisect calendar cmath collections colorsys contextlib copy csv dataclasses datetime
decimal difflib enum fnmatch fractions functools glob hashlib heapq hmac html inspect io itertools json keyword
logging math numbers operator os pathlib pprint random re secrets shlex shutil statistics string struct sys
tempfile textwrap threading time traceback types typing unicodedata uuid warnings weakref zlib zoneinfo
"""
MODULES = frozenset(_MODULES.split())

# A name that two modules have stands with the one from which it is usually imported.
_MEMBERS = """
abc: ABC ABCMeta abstractmethod
bisect: bisect_left bisect_right insort insort_left insort_right
collections: ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple
collections.abc: AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine
collections.abc: Generator Hashable ItemsView Iterable Iterator KeysView Mapping MutableMapping MutableSequence
collections.abc: MutableSet Reversible Sequence Sized ValuesView
contextlib: AbstractContextManager ExitStack asynccontextmanager closing contextmanager nullcontext suppress
contextlib: redirect_stdout
copy: deepcopy
dataclasses: asdict astuple dataclass is_dataclass
datetime: timedelta timezone tzinfo
decimal: Decimal ROUND_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP getcontext localcontext
enum: Enum Flag IntEnum IntFlag StrEnum
fractions: Fraction
functools: cached_property cmp_to_key lru_cache partial partialmethod reduce singledispatch total_ordering wraps
heapq: heapify heappop heappush heappushpop heapreplace nlargest nsmallest
itertools: accumulate chain combinations combinations_with_replacement compress dropwhile groupby islice pairwise
itertools: permutations starmap takewhile zip_longest
math: ceil floor gcd hypot isclose isnan isqrt lcm sqrt
operator: attrgetter itemgetter methodcaller
pathlib: Path PurePath PurePosixPath PureWindowsPath
string: ascii_letters ascii_lowercase ascii_uppercase
textwrap: dedent
types: MappingProxyType SimpleNamespace
typing: Any ClassVar DefaultDict Deque Dict Final FrozenSet Generic List Literal NamedTuple NewType NoReturn Optional
typing: Protocol Set Tuple Type TypeVar TypedDict Union
"""
MEMBERS = {
    name: module
    for module, _colon, names in (row.partition(":") for row in _MEMBERS.strip().split("\n"))
    for name in names.split()
}


def standard_import(name: str, text: str) -> str:
    """The statement that imports what the name stands for in this code; "" where that is not certain."""
    attributes, stands_alone = _uses(name, text)
    if not (attributes or stands_alone):
        return ""
    if name in MEMBERS:
        return f"from {MEMBERS[name]} import {name}"
    if name in MODULES and not stands_alone and _has_all(import_module(name), attributes):
        return f"import {name}"
    if name == "datetime" and _has_all(datetime, attributes):
        return "from datetime import datetime"
    return ""


def _uses(name: str, text: str) -> tuple[set[str], bool]:
    """The attributes that are read of a name, and whether it also stands without any."""
    nodes = list(walk_code(text))
    named = {node for node in nodes if isinstance(node, ast.Name) and node.id == name}
    read = {node.value: node.attr for node in nodes if isinstance(node, ast.Attribute) and node.value in named}
    return set(read.values()), named != read.keys()


def _has_all(owner: object, attributes: set[str]) -> bool:
    return all(hasattr(owner, each) for each in attributes)


# -- names that older versions had ------------------------------------------------------------------------------------


BUILT_IN = "builtins"  # the module of what needs no import
FORMER_MODULES = {
    "ConfigParser": "configparser", "Cookie": "http.cookies", "HTMLParser": "html.parser", "Queue": "queue",
    "SimpleHTTPServer": "http.server", "BaseHTTPServer": "http.server", "SocketServer": "socketserver",
    "StringIO": "io", "Tkinter": "tkinter", "UserDict": "collections", "UserList": "collections",
    "__builtin__": "builtins", "anydbm": "dbm", "cPickle": "pickle", "cStringIO": "io", "commands": "subprocess",
    "cookielib": "http.cookiejar", "copy_reg": "copyreg", "dummy_thread": "_thread", "email.MIMEBase":
    "email.mime.base",
    "email.MIMEMultipart": "email.mime.multipart", "email.MIMEText": "email.mime.text", "email.Utils": "email.utils",
    "exceptions": "builtins", "htmlentitydefs": "html.entities", "httplib": "http.client", "repr": "reprlib",
    "robotparser": "urllib.robotparser", "thread": "_thread", "typing.io": "typing", "typing.re": "typing",
    "urllib2": "urllib.request", "urlparse": "urllib.parse", "whichdb": "dbm",
    "xml.etree.cElementTree": "xml.etree.ElementTree", "xmlrpclib": "xmlrpc.client",
}  # fmt: skip
# A new name without a module is that of a built-in.
FORMER_NAMES = {
    "base64.decodestring": "base64.decodebytes", "base64.encodestring": "base64.encodebytes",
    "cgi.escape": "html.escape", "distutils.spawn.find_executable": "shutil.which", "fractions.gcd": "math.gcd",
    "importlib.find_loader": "importlib.util.find_spec", "inspect.getargspec": "inspect.getfullargspec",
    "itertools.ifilter": "filter", "itertools.ifilterfalse": "itertools.filterfalse", "itertools.imap": "map",
    "itertools.izip": "zip", "itertools.izip_longest": "itertools.zip_longest", "locale.format": "locale.format_string",
    "operator.div": "operator.truediv", "operator.isCallable": "callable", "os.getcwdu": "os.getcwd",
    "pipes.quote": "shlex.quote", "sets.Set": "set", "string.letters": "string.ascii_letters",
    "string.lowercase": "string.ascii_lowercase", "string.maketrans": "str.maketrans",
    "string.uppercase": "string.ascii_uppercase", "sys.maxint": "sys.maxsize", "time.clock": "time.perf_counter",
    "types.DictType": "dict", "types.FloatType": "float", "types.IntType": "int", "types.ListType": "list",
    "types.StringType": "str", "types.TupleType": "tuple", "types.UnicodeType": "str",
    "urllib2.HTTPError": "urllib.error.HTTPError", "urllib2.URLError": "urllib.error.URLError",
    "urllib2.quote": "urllib.parse.quote", "urllib2.unquote": "urllib.parse.unquote",
    **{f"collections.{name}": f"collections.abc.{name}" for name, module in MEMBERS.items()
       if module == "collections.abc"},
    **{f"urllib.{name}": f"urllib.parse.{name}"
       for name in ("quote", "quote_plus", "unquote", "unquote_plus", "urlencode")},
    **{f"urllib.{name}": f"urllib.request.{name}"
       for name in ("pathname2url", "url2pathname", "urlopen", "urlretrieve")},
}  # fmt: skip


def present_name(module: str, name: str) -> tuple[str, str] | None:
    """The module that has what an older one had under that name, and how it is spelled there; None where not known."""
    if new := FORMER_NAMES.get(f"{module}.{name}"):
        place, _dot, spelled = new.rpartition(".")
        return (BUILT_IN, new) if place in ("", "str") else (place, spelled)
    return (FORMER_MODULES[module], name) if module in FORMER_MODULES else None
