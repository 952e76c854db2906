//! Remedies, in the words of MCP: tools, or what the agent can ask its user to do on the machine of the server.

use lyra_usecases::Remedy;

/// What to do, as calls of tools.
pub(super) fn words(remedy: Remedy) -> String {
    let fixed = match remedy {
        Remedy::Advice(advice) => return advice,
        Remedy::ReimportCorpus { name } => {
            let name = name.as_deref().unwrap_or("NAME");
            return format!(
                "ask the user to import it again: `lyra corpus remove {name}`, then `lyra corpus import {name} FILE`"
            );
        }
        Remedy::StopTask { task } => {
            return format!("stop it first: stop_task with task_id `{task}` and mode `immediate`");
        }
        Remedy::ImportCorpus => "ask the user to import documents: `lyra corpus import NAME FILE`",
        Remedy::SearchByWords => "search by words meanwhile (rrf_search_fulltext_raw)",
        Remedy::SearchByWordsOrReword => {
            "search by words instead (rrf_search_fulltext_raw), or write the text in a language that the model supports"
        }
        Remedy::RebuildEmbeddings => {
            "ask the user to run `lyra embeddings rebuild`; query_graph works meanwhile"
        }
        Remedy::SelectSources => {
            "name some in the task's sources; the operator can set `default` under [sources] in the configuration"
        }
        Remedy::TestSources => "ask the user to run `lyra sources test`",
        Remedy::ListViews => "ask the user to run `lyra view list`",
        Remedy::ListDomainDecisions => "get_status.domain_overrides shows the patterns",
        Remedy::FindClaims => {
            "ids of claims are in `SELECT id, claim_text FROM claims`, and vector_search finds them by meaning"
        }
        Remedy::ListWaitingPages => "get_auth_queue shows the waiting items",
        Remedy::VisitWaitingPages => {
            "get_auth_queue shows them; ask the user to visit them with `lyra auth open ID`"
        }
        Remedy::HandOverCookies => {
            "ask the user to open the page in a browser on another machine, to save its cookies to a file, and to run \
             `lyra auth resolve ID --cookies FILE`"
        }
        Remedy::ActivateCalibration => {
            "a rollback only goes back; ask the user to run `lyra calibration activate`, which activates any version"
        }
        Remedy::InspectTasks => "get_status of the task shows why; fix the cause, and search again",
        Remedy::StartWorkers => "ask the user to start `lyra serve`",
        Remedy::GiveRun => "give a run_id that a lane search, rrf_blend_frontier or rrf_mutate_run returned",
        Remedy::SaveLanes => "give the run_id of a lane search",
        Remedy::FuseRun => {
            "fuse it first with rrf_blend_frontier, which returns a run_id that begins with fusion-"
        }
        Remedy::BlendLanes => "blend the runs of lanes; rrf_mutate_run changes a fusion run",
        Remedy::BlendAgain => {
            "they are registered once per run, and runs derived from it keep them; blend its lanes with \
             rrf_blend_frontier to get a run without judgments"
        }
        Remedy::GiveDocumentsOfRun => "give doc_ids that peek_snippets or get_provenance showed for this run",
        Remedy::SearchLane { semantic: true } => "search it with rrf_search_semantic_raw",
        Remedy::SearchLane { semantic: false } => "search it with rrf_search_fulltext_raw",
        Remedy::SearchLanesSingly => {
            "search the lanes one by one; the operator can set fusion.enable_multi_run"
        }
        Remedy::NameBackup | Remedy::ReplaceBackup | Remedy::ReplaceData => {
            "ask the user to run `lyra backup`, which says what it needs"
        }
        Remedy::GiveLabeledClaims | Remedy::GiveScifactClaims => {
            "ask the user to run `lyra eval --help`, which explains the layouts"
        }
    };
    fixed.to_owned()
}
