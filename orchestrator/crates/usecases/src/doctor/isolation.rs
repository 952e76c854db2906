//! Whether work that outsiders supply runs in processes of its own, and what the system enforces on them.

use super::Finding;
use crate::App;
use crate::worker::{BackupReaders, SqlJob};
use lyra_store::GuardOptions;
use lyra_worker::{Confinement, WorkerError};

const PART: &str = "isolation";
const CURE: &str = "let lyra start processes (limits on processes, a seccomp filter, a missing /proc)";
const NOTE: &str = "agents' SQL, web pages, imports and backups are worked on in this process, without the kernel's \
     limits on memory and processor time";

impl App {
    /// Starts a worker of each kind.
    pub(crate) async fn isolation(&self) -> Finding {
        let Some(pool) = &self.inner.statements.pool else { return Finding::note(PART, NOTE, CURE) };
        let statement = match SqlJob::new("SELECT 1", GuardOptions::default()).run(pool).await {
            Ok(Ok(_)) => pool.confinement(),
            Ok(Err(error)) => {
                return Finding::broken(PART, error.to_string(), "restore the data folder from a backup");
            }
            Err(error) => return not_started(&error),
        };
        let others = async {
            let page = self.web().parser.confinement().await?;
            let import = self.inner.imports.confinement().await?;
            let readers = BackupReaders::new(self.inner.config.worker_program.clone());
            let [archive, backup] = readers.confinement(self.data_dir()).await?;
            Ok::<_, WorkerError>([statement, page, import, archive, backup])
        };
        match others.await {
            Ok(all) => confined(&all.map(Option::unwrap_or_default)),
            Err(error) => not_started(&error),
        }
    }
}

fn not_started(error: &WorkerError) -> Finding {
    match error {
        WorkerError::Start { .. } => Finding::note(PART, format!("{NOTE}: {error}"), CURE),
        _ => Finding::broken(PART, error.to_string(), CURE),
    }
}

fn confined(workers: &[Confinement]) -> Finding {
    const SEEN: &str = "agents' SQL, web pages, imports and backups are worked on in processes of their own under the \
         kernel's limits";
    let files = workers.iter().all(|worker| worker.files);
    let calls = workers.iter().all(|worker| worker.calls);
    match (files, calls) {
        (true, true) => {
            Finding::ok(PART, format!("{SEEN}, without network and with access to nothing but their files"))
        }
        _ if !cfg!(target_os = "linux") => Finding::ok(PART, SEEN),
        _ => {
            let missing = [(files, "Landlock (files)"), (calls, "seccomp (system calls)")];
            let missing: Vec<&str> =
                missing.iter().filter(|(enforced, _)| !enforced).map(|(_, name)| *name).collect();
            let seen = format!("{SEEN}; the kernel does not offer {}", missing.join(" or "));
            Finding::note(PART, seen, "use a kernel with Landlock (Linux 5.13) and seccomp filters")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn what_a_kernel_lacks_is_named() {
        let all = Confinement { files: true, calls: true };
        assert_eq!(confined(&[all, all]).health, Health::Ok);
        let some = confined(&[all, Confinement { files: false, ..all }]);
        if cfg!(target_os = "linux") {
            assert_eq!(some.health, Health::Note);
            assert!(some.seen.contains("Landlock") && !some.seen.contains("seccomp"), "{}", some.seen);
        }
    }
}
