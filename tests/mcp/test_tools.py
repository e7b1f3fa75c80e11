"""What each tool answers, by a real client: structured, and valid by the schema that the client was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.mcp.conftest import said

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client

    from tests.mcp.conftest import Connect

pytestmark = pytest.mark.asyncio


async def answer(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    schemas = {one.name: one.output_schema or {} for one in (await client.list_tools()).tools}
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    jsonschema.validate(result.structured_content, schemas[tool])
    return result.structured_content


async def test_the_tools_are_listed(connect: Connect):
    async with connect() as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert set(tools) == {"check", "audit", "regions", "confirm", "explain", "explain_text"}
        assert all(one.output_schema and one.description for one in tools.values())
    async with connect("--untrusted-workspace") as client:
        assert "confirm" not in {one.name for one in (await client.list_tools()).tools}
        assert (await client.call_tool("confirm", {"target": "bad.py"})).is_error


async def test_check(connect: Connect, workspace: Path):
    async with connect() as client:
        told = await answer(client, "check")
        (finding,) = told["findings"]
        assert (finding["code"], finding["filename"]) == ("NST101", str(workspace / "bad.py"))
        assert finding["location"] == {"row": 8, "column": 16}
        assert (told["left_out"], told["failures"]) == (0, [])
        assert (await answer(client, "check", paths=["bad.py"], ignore=["NST1"]))["findings"] == []
        (workspace / "worse.py").write_text((workspace / "bad.py").read_text(), encoding="utf-8")
        told = await answer(client, "check", select=["NST101"], limit=1)
        assert (len(told["findings"]), told["left_out"]) == (1, 1)


async def test_audit(connect: Connect):
    async with connect() as client:
        assert (await answer(client, "audit", function="bad.py::doubled"))["verdict"] == "pure"
        told = await answer(client, "audit", function="bad.py::scaled", marker="allow_in_graph")
        assert (told["verdict"], told["marker"]) == ("obstacles", "allow_in_graph")
        assert "NST101" in {one["code"] for one in told["findings"]}


async def test_regions(connect: Connect):
    async with connect() as client:
        told = await answer(client, "regions", paths=["bad.py"])
        assert [one["function"] for one in told["regions"]] == ["step"]


async def test_explain(connect: Connect):
    async with connect() as client:
        told = await answer(client, "explain", rule="nst101")
        assert told["name"] == "global-tensor-capture"
        assert told["documentation"].startswith("# global-tensor-capture (NST101)")
        assert await answer(client, "explain", rule="global-tensor-capture") == told


async def test_explain_text(connect: Connect):
    async with connect() as client:
        told = await answer(
            client, "explain_text", text='Graph break GB0098 at\n  File "/ci/bad.py", line 8, in scaled\n'
        )
        (message,) = told["messages"]
        assert (message["pages"][0]["id"], message["place"]["row"]) == ("GB0098", 8)
        assert [one["code"] for one in message["place"]["findings"]] == ["NST101"]
        for text in ("bad.py", "-"):
            # Neither a file nor standard input is read.
            assert (await answer(client, "explain_text", text=text))["messages"] == []


@pytest.mark.torch
async def test_confirm(connect: Connect):
    async with connect() as client:
        heard: list[tuple[float, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append((progress, message))

        result = await client.call_tool("confirm", {"target": "bad.py::scaled"}, progress_callback=hear)
        assert not result.is_error, said(result)
        verdicts = {one["code"]: one["verdict"]["status"] for one in result.structured_content["findings"]}
        assert verdicts["NST101"] == "confirmed"
        assert heard
        assert [seconds for seconds, _ in heard] == sorted(seconds for seconds, _ in heard)
        assert all(message for _, message in heard)


async def test_a_workspace_of_several_roots(connect: Connect, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "fine.py").write_text("X = 1\n", encoding="utf-8")
    async with connect(str(tmp_path / "project"), str(other)) as client:
        assert len((await answer(client, "check"))["findings"]) == 1
        assert (await answer(client, "check", paths=[str(other)]))["findings"] == []
        assert (await answer(client, "check", paths=["fine.py"]))["findings"] == []
