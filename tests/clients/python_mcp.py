"""Drives Lyra with the `mcp` package from PyPI, a client that Lyra's authors did not write.

    python python_mcp.py DEPTH MODE stdio LYRA DATA_DIR
    python python_mcp.py DEPTH MODE http URL          (LYRA_TOKEN: a token to send; SSL_CERT_FILE: whom to trust)

DEPTH is `tour` (tools, schema, refusals) or `task` (a whole task too).
MODE is `legacy` (the initialize handshake, revision 2025-11-25) or `auto` (discovery, revision 2026-07-28).
Exits with 0 when everything was as it should be, else with the assertion that failed.
"""

import asyncio
import json
import os
import sys
import time

import httpx2
from lyra_client import Lyra, check_tools
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ResourceTemplateReference

TOOLS = ["answer", "create_task", "queue_searches", "get_status", "stop_task", "query_graph", "vector_search", "search", "fetch"]
TOOLS += ["feedback", "calibration_metrics", "calibration_rollback", "get_auth_queue", "resolve_auth"]
TOOLS += ["search_fulltext", "search_semantic", "rrf_search_fulltext_raw", "rrf_search_semantic_raw"]
TOOLS += ["run_multilane_search", "rrf_blend_frontier", "rrf_mutate_run", "peek_snippets", "get_snippets"]
TOOLS += ["get_publication", "get_provenance", "register_representatives"]
READING = ("get_status", "query_graph", "vector_search", "search", "fetch", "get_auth_queue")
READING += ("search_fulltext", "search_semantic", "rrf_search_fulltext_raw", "rrf_search_semantic_raw")
READING += ("run_multilane_search", "rrf_blend_frontier", "rrf_mutate_run")
READING += ("peek_snippets", "get_snippets", "get_publication", "get_provenance")
CLAIM = "A short daytime nap improves memory in adults."


async def tour(client, mode):
    assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28"), client.protocol_version
    tools = (await client.list_tools()).tools
    check_tools(tools, TOOLS, READING)
    assert "create_task" in client.instructions
    lyra = Lyra(client, tools)

    schema = json.loads((await client.read_resource("lyra://schema")).contents[0].text)
    names = {table["name"] for table in schema["tables"]}
    assert {"claims", "edges", "fragments", "pages", "v_claim_evidence_summary"} <= names, names
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["evidence_review", "prior_art_search"], prompts
    review = await client.get_prompt("evidence_review", {"question": "Do naps help?"})
    assert "Do naps help?" in review.messages[0].content.text, review
    await refusals(lyra)
    return lyra


async def whole_task(lyra):
    task = await lyra.call("create_task", query="Does a short daytime nap improve memory?", claims=[CLAIM])
    task_id = task["task_id"]
    queued = await lyra.call("queue_searches", task_id=task_id, queries=["nap word recall", "napping memory trial"])
    assert queued["queued_count"] == 2 and len(queued["search_ids"]) == 2, queued
    await finish(lyra, task_id)

    summary = await lyra.call("get_status", task_id=task_id, detail="full")
    evidence = summary["evidence_summary"]
    assert evidence["supporting_edges"] > 0 and evidence["refuting_edges"] > 0, evidence
    assert len(summary["searches"]) == 3, summary["searches"]

    edges = await lyra.call(
        "query_graph",
        sql="SELECT c.id AS claim_id, c.claim_text, e.relation, e.nli_confidence, f.text_content, p.title "
        "FROM claims c JOIN edges e ON e.target_id = c.id JOIN fragments f ON f.id = e.source_id "
        f"JOIN pages p ON p.id = f.page_id WHERE c.task_id = '{task_id}' AND c.claim_type = 'user' "
        "AND e.relation IN ('supports', 'refutes')",
    )
    assert {row["relation"] for row in edges["rows"]} == {"supports", "refutes"}, edges
    assert {row["claim_text"] for row in edges["rows"]} == {CLAIM}
    assert edges["untrusted_fields"], "text of documents is marked"

    view = await lyra.call(
        "query_graph", sql=f"SELECT * FROM v_claim_evidence_summary WHERE task_id = '{task_id}'", options={"limit": 2}
    )
    assert view["row_count"] == len(view["rows"]) == 2 and view["truncated"], view

    for target, table in (("claims", "claims"), ("fragments", "fragments")):
        close = await lyra.call("vector_search", query="sleep at noon and remembering words", target=target, min_similarity=0.2)
        assert close["results"] and close["total_searched"] >= len(close["results"]), close
        ids = ", ".join(f"'{hit['id']}'" for hit in close["results"])
        joined = await lyra.call("query_graph", sql=f"SELECT count(*) AS found FROM {table} WHERE id IN ({ids})")
        assert joined["rows"][0]["found"] == len(close["results"]), joined

    await every_view(lyra, task_id)
    await corrections(lyra, edges["rows"][0]["claim_id"])

    stopped = await lyra.call("stop_task", task_id=task_id, reason="enough")
    assert stopped["final_status"] == "completed" and stopped["is_resumable"], stopped
    await resources(lyra, task_id)
    return evidence


async def every_view(lyra, task_id):
    """The schema names the views; each can be read for the task."""
    schema = json.loads((await lyra.client.read_resource("lyra://schema")).contents[0].text)
    views = [table for table in schema["tables"] if table["kind"] == "view"]
    assert len(views) == 16 and all(view["description"] and view["columns"] for view in views), views
    for view in views:
        sql = f"SELECT * FROM {view['name']} WHERE task_id = '{task_id}'"
        rows = await lyra.call("query_graph", sql=sql, options={"limit": 200, "max_vm_steps": 5_000_000})
        assert rows["columns"] == [column["name"] for column in view["columns"]], view


async def resources(lyra, task_id):
    """The task is listed, its documents come in pages, and its ids are completed."""
    client = lyra.client
    listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    assert listed[0] == "lyra://schema" and f"lyra://tasks/{task_id}" in listed, listed
    resource = json.loads((await client.read_resource(f"lyra://tasks/{task_id}")).contents[0].text)
    assert resource["status"] == "completed", resource
    templates = [template.uri_template for template in (await client.list_resource_templates()).resource_templates]
    assert "lyra://tasks/{task_id}/materials{?cursor}" in templates, templates

    materials, pages = await document(client, f"lyra://tasks/{task_id}/materials")
    assert pages >= 1 and materials["claims"] and materials["citation_network.source_pages"], materials.keys()
    graph, _ = await document(client, f"lyra://tasks/{task_id}/graph")
    assert graph["nodes"] and len(graph["edges"]) == len(materials["evidence_graph.edges"])
    ids = ", ".join(f"'{claim['claim_id']}'" for claim in materials["claims"])
    known = await lyra.call("query_graph", sql=f"SELECT count(*) AS n FROM claims WHERE id IN ({ids})")
    assert known["rows"][0]["n"] == len(materials["claims"]), known

    template = "lyra://tasks/{task_id}/claims/{claim_id}{?cursor}"
    reference = ResourceTemplateReference(type="ref/resource", uri=template)
    task_ids = await client.complete(reference, {"name": "task_id", "value": task_id[:10]})
    assert task_id in task_ids.completion.values, task_ids
    claim_ids = await client.complete(
        reference, {"name": "claim_id", "value": "claim_"}, context_arguments={"task_id": task_id}
    )
    claim_id = claim_ids.completion.values[0]
    claim = json.loads((await client.read_resource(f"lyra://tasks/{task_id}/claims/{claim_id}")).contents[0].text)
    assert claim["claim_id"] == claim_id and claim["timeline"], claim


async def document(client, uri):
    """The lists of a document that comes in pages, and how many pages there are."""
    lists, pages = {}, 0
    while uri:
        text = (await client.read_resource(uri)).contents[0].text
        assert len(text.encode()) <= 60_000, f"{uri} is too large"
        page = json.loads(text)
        for name, value in page.items():
            nested = {f"{name}.{inner}": item for inner, item in value.items()} if isinstance(value, dict) else {name: value}
            for name, items in nested.items():
                if isinstance(items, list):
                    lists.setdefault(name, []).extend(items)
        pages, uri = pages + 1, page["page"]["next"]
    return lists, pages


async def corrections(lyra, claim_id):
    """A person's corrections show in the next query, and can be taken back."""
    numbers = f"SELECT * FROM v_claim_evidence_summary WHERE claim_id = '{claim_id}'"
    before = (await lyra.call("query_graph", sql=numbers))["rows"][0]
    refuting = await lyra.call(
        "query_graph", sql=f"SELECT id FROM edges WHERE target_id = '{claim_id}' AND relation = 'refutes'"
    )
    edge_id = refuting["rows"][0]["id"]
    corrected = await lyra.call(
        "feedback", action="edge_correct", edge_id=edge_id, correct_relation="supports", reason="it says so"
    )
    assert (corrected["previous_relation"], corrected["new_relation"]) == ("refutes", "supports"), corrected
    after = (await lyra.call("query_graph", sql=numbers))["rows"][0]
    assert after["refute_count"] == before["refute_count"] - 1, (before, after)
    assert after["confidence"] > before["confidence"], (before, after)
    assert abs(after["confidence"] - corrected["confidence"]) < 0.001, corrected
    sample = await lyra.call(
        "query_graph", sql=f"SELECT * FROM nli_corrections WHERE id = '{corrected['sample_id']}'"
    )
    assert sample["rows"][0]["predicted_label"] == "refutes", sample

    rejected = await lyra.call("feedback", action="claim_reject", claim_id=claim_id, reason="not what was asked")
    assert rejected["changed"] and rejected["status"] == "not_adopted", rejected
    restored = await lyra.call("feedback", action="claim_restore", claim_id=claim_id)
    assert restored["changed"] and restored["status"] == "adopted", restored

    blocked = await lyra.call("feedback", action="domain_block", domain_pattern="*.example.com", reason="copies")
    assert blocked["decision"] == "block" and blocked["rule_id"].startswith("dor_"), blocked
    cleared = await lyra.call("feedback", action="domain_clear_override", domain_pattern="*.example.com")
    assert cleared["previous_decision"] == "block" and "decision" not in cleared, cleared


async def finish(lyra, task_id):
    """Waits as an AI would: long calls that return on change."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        status = await lyra.call("get_status", task_id=task_id, wait=10)
        if status["status"] == "completed":
            return
        assert status["status"] == "exploring", status
    raise AssertionError(f"the task did not end: {status}")


async def refusals(lyra):
    """Wrong requests are answered with what would be right."""
    wrong = await lyra.call("queue_searches", ok=False, task_id="task_none", queries="nap")
    assert wrong["error_code"] == "invalid_argument" and "`queries`" in wrong["error"], wrong
    wrong = await lyra.call("queue_searches", ok=False, task_id="task_none", query=["nap"])
    assert "did you mean `queries`" in wrong["error"] and wrong["error_id"], wrong
    wrong = await lyra.call("get_status", ok=False, task_id="task_none")
    assert wrong["error_code"] == "not_found", wrong
    wrong = await lyra.call("query_graph", ok=False, sql="DELETE FROM claims")
    assert wrong["error_code"] == "sql_refused", wrong
    wrong = await lyra.call("query_graph", ok=False, sql="ATTACH DATABASE '/tmp/x' AS x")
    assert wrong["error_code"] == "sql_refused", wrong
    wrong = await lyra.call("query_graph", ok=False, sql="SELECT claim_txt FROM claims")
    assert "claim_text" in json.dumps(wrong), wrong


async def main(depth, mode, transport, *rest):
    if transport == "stdio":
        lyra, data_dir = rest
        server = StdioServerParameters(command=lyra, args=["--data-dir", data_dir, "mcp", "--toolset", "all"])
    else:
        (server,) = rest
        if token := os.environ.get("LYRA_TOKEN"):
            headers = {"authorization": f"Bearer {token}"}
            server = streamable_http_client(server, http_client=httpx2.AsyncClient(headers=headers, timeout=120))
    async with Client(server, mode=mode, read_timeout_seconds=120) as client:
        lyra = await tour(client, mode)
        evidence = await whole_task(lyra) if depth == "task" else None
        print(json.dumps({"protocol": client.protocol_version, "evidence": evidence}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
