"""Walks the seven steps of a search for prior art with the `mcp` package from PyPI, a client that Lyra's authors did not write.

    python fusion.py CASE LYRA DATA_DIR

CASE is `example` (the corpus that comes with Lyra) or `patents` (a corpus of that name in DATA_DIR).
Wide, provenance, target profile, lanes, blend, peek, change, review, provenance; then three set-ups that are spoiled on purpose
and have to raise their alarms. Exits with 0 when everything was as it should be, else with the assertion that failed.
"""

import asyncio
import json
import sys

from lyra_client import Lyra, check_tools
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import PromptReference, ResourceTemplateReference

TOOLS = ["search_fulltext", "search_semantic", "rrf_search_fulltext_raw", "rrf_search_semantic_raw"]
TOOLS += ["run_multilane_search", "rrf_blend_frontier", "rrf_mutate_run", "peek_snippets", "get_snippets"]
TOOLS += ["get_publication", "get_provenance", "register_representatives"]
READING = [name for name in TOOLS if name != "register_representatives"]

CASES = {
    "example": {
        "corpus": "example",
        "wide": "(nap OR napping OR sleep OR siesta) AND (memory OR recall OR learning)",
        "recall": "nap OR napping OR memory",
        "precision": '*N30"(nap napping) (memory recall)"',
        "semantic": "Does a short sleep at noon help people to remember what they learned?",
        "facets": {"A": ["nap", "napping"], "B": ["memory", "recall"], "C": ["office", "student"]},
        "demanding": "nap AND school AND method",
        "codes": None,
    },
    "patents": {
        "corpus": "patents",
        "wide": "(inhibitor OR inhibiting OR peptide OR oligonucleotide OR compound) AND (tumor OR cancer OR treatment OR disease)",
        "recall": "(inhibitor OR peptide OR oligonucleotide OR antibody OR pharmaceutical)",
        "precision": '*N30"(inhibitor inhibitors inhibiting peptide) (cancer tumor disease treatment)"',
        "semantic": "Compounds that inhibit an enzyme and are given to treat tumors and other diseases.",
        "facets": {"A": ["inhibitor", "peptide"], "B": ["tumor", "cancer"], "C": ["hospital", "cosmetic"]},
        "demanding": "inhibitor AND hospital AND method",
        "codes": ["A61K", "A61P", "C07D", "C07K", "C12N"],
    },
}


SPOILED = {"wide_query_demands", "lane_dominates", "off_profile"}


def alarms(answer):
    return {alarm["alarm"]: alarm["evidence"] for alarm in answer["alarms"]}


def adds_up(shares):
    return abs(sum(shares.values()) - 1) < 1e-4


async def walk(lyra, case):
    corpus = case["corpus"]
    # 2. Wide.
    wide = await lyra.call("rrf_search_fulltext_raw", query=case["wide"], lane="wide", corpus=corpus, trace_id="walk")
    assert wide["run_id"].startswith("fulltext-") and wide["trace_id"] == "walk", wide
    assert wide["meta"]["top_k"] == 800 and wide["meta"]["count_returned"] > 0, wide
    again = await lyra.call("rrf_search_fulltext_raw", params={"query": case["wide"], "lane": "wide", "corpus": corpus})
    assert again["cached"] and again["run_id"] == wide["run_id"], again

    # 3. Provenance of it, and the target profile.
    said = await lyra.call("get_provenance", run_id=wide["run_id"])
    profile = {code["code"]: code["weight"] for code in said["proposed_profile"]}
    filters = []
    if case["codes"]:
        assert profile and max(profile.values()) == 1, said["proposed_profile"]
        system = next(iter(profile)).split(":")[0]
        assert any(code["system"] == system for code in said["code_distributions"]), said
        filters = [{"field": "ipc", "include_codes": case["codes"]}]

    # 4. Lanes, one of which fails alone.
    lanes = await lyra.call(
        "run_multilane_search",
        lanes=[
            lane("recall", "fulltext", query=case["recall"], corpus=corpus, filters=filters),
            lane("precision", "fulltext", query=case["precision"], corpus=corpus),
            lane("semantic", "semantic", text=case["semantic"], corpus=corpus, top_k=100),
            lane("broken", "fulltext", query="nap AND (", corpus=corpus),
        ],
    )
    assert [entry["status"] for entry in lanes["lanes"]] == ["success"] * 3 + ["error"], lanes
    assert "character" in lanes["lanes"][3]["error"], lanes
    runs = [{"run_id": entry["handle"]["run_id"]} for entry in lanes["lanes"][:3]]
    runs.append({"run_id": wide["run_id"], "lane": "net"})

    # 5. Fusion.
    fused = await lyra.call(
        "rrf_blend_frontier",
        runs=runs,
        weights={"precision": 1.4, "semantic": 0.7, "net": 0.5},
        target_profile=profile,
        facet_terms=case["facets"],
        peek={"limit": 3},
    )
    assert fused["run_id"].startswith("fusion-") and fused["frontier"], fused
    assert adds_up(fused["contributions"]) and "code" in fused["contributions"], fused["contributions"]
    assert 0 < len(fused["peek"]["snippets"]) <= 3, fused["peek"]
    sane = SPOILED & (alarms(fused).keys() | alarms(wide).keys())
    assert not sane, f"a sound set-up raises {sane}"
    ks = [point["k"] for point in fused["frontier"]]
    assert ks == sorted(set(ks)), ks
    for point in fused["frontier"]:
        for share in (point[name] for name in ("precision", "recall", "f_beta")):
            assert 0 <= share["low"] <= share["mean"] <= share["high"] <= 1, point
    assert fused["estimate"]["judged"] == 0 and "depths" not in fused["estimate"], fused["estimate"]

    # 6. Peek within a budget, to the end; then read.
    offset, seen = 0, []
    while offset is not None:
        peek = await lyra.call("peek_snippets", run_id=fused["run_id"], offset=offset, limit=20, budget_bytes=2000)
        size = len(json.dumps(peek, ensure_ascii=False, separators=(",", ":")).encode())
        assert size <= 2000 and size == peek["used_bytes"], peek
        assert peek["snippets"], "never empty when something fits"
        seen += [snippet["doc_id"] for snippet in peek["snippets"]]
        offset = peek.get("next_offset")
    assert len(seen) == len(set(seen)) == fused["meta"]["count_returned"], "every document once"
    texts = await lyra.call("get_snippets", ids=seen[:5] + ["nowhere"], run_id=fused["run_id"])
    assert texts["missing_ids"] == ["nowhere"] and len(texts["documents"]) == 5, texts
    assert any("**" in passage["text"] for doc in texts["documents"] for passage in doc["highlights"]), texts
    whole = await lyra.call("get_publication", ids=seen[:1], id_type="app_doc_id", corpus=corpus)
    assert whole["documents"][0]["fields"]["title"], whole

    # 7. Change, with lineage and without a search.
    changed = await lyra.call("rrf_mutate_run", run_id=fused["run_id"], delta={"weights": {"semantic": 1.5}, "rrf_k": 90})
    assert changed["run_id"] != fused["run_id"] and changed["changed_from"] == fused["run_id"], changed
    said = await lyra.call("get_provenance", run_id=changed["run_id"], sample=True, top_k_lane=30)
    assert said["changed_from"] == [fused["run_id"]] and said["recipe"]["rrf_k"] == 90, said
    assert said["recipe"]["weights"] == {"precision": 1.4, "semantic": 1.5, "net": 0.5}, said["recipe"]
    assert all(adds_up(document["shares"]) for document in said["documents"]), said["documents"]

    # Review: the proposed sample, then what tells most.
    review = [document["doc_id"] for document in said["sample"]]
    assert 10 <= len(review) <= 20, review
    judged = [
        {"doc_id": doc_id, "label": "A" if doc_id in seen[:8] else "B" if doc_id in seen[:20] else "C"}
        for doc_id in review
    ]
    kept = await lyra.call("register_representatives", run_id=changed["run_id"], representatives=judged)
    assert kept["estimate"]["judged"] == len(judged), kept["estimate"]
    depths = kept["estimate"].get("depths")
    assert (depths is not None) == (len(judged) >= 10), kept["estimate"]
    assert depths is None or depths["from"] <= depths["middle"] <= depths["to"], depths
    again = await lyra.call("register_representatives", run_id=changed["run_id"], representatives=judged[:1])
    assert again["estimate"] == kept["estimate"], "the same label again changes nothing"
    said = await lyra.call("get_provenance", run_id=changed["run_id"], sample=True)
    assert not {document["doc_id"] for document in said["sample"]} & set(review), "what was judged is not proposed"
    assert all(document["rank"] for document in said["representatives"]), said["representatives"]
    page, listed = f"lyra://fusion/{changed['run_id']}", []
    while page:
        text = (await lyra.client.read_resource(page)).contents[0].text
        assert len(text.encode()) <= 60_000, page
        resource = json.loads(text)
        listed += [document["rank"] for document in resource["documents"]]
        page = resource["page"]["next"]
    assert listed == list(range(1, fused["meta"]["count_returned"] + 1)), "the resource has every document, once"
    return runs, wide, fused, said


async def spoiled(lyra, case, runs):
    """Use-case terms under AND, one dominating lane, a profile of another field."""
    demanding = await lyra.call("rrf_search_fulltext_raw", query=case["demanding"], lane="wide", corpus=case["corpus"])
    evidence = alarms(demanding)["wide_query_demands"]
    assert evidence["use_case_words"] and evidence["general_words"] == ["method"], evidence
    better = evidence["query_with_them_optional"]
    relaxed = await lyra.call("rrf_search_fulltext_raw", query=better, lane="wide", corpus=case["corpus"])
    assert "wide_query_demands" not in alarms(relaxed), relaxed
    assert relaxed["meta"]["count_returned"] > demanding["meta"]["count_returned"], (relaxed, demanding)
    named = await lyra.call("rrf_blend_frontier", runs=[demanding["run_id"], *runs])
    assert "wide_query_demands" in alarms(named), named["alarms"]

    weights = {"recall": 100, "precision": 0.1, "semantic": 0.1, "net": 0.1}
    dominated = await lyra.call("rrf_blend_frontier", runs=runs, weights=weights)
    evidence = alarms(dominated)["lane_dominates"]
    assert evidence["lane"] == "recall" and evidence["share"] > 0.8, evidence

    off = await lyra.call("rrf_blend_frontier", request={"runs": runs, "target_profile": {"ipc": {"E21B7/04": 1.0}}})
    evidence = alarms(off)["off_profile"]
    assert evidence["share"] > 0.5 and evidence["profile"] == ["ipc:E21B7/04"], evidence
    assert "codes" in evidence["examples"][0], evidence
    return sorted(SPOILED)


def lane(name, kind, **params):
    return {"lane_name": name, "tool": f"rrf_search_{kind}_raw", "params": params}


async def one_run(lyra, case):
    """The same search from several at once is one run."""
    search = {"text": f"{case['semantic']} Asked by many.", "corpus": case["corpus"], "top_k": 20}
    runs = await asyncio.gather(*[lyra.call("rrf_search_semantic_raw", **search) for _ in range(4)])
    assert len({run["run_id"] for run in runs}) == 1, runs


async def completions(client, fused):
    """Ids of runs, names of corpora and languages are completed."""
    template = ResourceTemplateReference(type="ref/resource", uri="lyra://fusion/{run_id}{?cursor}")
    found = (await client.complete(template, {"name": "run_id", "value": fused["run_id"][:12]})).completion
    assert fused["run_id"] in found.values, found
    assert (await client.complete(template, {"name": "run_id", "value": "fusion-none"})).completion.values == []
    prompt = PromptReference(type="ref/prompt", name="prior_art_search")
    for name, value, expect in [("language", "j", ["ja"]), ("corpus", "no such", [])]:
        found = (await client.complete(prompt, {"name": name, "value": value})).completion
        assert found.values == expect, found


async def refusals(lyra, case):
    """Wrong requests are answered with what would be right."""
    wrong = await lyra.call("rrf_search_fulltext_raw", ok=False, query='nap AND "memory', corpus=case["corpus"])
    assert wrong["details"]["position"] > 0 and wrong["details"]["expected"], wrong
    mixed = [{"field": "fi", "include_codes": ["H01L"]}, {"field": "cpc", "include_codes": ["H01L"]}]
    wrong = await lyra.call("rrf_search_semantic_raw", ok=False, text="nap", filters=mixed, corpus=case["corpus"])
    assert "one classification system per lane" in wrong["error"], wrong
    wrong = await lyra.call("rrf_blend_frontier", ok=False, runs=["fusion-none"])
    assert wrong["error_code"] == "not_found" and wrong["hint"], wrong
    wrong = await lyra.call("peek_snippets", ok=False, run_id="fusion-none", budget=100)
    assert "did you mean `budget_bytes`" in wrong["error"], wrong
    wrong = await lyra.call("rrf_search_fulltext_raw", ok=False, query="nap", corpus="none")
    assert wrong["error_code"] == "not_found" and "corpora" in wrong["hint"], wrong


async def main(name, binary, data_dir):
    case = CASES[name]
    server = StdioServerParameters(command=binary, args=["--data-dir", data_dir, "mcp", "--toolset", "fusion"])
    async with Client(server, mode="auto", read_timeout_seconds=120) as client:
        tools = (await client.list_tools()).tools
        check_tools(tools, TOOLS, READING)
        assert "rrf_blend_frontier" in client.instructions
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert prompts == ["prior_art_search"], prompts
        prompt = await client.get_prompt("prior_art_search", {"description": "マスク着用でも動作する顔認証装置"})
        assert "先行技術" in prompt.messages[0].content.text, prompt
        lyra = Lyra(client, tools)
        people = await lyra.call("search_fulltext", query=case["recall"], corpus=case["corpus"], top_k=5)
        assert people["results"][0]["title"], people
        runs, wide, fused, said = await walk(lyra, case)
        fired = await spoiled(lyra, case, runs)
        await refusals(lyra, case)
        await one_run(lyra, case)
        await completions(client, fused)
        print(
            json.dumps(
                {
                    "case": name,
                    "wide": wide["meta"]["count_returned"],
                    "fused": fused["meta"]["count_returned"],
                    "metrics": fused["metrics"],
                    "contributions": fused["contributions"],
                    "alarms": sorted(alarms(fused)),
                    "estimate": said["estimate"]["says"],
                    "alarms_on_spoiled_set_ups": fired,
                }
            )
        )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
