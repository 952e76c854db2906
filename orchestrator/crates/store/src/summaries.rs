//! Tasks with what they found, for a list of them.

use crate::rows::{self, RowExt};
use crate::tasks::{next_cursor, place};
use crate::{Result, Store};
use lyra_domain::Task;
use sqlx::sqlite::SqliteRow;

/// A task with the numbers of its adopted claims and their judged passages.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSummary {
    /// The task.
    pub task: Task,
    /// Its claims: the sum of the four below.
    pub claims: u64,
    /// Claims with passages on both sides.
    pub contested: u64,
    /// Claims that passages support and none refutes.
    pub supported: u64,
    /// Claims that passages refute and none supports.
    pub refuted: u64,
    /// Claims on which no passage takes a side.
    pub open: u64,
    /// Passages that support a claim.
    pub supporting: u64,
    /// Passages that refute one.
    pub refuting: u64,
    /// Passages that were judged to do neither.
    pub neutral: u64,
}

/// Part of the list of tasks with their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSummaries {
    /// Newest first.
    pub tasks: Vec<TaskSummary>,
    /// The cursor for the next page; `None` at the end.
    pub next_cursor: Option<String>,
}

impl Store {
    /// At most `limit` tasks with their numbers, newest first, from where `cursor` stopped.
    ///
    /// # Errors
    /// [`crate::StoreError::BadCursor`] for a cursor from elsewhere.
    pub async fn task_summaries(&self, limit: u32, cursor: Option<&str>) -> Result<TaskSummaries> {
        let limit = limit.max(1);
        let found = sqlx::query(
            "WITH listed AS (SELECT * FROM tasks WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2),
             judged AS (
                 SELECT claims.task_id, claims.seq,
                        count(*) FILTER (WHERE edges.relation = 'supports') AS supports,
                        count(*) FILTER (WHERE edges.relation = 'refutes') AS refutes,
                        count(*) FILTER (WHERE edges.relation = 'neutral') AS neutral
                 FROM listed
                 CROSS JOIN claims ON claims.task_id = listed.id AND claims.claim_adoption_status = 'adopted'
                 LEFT JOIN edges ON edges.target_id = claims.id
                      AND edges.relation IN ('supports', 'refutes', 'neutral')
                 GROUP BY claims.seq
             ),
             counted AS (
                 SELECT task_id, count(*) AS claims,
                        count(*) FILTER (WHERE supports > 0 AND refutes > 0) AS contested,
                        count(*) FILTER (WHERE supports > 0 AND refutes = 0) AS supported,
                        count(*) FILTER (WHERE supports = 0 AND refutes > 0) AS refuted,
                        count(*) FILTER (WHERE supports + refutes = 0) AS open,
                        sum(supports) AS supporting, sum(refutes) AS refuting, sum(neutral) AS neutral
                 FROM judged
                 GROUP BY task_id
             )
             SELECT listed.*, coalesce(claims, 0) AS claims, coalesce(contested, 0) AS contested,
                    coalesce(supported, 0) AS supported, coalesce(refuted, 0) AS refuted, coalesce(open, 0) AS open,
                    coalesce(supporting, 0) AS supporting, coalesce(refuting, 0) AS refuting,
                    coalesce(neutral, 0) AS neutral
             FROM listed LEFT JOIN counted ON counted.task_id = listed.id
             ORDER BY listed.seq DESC",
        )
        .bind(place(cursor)?)
        .bind(i64::from(limit) + 1)
        .fetch_all(self.reader())
        .await?;
        let shown = &found[..found.len().min(limit as usize)];
        Ok(TaskSummaries {
            tasks: shown.iter().map(summary).collect::<Result<_>>()?,
            next_cursor: next_cursor(&found, shown)?,
        })
    }
}

fn summary(row: &SqliteRow) -> Result<TaskSummary> {
    Ok(TaskSummary {
        task: rows::task(row)?,
        claims: row.count("claims")?,
        contested: row.count("contested")?,
        supported: row.count("supported")?,
        refuted: row.count("refuted")?,
        open: row.count("open")?,
        supporting: row.count("supporting")?,
        refuting: row.count("refuting")?,
        neutral: row.count("neutral")?,
    })
}

#[cfg(test)]
mod tests {
    use crate::StoreError;
    use crate::testing::{Bench, Graph, cause, judged};
    use lyra_research::ports::ClaimStore;

    #[tokio::test]
    async fn tasks_are_listed_with_the_numbers_of_their_claims() {
        let bench = Bench::new().await;
        let store = &bench.store;
        let empty = bench.task(&[]).await;
        let graph = Graph::new(&bench).await;
        let given = bench.task(&["a claim without evidence", "another"]).await;

        let first = store.task_summaries(2, None).await.unwrap();
        let [alone, full] = &first.tasks[..] else { panic!("{first:?}") };
        assert_eq!((&alone.task, &full.task.id), (&given, &graph.task.id));
        assert_eq!((alone.claims, alone.open, alone.supporting), (2, 2, 0));
        assert_eq!((full.claims, full.contested, full.supported, full.refuted, full.open), (3, 1, 1, 0, 1));
        assert_eq!((full.supporting, full.refuting, full.neutral), (4, 1, 1));
        let rest = store.task_summaries(2, first.next_cursor.as_deref()).await.unwrap();
        assert_eq!((rest.tasks.len(), rest.next_cursor), (1, None));
        assert_eq!((&rest.tasks[0].task.id, rest.tasks[0].claims), (&empty.id, 0));

        let refuted = judged(&graph.pages[2].fragments[0].id, &graph.alone.id, (0.0, 0.9, 0.1));
        store.add_edges(&graph.task.id, &[refuted], &cause()).await.unwrap();
        store.reject_claim(&graph.disputed.id, "off").await.unwrap();
        let full = &store.task_summaries(2, None).await.unwrap().tasks[1];
        assert_eq!((full.claims, full.contested, full.supported, full.refuted, full.open), (2, 0, 1, 1, 0));

        let refused = store.task_summaries(2, Some("x")).await.unwrap_err();
        assert!(matches!(refused, StoreError::BadCursor(_)), "{refused}");
    }
}
