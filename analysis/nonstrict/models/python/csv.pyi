"""What `csv` does: the documentation of Python 3.14."""

from collections.abc import Iterator

from nonstrict.models import does

def reader(csvfile) -> Iterator: ...

class DictReader(Iterator): ...

@does.io("writes rows to a file")
class writer:
    @does.io("writes rows to a file")
    def writerow(self, row): ...
    writeheader = writerows = writerow

@does.io("writes rows to a file")
class DictWriter(writer): ...
