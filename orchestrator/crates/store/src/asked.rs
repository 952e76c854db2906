//! Questions to a language model, and the citations that its answers created.

use crate::rows::{RowExt, json};
use crate::{Result, Store, pages};
use lyra_domain::{JobId, PageId, QuestionId, TaskId};
use lyra_research::ports::{Asked, CitedPage, LlmUse, Purpose};
use sqlx::SqliteConnection;
use std::collections::HashMap;

impl Store {
    pub(crate) async fn write_cited(&self, cited: &[CitedPage], cause: &JobId) -> Result<Vec<PageId>> {
        let now = self.stamp();
        let mut ids = Vec::with_capacity(cited.len());
        let mut tx = self.write().await?;
        for CitedPage { page, work } in cited {
            ids.push(pages::put_cited(&mut tx, page, work.as_ref(), cause, &now).await?);
        }
        tx.commit().await?;
        Ok(ids)
    }

    pub(crate) async fn read_asked(&self, ids: &[QuestionId]) -> Result<HashMap<QuestionId, Asked>> {
        let ids: Vec<&str> = ids.iter().map(QuestionId::as_str).collect();
        let found = sqlx::query(
            "SELECT * FROM llm_questions WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq",
        )
        .bind(json(&ids)?)
        .fetch_all(self.reader())
        .await?;
        found
            .iter()
            .map(|row| {
                let answer: Option<String> = row.value("answer")?;
                let why: Option<String> = row.value("fallback_reason")?;
                let answer = answer.and_then(|text| serde_json::from_str(&text).ok());
                let asked = Asked {
                    id: row.parsed("id")?,
                    task_id: row.parsed("task_id")?,
                    job_id: row.parsed("job_id")?,
                    purpose: row.parsed("purpose")?,
                    subject: row.value("subject")?,
                    model: row.value("model")?,
                    outcome: answer.ok_or_else(|| why.unwrap_or_default()),
                    calls: row.value("calls")?,
                    failures: row.value("failures")?,
                    seconds: row.value("seconds")?,
                };
                Ok((asked.id.clone(), asked))
            })
            .collect()
    }

    pub(crate) async fn write_asked(&self, asked: &Asked) -> Result<()> {
        let (answer, why) = match &asked.outcome {
            Ok(answer) => (Some(json(answer)?), None),
            Err(why) => (None, Some(why)),
        };
        let mut tx = self.write().await?;
        sqlx::query(
            "INSERT INTO llm_questions (id, task_id, job_id, purpose, subject, model, answer, fallback_reason, calls,
                 failures, seconds, asked_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (id) DO UPDATE SET
                 job_id = excluded.job_id, model = excluded.model, answer = excluded.answer,
                 fallback_reason = excluded.fallback_reason, calls = calls + excluded.calls,
                 failures = failures + excluded.failures, seconds = seconds + excluded.seconds,
                 asked_at = excluded.asked_at
             WHERE answer IS NULL",
        )
        .bind(asked.id.as_str())
        .bind(asked.task_id.as_str())
        .bind(asked.job_id.as_str())
        .bind(asked.purpose.as_str())
        .bind(&asked.subject)
        .bind(&asked.model)
        .bind(answer)
        .bind(why)
        .bind(asked.calls)
        .bind(asked.failures)
        .bind(asked.seconds)
        .bind(self.stamp())
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(())
    }

    pub(crate) async fn read_seconds_asked(&self, task: &TaskId) -> Result<HashMap<Purpose, f64>> {
        let found = sqlx::query(
            "SELECT purpose, sum(seconds) AS seconds FROM llm_questions WHERE task_id = ? GROUP BY purpose",
        )
        .bind(task.as_str())
        .fetch_all(self.reader())
        .await?;
        found.iter().map(|row| Ok((row.parsed("purpose")?, row.value("seconds")?))).collect()
    }
}

/// A task's use of a language model; `None` when nothing was asked.
pub(crate) async fn load_usage(connection: &mut SqliteConnection, task: &TaskId) -> Result<Option<LlmUse>> {
    let row = sqlx::query(
        "SELECT count(*) AS questions, coalesce(sum(calls), 0) AS calls, coalesce(sum(failures), 0) AS failures,
             coalesce(sum(answer IS NULL), 0) AS fallbacks, coalesce(sum(seconds), 0.0) AS seconds
         FROM llm_questions WHERE task_id = ?",
    )
    .bind(task.as_str())
    .fetch_one(connection)
    .await?;
    let count = |name| row.value::<i64>(name).map(i64::unsigned_abs);
    let used = LlmUse {
        questions: count("questions")?,
        calls: count("calls")?,
        failures: count("failures")?,
        fallbacks: count("fallbacks")?,
        seconds: row.value("seconds")?,
    };
    Ok((used.questions > 0).then_some(used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use lyra_domain::{Doi, FetchMethod, Page, PaperMetadata, Work, WorkId};
    use lyra_research::ports::{QuestionLog, SearchStore};

    fn asked(task: &TaskId, job: &str, outcome: Result<serde_json::Value, String>) -> Asked {
        Asked {
            id: QuestionId::derive(&["q"]),
            task_id: task.clone(),
            job_id: job.parse().unwrap(),
            purpose: Purpose::Relevance,
            subject: "doi:10.1/x".to_owned(),
            model: "ollama:m".to_owned(),
            outcome,
            calls: 2,
            failures: 1,
            seconds: 1.5,
        }
    }

    #[tokio::test]
    async fn an_answer_stays_and_a_question_without_one_can_be_asked_again() {
        let bench = Bench::new().await;
        let task = bench.task(&[]).await.id;
        let (store, id) = (&bench.store, QuestionId::derive(&["q"]));
        assert_eq!(store.task_status(&task).await.unwrap().llm, None);
        store.record_asked(&asked(&task, "job_1", Err("down".to_owned()))).await.unwrap();
        let answer = serde_json::json!({"score": 7});
        store.record_asked(&asked(&task, "job_2", Ok(answer.clone()))).await.unwrap();
        store.record_asked(&asked(&task, "job_3", Err("down".to_owned()))).await.unwrap();
        let known = store.load_asked(&[id.clone(), QuestionId::derive(&["other"])]).await.unwrap();
        let expect = Asked { calls: 4, failures: 2, seconds: 3.0, ..asked(&task, "job_2", Ok(answer)) };
        assert_eq!(known, HashMap::from([(id, expect)]));
        assert_eq!(store.seconds_asked(&task).await.unwrap(), HashMap::from([(Purpose::Relevance, 3.0)]));
        let used = LlmUse { questions: 1, calls: 4, failures: 2, fallbacks: 0, seconds: 3.0 };
        assert_eq!(store.task_status(&task).await.unwrap().llm, Some(used));
    }

    fn cited(url: &str, doi: Option<&str>) -> CitedPage {
        let work = doi.map(|doi| Work { doi: Doi::parse(doi), ..Work::default() });
        let page = Page {
            id: PageId::derive(&["url", url]),
            url: url.to_owned(),
            domain: "example.org".to_owned(),
            domain_category: "unverified".to_owned(),
            title: String::new(),
            work_id: work.as_ref().map(Work::id),
            language: None,
            fetch_method: FetchMethod::Http,
            paper_metadata: PaperMetadata::default(),
        };
        CitedPage { page, work }
    }

    #[tokio::test]
    async fn a_cited_page_is_known_by_its_address_or_its_doi_and_belongs_to_no_task() {
        let bench = Bench::new().await;
        let (store, cause) = (&bench.store, "job_1".parse().unwrap());
        let pages = [
            cited("https://a.example/1", None),
            cited("https://doi.org/10.1000/x", Some("10.1000/x")),
            cited("https://journal.example/x", Some("10.1000/X")),
        ];
        let ids = store.register_cited(&pages, &cause).await.unwrap();
        assert_eq!(ids[1], ids[2], "one work is one page");
        assert_eq!(store.register_cited(&pages, &cause).await.unwrap(), ids);
        let row: (i64, i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM pages WHERE error LIKE 'not fetched%'),
                 (SELECT count(*) FROM task_pages)",
        )
        .fetch_one(store.reader())
        .await
        .unwrap();
        assert_eq!(row, (2, 2, 0));
        let work: String =
            sqlx::query_scalar("SELECT id FROM works").fetch_one(store.reader()).await.unwrap();
        assert_eq!(work, WorkId::from_doi(&Doi::parse("10.1000/x").unwrap()).to_string());
    }
}
