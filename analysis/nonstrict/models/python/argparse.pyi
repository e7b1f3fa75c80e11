"""What `argparse` makes: the documentation of Python 3.14."""

from types import SimpleNamespace

class Namespace(SimpleNamespace): ...

class ArgumentParser:
    def parse_args(self, args) -> Namespace: ...
    parse_intermixed_args = parse_args
