"""What `locale` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.environ_read("reads the locale")
def getlocale(category): ...

localeconv = getlocale

@does.environ_read("reads the locale")
def getpreferredencoding(do_setlocale) -> str: ...
@does.environ_write("changes the locale")
def setlocale(category, locale): ...
