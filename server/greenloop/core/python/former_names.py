"""Modules and names that older versions of Python had, and where the same is now."""

from __future__ import annotations

from greenloop.core.python.standard_names import MEMBERS

BUILT_IN = "builtins"  # the module of what needs no import
MODULES = {
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
NAMES = {
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
    if new := NAMES.get(f"{module}.{name}"):
        place, _dot, spelled = new.rpartition(".")
        return (BUILT_IN, new) if place in ("", "str") else (place, spelled)
    return (MODULES[module], name) if module in MODULES else None
