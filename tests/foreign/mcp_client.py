"""Drives vault-mcp with the official Python SDK: stdio and streamable HTTP.

mcp_client.py VAULT_MCP VAULT DB MODEL
"""

import asyncio
import subprocess
import sys
import time

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:
    from mcp.client.streamable_http import streamable_http_client as http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as http_client

BINARY, VAULT, DB, MODEL = sys.argv[1:5]
ARGS = ["--vault", VAULT, "--db", DB, "--model", MODEL]


def field(value, *names):
    """An attribute under the name of any version of the SDK."""
    for name in names:
        if hasattr(value, name):
            return getattr(value, name)
    raise AttributeError(names)


def structured(result):
    return field(result, "structured_content", "structuredContent")


def is_error(result):
    return bool(field(result, "is_error", "isError"))


async def exercise(session, name):
    await session.initialize()
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert set(tools) == {"search", "read_note", "list_notes", "get_context"}, tools
    for tool in tools.values():
        assert field(tool, "output_schema", "outputSchema"), tool.name
        assert field(tool.annotations, "read_only_hint", "readOnlyHint"), tool.name

    found = structured(await session.call_tool("search", {"query": "acquire timeouts"}))
    assert found["passages"][0]["path"] == "04-work/pool.md", found
    assert "diary.md" not in str(structured(await session.call_tool("search", {"query": "pool party"})))

    note = structured(await session.call_tool("read_note", {"path": "Connection pools"}))
    assert note["path"] == "04-work/pool.md" and "acquire_timeout" in note["text"], note
    assert "[REDACTED:" in note["text"] and "hunter2" not in note["text"], note
    part = structured(await session.call_tool("read_note", {"path": "04-work/pool.md", "from_line": 3, "max_tokens": 50}))
    assert part["from_line"] == 3 and part["next_line"] > 3, part

    listed = structured(await session.call_tool("list_notes", {"tag": "rust", "limit": 1}))
    assert listed["n_notes"] == 2 and listed["next_offset"] == 1, listed
    context = structured(await session.call_tool("get_context", {"query": "pool size", "max_tokens": 300}))
    assert "> " in context["block"] and context["n_tokens"] <= 300, context

    for path in ["../../etc/passwd", "/etc/passwd", "diary.md", "secret/hidden.md", "nosuch", "out.md"]:
        result = await session.call_tool("read_note", {"path": path})
        assert is_error(result), path
        assert structured(result)["suggestion"], path
        assert "root:" not in str(result), path
    huge = structured(await session.call_tool("search", {"query": "pool", "limit": 10**9}))
    assert huge["passages"], huge

    calls = [session.call_tool("search", {"query": word}) for word in ["pool", "timers"] * 10]
    for result in await asyncio.gather(*calls):
        assert not is_error(result), result

    # Calls that are given up hold up nothing.
    for _ in range(20):
        with anyio.move_on_after(0.0005):
            await session.call_tool("search", {"query": "pool timers", "limit": 50})
    again = structured(await session.call_tool("search", {"query": "acquire timeouts"}))
    assert again["passages"][0]["path"] == "04-work/pool.md", again

    resources = (await session.list_resources()).resources
    uris = [str(resource.uri) for resource in resources]
    assert sorted(uris) == ["note:///04-work/pool.md", "note:///timers.md"], uris
    text = (await session.read_resource(resources[0].uri)).contents[0].text
    assert "Connection pools" in text, text
    print(f"{name}: 1 passed, 0 failed")


async def over_stdio():
    server = StdioServerParameters(command=BINARY, args=ARGS)
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await exercise(session, "mcp over stdio")


async def over_http():
    server = subprocess.Popen([BINARY, "--http", "--port", "0", *ARGS], stderr=subprocess.PIPE, text=True)
    try:
        url = server.stderr.readline().split()[-1]
        async with http_client(url) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await exercise(session, "mcp over http")
    finally:
        server.terminate()
        server.wait()


asyncio.run(over_stdio())
asyncio.run(over_http())
