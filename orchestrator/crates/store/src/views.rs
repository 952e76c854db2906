//! The analysis views: SQL templates, and the same as real views `v_…`.

use crate::{Result, Store, StoreError, cells};
use jiff::Timestamp;
use lyra_domain::TaskId;
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, context};
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr, SqliteConnection, SqlitePool, Statement};
use std::sync::LazyLock;

/// A view's name and description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewInfo {
    /// Name, such as `v_contradictions`.
    pub name: &'static str,
    /// Its description, one sentence.
    pub description: &'static str,
}

/// Rows of a view.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewRows {
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// One object per row.
    pub rows: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Whether there are more rows than requested.
    pub truncated: bool,
}

macro_rules! views {
    ($($name:literal: $description:literal,)*) => {
        /// Every view, in the order of the design.
        pub(crate) const VIEWS: &[ViewInfo] =
            &[$(ViewInfo { name: concat!("v_", $name), description: $description },)*];
        const TEMPLATES: &[(&str, &str)] = &[
            $((concat!("v_", $name), include_str!(concat!("../../../../config/views/", $name, ".sql.j2"))),)*
            ("_evidence.sql.j2", include_str!("../../../../config/views/_evidence.sql.j2")),
            ("_numbers.sql.j2", include_str!("../../../../config/views/_numbers.sql.j2")),
            ("_sides.sql.j2", include_str!("../../../../config/views/_sides.sql.j2")),
        ];
    };
}

views! {
    "claim_evidence_summary": "how much supports and refutes each claim, with its confidence",
    "contradictions": "claims with evidence on both sides, with the fragments of each",
    "unsupported_claims": "claims that nothing supports",
    "evidence_chain": "fragments that support a claim whose own source supports another claim",
    "hub_pages": "pages that support more than one claim",
    "citation_flow": "which page cites which, and how far from the searches",
    "citation_clusters": "groups of pages that cite each other",
    "orphan_sources": "supporting pages that no other page cites",
    "evidence_timeline": "evidence by year of publication",
    "claim_temporal_support": "over which years each claim was supported, and how steadily",
    "emerging_consensus": "claims whose support grows over the years",
    "outdated_evidence": "years since the newest evidence of each claim",
    "source_authority": "pages by citations and age",
    "controversy_by_era": "by decade: claims in dispute, claims with one side, and changes of side",
    "citation_age_gap": "how much older cited pages are than the pages that cite them",
    "evidence_freshness": "age of each claim's evidence, and whether any is recent",
}

/// The current year: a row of `view_clock` overrides it.
const YEAR_OF_CLOCK: &str = "CAST(strftime('%Y', coalesce((SELECT now FROM view_clock), 'now')) AS INTEGER)";

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    environment.set_loader(|name| {
        Ok(TEMPLATES.iter().find(|(template, _)| *template == name).map(|(_, text)| (*text).to_owned()))
    });
    environment.set_formatter(|out, _, value| write_sql(out, value));
    environment
});

impl Store {
    /// Every view, in the order of the design.
    pub fn views(&self) -> &'static [ViewInfo] {
        VIEWS
    }

    /// The SQL of a view, for one task when one is given. It is one SELECT, so it can be the body of a CTE. The current
    /// time is `now`, else the store's clock. The name may omit `v_`.
    ///
    /// # Errors
    /// [`StoreError::UnknownView`], naming the nearest one.
    pub fn render_view(&self, name: &str, task: Option<&TaskId>, now: Option<Timestamp>) -> Result<String> {
        let view = find(name)?;
        let year = now.unwrap_or_else(|| self.now()).to_zoned(jiff::tz::TimeZone::UTC).year();
        render(view.name, task, &year.to_string())
    }

    /// At most `limit` rows of a view, for one task and one present when they are given.
    ///
    /// # Errors
    /// [`StoreError::UnknownView`], naming the nearest one.
    pub async fn query_view(
        &self,
        name: &str,
        task: Option<&TaskId>,
        now: Option<Timestamp>,
        limit: u32,
    ) -> Result<ViewRows> {
        let sql = self.render_view(name, task, now)?;
        let limit = limit.max(1) as usize;
        let sql = AssertSqlSafe(format!("{}\nLIMIT {}", sql.trim_end(), limit + 1)).into_sql_str();
        let mut connection = self.reader().acquire().await?;
        let statement = (&mut *connection).prepare(sql).await?;
        let columns = cells::column_names(statement.columns());
        let mut found = statement.query().fetch_all(&mut *connection).await?;
        let truncated = found.len() > limit;
        found.truncate(limit);
        let rows =
            found.iter().map(|row| cells::object(row, &columns, usize::MAX)).collect::<Result<_, _>>()?;
        Ok(ViewRows { columns, rows, truncated })
    }
}

/// Name and SQL of every real view.
pub(crate) fn texts() -> Result<Vec<(&'static str, String)>> {
    let text =
        |view: &ViewInfo| Ok((view.name, render(view.name, None, YEAR_OF_CLOCK)?.trim_end().to_owned()));
    VIEWS.iter().map(text).collect()
}

/// Removes the real views before an upgrade: SQLite refuses to change a table while a view does not compile, as one of
/// an older version may not. [`create`] makes those of this version.
pub(crate) async fn remove(writer: &SqlitePool) -> Result<()> {
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
    for (name, _) in read_views(&mut tx).await? {
        drop_view(&mut tx, &name).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Name and definition of every real view in the database.
async fn read_views(connection: &mut SqliteConnection) -> Result<Vec<(String, String)>> {
    let found = sqlx::query_as(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'view' AND name LIKE 'v\\_%' ESCAPE '\\'",
    );
    Ok(found.fetch_all(connection).await?)
}

async fn drop_view(connection: &mut SqliteConnection, name: &str) -> Result<()> {
    let quoted = name.replace('"', "\"\"");
    connection.execute(AssertSqlSafe(format!("DROP VIEW \"{quoted}\""))).await?;
    Ok(())
}

/// Makes the real views those of this version: missing, changed and leftover ones in one transaction.
pub(crate) async fn create(writer: &SqlitePool) -> Result<()> {
    let wanted = definitions()?;
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
    let mut kept = Vec::new();
    for (name, sql) in read_views(&mut tx).await? {
        if wanted.iter().any(|(wanted, text)| *wanted == name && *text == sql) {
            kept.push(name);
        } else {
            drop_view(&mut tx, &name).await?;
        }
    }
    for (name, sql) in wanted {
        if !kept.iter().any(|kept| kept == name) {
            tx.execute(AssertSqlSafe(sql)).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}

/// The `CREATE VIEW` statement of each real view, by name.
pub(crate) fn definitions() -> Result<Vec<(&'static str, String)>> {
    let texts = texts()?.into_iter();
    Ok(texts.map(|(name, sql)| (name, format!("CREATE VIEW {name} AS {sql}"))).collect())
}

fn find(name: &str) -> Result<&'static ViewInfo> {
    let full = if name.starts_with("v_") { name.to_owned() } else { format!("v_{name}") };
    VIEWS.iter().find(|view| view.name == full).ok_or_else(|| {
        let nearest = crate::guarded::nearest(&full, VIEWS.iter().map(|view| view.name));
        StoreError::UnknownView { name: name.to_owned(), nearest }
    })
}

fn render(name: &str, task: Option<&TaskId>, this_year: &str) -> Result<String> {
    let template = ENVIRONMENT.get_template(name)?;
    let this_year = Value::from_safe_string(this_year.to_owned());
    Ok(template.render(context! { task_id => task.map(TaskId::as_str), this_year })?)
}

/// Writes a value as SQL: text as a literal with escaped quotes.
fn write_sql(out: &mut minijinja::Output<'_>, value: &Value) -> Result<(), Error> {
    let text = match value.kind() {
        ValueKind::String if value.is_safe() => value.to_string(),
        ValueKind::String => format!("'{}'", value.to_string().replace('\'', "''")),
        ValueKind::Number => value.to_string(),
        other => {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                format!("a view cannot write a value of kind {other}"),
            ));
        }
    };
    out.write_str(&text).map_err(Error::from)
}

#[cfg(test)]
mod posterior;
#[cfg(test)]
mod tests;
