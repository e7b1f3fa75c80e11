"""What `datetime` does: the documentation of Python 3.14."""

from nonstrict.models import does

class date:
    @classmethod
    @does.clock
    def today(cls) -> date: ...

class datetime(date):
    @classmethod
    @does.clock
    def now(cls, tz) -> datetime: ...
    today = utcnow = now

class time: ...
class timedelta: ...
