"""What `sqlite3` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a database")
def connect(*args): ...

class Connection:
    @does.io("reads a database")
    def close(self): ...
    commit = cursor = execute = executemany = executescript = rollback = close

class Cursor:
    @does.io("reads a database")
    def execute(self, sql, parameters): ...
    executemany = executescript = fetchall = fetchmany = fetchone = execute
