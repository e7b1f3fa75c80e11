"""What pandas does: its API reference. torch cannot trace its native code."""

from typing import Any

from nonstrict.models import does

@does.native("computes in pandas")
def __getattr__(name: str) -> Any: ...
@does.io("reads a file")
def read_csv(*args): ...

read_excel = read_json = read_parquet = read_pickle = read_sql = read_table = read_csv
