//! Ids by how they begin.

use crate::{Result, Store};
use lyra_domain::TaskId;

impl Store {
    /// Ids of tasks that begin with `prefix`, newest first, at most `limit`; and how many there are.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn task_ids(&self, prefix: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        let sql = "SELECT id, count(*) OVER () FROM tasks
                   WHERE substr(id, 1, length(?1)) = ?1 ORDER BY seq DESC LIMIT ?2";
        let found = sqlx::query_as(sql).bind(prefix).bind(limit.cast_signed() as i64);
        Ok(split_total(found.fetch_all(self.reader()).await?))
    }

    /// Ids of runs that begin with `prefix`, newest first, at most `limit`; and how many there are.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn run_ids(&self, prefix: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        let sql = "SELECT id, count(*) OVER () FROM fusion_runs
                   WHERE substr(id, 1, length(?1)) = ?1 ORDER BY seq DESC LIMIT ?2";
        let found = sqlx::query_as(sql).bind(prefix).bind(limit.cast_signed() as i64);
        Ok(split_total(found.fetch_all(self.reader()).await?))
    }

    /// Ids of a task's adopted claims that begin with `prefix`, newest first, at most `limit`; and how many there are.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn claim_ids(&self, task: &TaskId, prefix: &str, limit: usize) -> Result<(Vec<String>, u64)> {
        let sql = "SELECT id, count(*) OVER () FROM claims
                   WHERE task_id = ?3 AND claim_adoption_status = 'adopted'
                   AND substr(id, 1, length(?1)) = ?1 ORDER BY seq DESC LIMIT ?2";
        let found = sqlx::query_as(sql).bind(prefix).bind(limit.cast_signed() as i64).bind(task.as_str());
        Ok(split_total(found.fetch_all(self.reader()).await?))
    }
}

/// The ids, and the total count that accompanies each of them.
fn split_total(found: Vec<(String, i64)>) -> (Vec<String>, u64) {
    let total = found.first().map_or(0, |(_, total)| total.unsigned_abs());
    (found.into_iter().map(|(id, _)| id).collect(), total)
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, Graph};

    #[tokio::test]
    async fn ids_that_exist_newest_first() {
        let bench = Bench::new().await;
        let (first, second) = (Graph::new(&bench).await, Graph::new(&bench).await);
        let newest = vec![second.task.id.to_string(), first.task.id.to_string()];
        assert_eq!(bench.store.task_ids("", 10).await.unwrap(), (newest.clone(), 2));
        assert_eq!(bench.store.task_ids("task_", 1).await.unwrap(), (newest[..1].to_vec(), 2));
        assert_eq!(bench.store.task_ids("task\\_%", 10).await.unwrap(), (vec![], 0), "no wildcards");
        let prefix = &first.growing.id.as_str()[..12];
        let expect = (vec![first.growing.id.to_string()], 1);
        assert_eq!(bench.store.claim_ids(&first.task.id, prefix, 10).await.unwrap(), expect);
        bench.store.reject_claim(&first.growing.id, "off").await.unwrap();
        assert_eq!(bench.store.claim_ids(&first.task.id, prefix, 10).await.unwrap(), (vec![], 0));
        assert_eq!(bench.store.claim_ids(&first.task.id, "claim_", 10).await.unwrap().1, 2);
    }
}
