//! The versions of the schemas. A file that was released is never edited.
//!
//! Listed by hand: sqlx's macro does the same, and compiles sqlx and SQLite a second time for itself.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use std::sync::LazyLock;

/// Of the database, oldest first.
pub(crate) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| migrator(FILES));
/// Of the private file, oldest first.
pub(crate) static PRIVATE: LazyLock<Migrator> = LazyLock::new(|| migrator(PRIVATE_FILES));

/// Names of files, and what they contain.
type Files = &'static [(&'static str, &'static str)];

macro_rules! files {
    ($folder:literal, $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../", $folder, "/", $name, ".sql")))),*]
    };
}

const FILES: Files = files!(
    "migrations",
    "0001_evidence",
    "0002_operations",
    "0003_full_text",
    "0005_quarantine",
    "0006_language_model",
    "0007_calibration_timeline",
    "0008_domain_claims",
    "0010_exploration",
    "0011_fusion",
    "0012_access",
    "0013_contributions",
    "0014_deaths",
    "0015_judgements",
    "0016_secrets_apart",
    "0017_truthful_columns",
    "0018_open_citation_sources",
    "0019_screening",
    "0020_works_of_edges",
    "0021_expired_runs",
    "0022_saved_searches",
    "0023_fences",
    "0024_domains_of_claims",
    "0025_jobs_by_state",
);

const PRIVATE_FILES: Files = files!("migrations-private", "0001_secrets");

fn migrator(files: Files) -> Migrator {
    let migrations = files.iter().map(|&(name, sql)| {
        let (version, description) = name.split_once('_').unwrap_or((name, ""));
        // A test holds that every name begins with a number.
        let version = version.parse().unwrap_or_default();
        let description = description.replace('_', " ").into();
        Migration::new(version, description, MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use super::{FILES, Files, MIGRATIONS, PRIVATE, PRIVATE_FILES};
    use std::path::Path;

    fn check(folder: &str, files: Files) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let read = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let mut found: Vec<String> =
            std::fs::read_dir(folder).into_iter().flatten().filter_map(read).collect();
        found.sort();
        let listed: Vec<String> = files.iter().map(|(name, _)| format!("{name}.sql")).collect();
        assert_eq!(found, listed);
        assert!(files.iter().all(|(_, sql)| !sql.starts_with("-- no-transaction")));
    }

    #[test]
    fn every_file_is_listed_in_order() {
        check("migrations", FILES);
        check("migrations-private", PRIVATE_FILES);
        for migrations in [&MIGRATIONS, &PRIVATE] {
            let versions: Vec<i64> = migrations.iter().map(|migration| migration.version).collect();
            assert!(versions.first() == Some(&1) && versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        }
    }
}
