//! Remedies, in the words of the command line.

use lyra_usecases::Remedy;

/// What to do, as commands and flags of `lyra`.
pub(super) fn words(remedy: &Remedy) -> String {
    let fixed = match remedy {
        Remedy::Advice(advice) => return advice.clone(),
        Remedy::ReimportCorpus { name } => {
            let name = name.as_deref().unwrap_or("NAME");
            return format!(
                "import it again: lyra corpus remove {name}, then lyra corpus import {name} FILE"
            );
        }
        Remedy::StopTask { task } => return format!("stop it first: lyra task stop {task} --immediate"),
        Remedy::ImportCorpus => "import documents with: lyra corpus import NAME FILE",
        Remedy::SearchByWords => "search by words meanwhile (`--method bm25`)",
        Remedy::SearchByWordsOrReword => {
            "search by words instead (`--method bm25`), or write the text in a language that the model supports"
        }
        Remedy::RebuildEmbeddings => "lyra embeddings rebuild",
        Remedy::SelectSources => {
            "name some with --sources, or set `default` under [sources] in the configuration"
        }
        Remedy::TestSources => "to query them now: lyra sources test",
        Remedy::ListViews => "`lyra view list` lists the views",
        Remedy::ListDomainDecisions => "`lyra domain list` shows the patterns",
        Remedy::FindClaims => "`lyra task show ID --json` has the ids of a task's claims",
        Remedy::ListWaitingPages => "`lyra auth list` shows the waiting items",
        Remedy::VisitWaitingPages => {
            "list them: lyra auth list; open one: lyra auth open ID; or skip it: lyra auth skip ID"
        }
        Remedy::HandOverCookies => {
            "on a machine without a display, open the page in a browser on another machine, save its cookies to a \
             file, and run: lyra auth resolve ID --cookies FILE"
        }
        Remedy::ActivateCalibration => {
            "a rollback only goes back; `lyra calibration activate` activates any version"
        }
        Remedy::InspectTasks => "see why with lyra task show ID, fix the cause, and search again",
        Remedy::StartWorkers => {
            "start lyra serve or lyra mcp, or resume a task: lyra task list, lyra task resume ID"
        }
        Remedy::GiveRun => "give a run that `lyra fuse search`, `blend` or `mutate` printed",
        Remedy::SaveLanes => "give the run of a lane, which `lyra fuse search` printed",
        Remedy::FuseRun => {
            "fuse it first with `lyra fuse blend`, which prints a run that begins with fusion-"
        }
        Remedy::BlendLanes => "blend the runs of lanes; `lyra fuse mutate` changes a fusion run",
        Remedy::BlendAgain => {
            "they are registered once per run, and runs derived from it keep them; blend its lanes with `lyra fuse \
             blend` to get a run without judgments"
        }
        Remedy::GiveDocumentsOfRun => {
            "give documents that `lyra fuse peek` or `provenance` showed for this run"
        }
        Remedy::SearchLane { .. } => "`lyra lanes` lists the lanes with their kinds",
        Remedy::SearchLanesSingly => "search the lanes one by one with `lyra fuse search`",
        Remedy::NameBackup => "name a folder or file that `lyra backup create` has written",
        Remedy::ReplaceBackup => {
            "name a new file (.tar, .tar.gz) or a new folder, or replace a backup with --force"
        }
        Remedy::ReplaceData => {
            "name another folder with --data-dir, or replace the data with --force: it is kept beside the new"
        }
        Remedy::GiveLabeledClaims => {
            "give a labeled file, or a folder in SciFact's layout; see: lyra eval --help"
        }
        Remedy::GiveScifactClaims => "use --corpus with claims in SciFact's layout",
    };
    fixed.to_owned()
}
