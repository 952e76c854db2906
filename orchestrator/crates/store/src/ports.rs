//! The pipeline's ports, each method by the part of the store that knows how.

use crate::Store;
use async_trait::async_trait;
use lyra_domain::{
    Claim, ClaimId, Edge, FragmentId, Job, JobId, JobKind, NotJudged, PageId, Query, QueryId, QuestionId,
    Task, TaskId,
};
use lyra_research::Result;
use lyra_research::ports::{
    Asked, AuthQueue, CitedPage, ClaimStore, EmbeddingTarget, EvidenceStore, FragmentRank, JobQueue, NewPage,
    Purpose, QuestionLog, SearchStore, SessionStore, TaskFragment, TaskStore, VectorStore, Waiting,
};
use lyra_research::trace::Cause;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

#[async_trait]
impl TaskStore for Store {
    async fn task(&self, task: &TaskId) -> Result<Task> {
        Ok(self.read_task(task).await?)
    }

    async fn task_pages(&self, task: &TaskId) -> Result<HashSet<PageId>> {
        Ok(self.read_task_pages(task).await?)
    }

    async fn task_fragments(&self, task: &TaskId) -> Result<Vec<TaskFragment>> {
        Ok(self.read_task_fragments(task).await?)
    }

    async fn add_warning(&self, task: &TaskId, warning: &str) -> Result<()> {
        Ok(self.write_warning(task, warning).await?)
    }
}

#[async_trait]
impl SearchStore for Store {
    async fn query(&self, query: &QueryId) -> Result<Query> {
        Ok(self.read_query(query).await?)
    }

    async fn update_query(&self, query: &Query) -> Result<()> {
        Ok(self.write_query(query).await?)
    }

    async fn register_pages(
        &self,
        query: &Query,
        pages: &[NewPage],
        cause: &JobId,
    ) -> Result<Vec<Option<PageId>>> {
        Ok(self.write_pages(query, pages, cause).await?)
    }

    async fn register_cited(&self, pages: &[CitedPage], cause: &JobId) -> Result<Vec<PageId>> {
        Ok(self.write_cited(pages, cause).await?)
    }

    async fn load_finders(&self, query: &QueryId) -> Result<Vec<(PageId, String, usize)>> {
        Ok(self.read_found_by(query).await?)
    }

    async fn record_ranking(&self, query: &QueryId, ranks: &[FragmentRank]) -> Result<()> {
        Ok(self.write_ranking(query, ranks).await?)
    }

    async fn rankings(&self, task: &TaskId) -> Result<Vec<(Query, Vec<FragmentRank>)>> {
        Ok(self.read_rankings(task).await?)
    }
}

#[async_trait]
impl ClaimStore for Store {
    async fn claim(&self, claim: &ClaimId) -> Result<Claim> {
        Ok(self.read_claim(claim).await?)
    }

    async fn task_claims(&self, task: &TaskId) -> Result<Vec<Claim>> {
        Ok(self.read_task_claims(task).await?)
    }

    async fn add_claims(&self, claims: &[Claim], cause: &JobId) -> Result<()> {
        Ok(self.write_claims(claims, cause).await?)
    }

    async fn verify_claims(&self, task: &TaskId, cause: &JobId) -> Result<()> {
        Ok(self.verify_task(task, cause).await?)
    }

    async fn load_judged_fragments(&self, claim: &ClaimId) -> Result<HashSet<FragmentId>> {
        Ok(self.read_judged(claim).await?)
    }

    async fn add_edges(&self, task: &TaskId, edges: &[Edge], cause: &JobId) -> Result<()> {
        Ok(self.write_edges(task, edges, cause).await?)
    }

    async fn add_not_judged(
        &self,
        claim: &ClaimId,
        passages: &[(FragmentId, NotJudged)],
        cause: &JobId,
    ) -> Result<()> {
        Ok(self.write_not_judged(claim, passages, cause).await?)
    }
}

#[async_trait]
impl VectorStore for Store {
    async fn embeddings(
        &self,
        model: &str,
        targets: &[EmbeddingTarget],
    ) -> Result<HashMap<EmbeddingTarget, Vec<f32>>> {
        Ok(self.read_embeddings(model, targets).await?)
    }

    async fn put_embeddings(&self, model: &str, vectors: &[(EmbeddingTarget, Vec<f32>)]) -> Result<()> {
        Ok(self.write_embeddings(model, vectors).await?)
    }
}

#[async_trait]
impl QuestionLog for Store {
    async fn load_asked(&self, ids: &[QuestionId]) -> Result<HashMap<QuestionId, Asked>> {
        Ok(self.read_asked(ids).await?)
    }

    async fn record_asked(&self, asked: &Asked) -> Result<()> {
        Ok(self.write_asked(asked).await?)
    }

    async fn seconds_asked(&self, task: &TaskId) -> Result<HashMap<Purpose, f64>> {
        Ok(self.read_seconds_asked(task).await?)
    }
}

#[async_trait]
impl AuthQueue for Store {
    async fn await_person(
        &self,
        query: &Query,
        source: &str,
        waiting: &[Waiting],
        cause: &JobId,
    ) -> Result<usize> {
        Ok(self.write_waiting(query, source, waiting, cause).await?)
    }
}

#[async_trait]
impl SessionStore for Store {
    async fn session(&self, domain: &str) -> Result<Option<String>> {
        Ok(self.read_session(domain).await?)
    }
}

#[async_trait]
impl JobQueue for Store {
    async fn lease(&self, task: Option<&TaskId>, lease: Duration) -> Result<Option<Job>> {
        Ok(self.lease_job(task, lease).await?)
    }

    fn on_behalf_of(&self, job: &Job) -> Arc<dyn EvidenceStore> {
        Arc::new(Self::on_behalf_of(self, job))
    }

    async fn renew(&self, job: &Job, lease: Duration) -> Result<bool> {
        Ok(self.renew_lease(job, lease).await?)
    }

    async fn complete(&self, job: &Job, output: serde_json::Value, then: &[JobKind]) -> Result<()> {
        Ok(self.complete_job(job, &output, then).await?)
    }

    async fn fail(&self, job: &Job, error: &str, retry_after: Option<Duration>) -> Result<()> {
        Ok(self.fail_job(job, error, retry_after).await?)
    }

    async fn cause(&self, job: &JobId) -> Result<Option<Cause>> {
        Ok(self.job_cause(job).await?)
    }

    async fn seconds_used(&self, task: &TaskId) -> Result<f64> {
        Ok(self.job_seconds(task).await?)
    }
}
