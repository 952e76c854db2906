"""What the clients of this folder share: calls of tools, with what holds for every result."""

import json

from jsonschema import Draft202012Validator


class Lyra:
    """Calls tools and checks of every result what holds for all of them."""

    def __init__(self, client, tools):
        self.client = client
        self.validators = {tool.name: Draft202012Validator(tool.output_schema) for tool in tools}

    async def call(self, tool, ok=True, **arguments):
        result = await self.client.call_tool(tool, arguments)
        content = result.structured_content
        assert json.loads(result.content[0].text) == content, "the text says the same as the structured content"
        assert len(result.content[0].text.encode()) <= 60_000, f"{tool} answered too much"
        self.validators[tool].validate(content)
        assert content["ok"] is ok, content
        assert bool(result.is_error) is not ok
        return content


def check_tools(tools, names, reading):
    """These tools in this order, with schemas that are ones; `reading` are those that change nothing."""
    assert [tool.name for tool in tools] == names, tools
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations.read_only_hint == (tool.name in reading), tool.name
