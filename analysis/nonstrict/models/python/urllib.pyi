"""What `urllib` does: the documentation of Python 3.14."""

from io import TextIOWrapper

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class parse:
    def parse_qs(qs, keep_blank_values, strict_parsing, encoding) -> dict: ...
    def quote(string, safe, encoding, errors) -> str: ...
    unquote = urlencode = urljoin = quote

@submodule
class request:
    @does.io("sends a request over the network")
    def urlopen(url, data, timeout) -> TextIOWrapper: ...
    @does.io("sends a request over the network")
    def urlretrieve(url, filename, reporthook, data): ...
