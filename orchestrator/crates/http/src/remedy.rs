//! Remedies, in the words of the HTTP API: its routes, and commands on the machine of the server where it has none.

use lyra_usecases::Remedy;

/// What to do.
pub(crate) fn words(remedy: &Remedy) -> String {
    let fixed = match remedy {
        Remedy::Advice(advice) => return advice.clone(),
        Remedy::ReimportCorpus { name } => {
            let name = name.as_deref().unwrap_or("NAME");
            return format!("remove the corpus (DELETE /corpora/{name}) and import its files again");
        }
        Remedy::StopTask { task } => {
            return format!("stop it first: POST /tasks/{task}/stop with mode `immediate`");
        }
        Remedy::ImportCorpus => "import documents: POST /corpora/NAME/files",
        Remedy::SearchByWords => "search by words meanwhile (`method=bm25`)",
        Remedy::SearchByWordsOrReword => {
            "search by words instead (`method=bm25`), or write the text in a language that the model supports"
        }
        Remedy::RebuildEmbeddings => "run `lyra embeddings rebuild` on the machine of the server",
        Remedy::SelectSources => {
            "name some in `sources`, or set `default` under [sources] in the configuration"
        }
        Remedy::TestSources => "query them now: POST /sources/test",
        Remedy::ListViews => "GET /views lists the views",
        Remedy::ListDomainDecisions => "GET /domains shows the patterns",
        Remedy::FindClaims => "GET /tasks/TASK/report has the ids of a task's claims",
        Remedy::ListWaitingPages => "GET /auth-queue shows the waiting pages",
        Remedy::VisitWaitingPages => {
            "GET /auth-queue lists them; run `lyra auth open ID` on your machine, or skip them: POST \
             /auth-queue/ID/skip"
        }
        Remedy::HandOverCookies => {
            "open the page in a browser on another machine, save its cookies to a file, and run `lyra auth resolve ID \
             --cookies FILE`"
        }
        Remedy::ActivateCalibration => {
            "a rollback only goes back; `lyra calibration activate` activates any version"
        }
        Remedy::InspectTasks => "GET /tasks/TASK shows why; fix the cause, and search again",
        Remedy::StartWorkers => "start `lyra serve`",
        Remedy::GiveRun => "give a run that `lyra fuse search`, `blend` or `mutate` printed",
        Remedy::SaveLanes => "give the run of a lane, which `lyra fuse search` printed",
        Remedy::FuseRun => {
            "fuse it first with `lyra fuse blend`, which prints a run that begins with fusion-"
        }
        Remedy::BlendLanes => "blend the runs of lanes; `lyra fuse mutate` changes a fusion run",
        Remedy::BlendAgain => {
            "they are registered once per run, and runs derived from it keep them; blend its lanes again to get a run \
             without judgments"
        }
        Remedy::GiveDocumentsOfRun => "give documents that the run was shown to have",
        Remedy::SearchLane { .. } => "`lyra lanes` lists the lanes with their kinds",
        Remedy::SearchLanesSingly => "search the lanes one by one with `lyra fuse search`",
        Remedy::NameBackup | Remedy::ReplaceBackup | Remedy::ReplaceData => {
            "run `lyra backup --help`, which says what it needs"
        }
        Remedy::GiveLabeledClaims | Remedy::GiveScifactClaims => {
            "run `lyra eval --help`, which explains the layouts"
        }
    };
    fixed.to_owned()
}
