//! Asking a language model within bounds: every question once per task, within a share of the task's time, with rules
//! ready to take over.

mod questions;

pub(crate) use questions::{ExtractClaims, IsCitation, Question, Usefulness, YesNo};
pub use questions::{check_answer, sample_prompt};

use crate::Result;
use crate::context::{Context, Llm};
use crate::ports::{Asked, LlmUse, Purpose};
use futures::{StreamExt, TryStreamExt};
use lyra_domain::{Job, QuestionId, Task};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// After so many questions in a row without an answer, a job asks no more.
const FAILURES_TO_STOP: u32 = 3;
/// Part of the share that searches may use, so that the extraction of claims, which comes last, has some left.
const SEARCHES_PART: f64 = 0.5;

/// Why no more questions are asked.
const SHARE_USED: &str = "its share of the time budget is used up";

/// Asks for one job.
pub(crate) struct Asker<'p> {
    context: &'p Context,
    llm: &'p Llm,
    job: &'p Job,
    /// Seconds that the task may spend on asking.
    share: f64,
    state: Mutex<State>,
}

struct State {
    /// Seconds spent by the task, by purpose.
    spent: HashMap<Purpose, f64>,
    /// Until here time has been charged to a question.
    charged: Instant,
    used: LlmUse,
    failed_in_a_row: u32,
}

/// What became of one question.
struct Outcome<A> {
    answer: Result<A, String>,
    calls: u32,
}

/// Answers in the order of the questions; `None` where rules have to do.
pub(crate) struct Answers<A> {
    pub(crate) answers: Vec<Option<A>>,
    /// Requests that they took, those of an earlier attempt of the job included.
    pub(crate) calls: usize,
}

impl<'p> Asker<'p> {
    /// `None` when no language model is configured.
    pub(crate) async fn new(context: &'p Context, job: &'p Job, task: &Task) -> Result<Option<Self>> {
        let Some(llm) = &context.llm else { return Ok(None) };
        let state = State {
            spent: context.store.seconds_asked(&task.id).await?,
            charged: Instant::now(),
            used: LlmUse::default(),
            failed_in_a_row: 0,
        };
        let share = llm.time_share * f64::from(task.config.budget.max_seconds);
        Ok(Some(Self { context, llm, job, share, state: Mutex::new(state) }))
    }

    /// What this job has used so far.
    pub(crate) fn used(&self) -> LlmUse {
        self.state().used
    }

    /// Asks these questions, the first ones first and several at once. Those that the task has asked before are not asked
    /// again; one without an answer is asked again only by another job.
    pub(crate) async fn ask_all<Q: Question>(&self, questions: &[Q]) -> Result<Answers<Q::Answer>> {
        let ids: Vec<QuestionId> = questions.iter().map(|question| question.id(&self.job.task_id)).collect();
        let known = self.context.store.load_asked(&ids).await?;
        self.state().charged = Instant::now();
        let until = Instant::now() + self.left(Q::PURPOSE);
        // Made before they are streamed: a closure over references gives futures that are not Send.
        let asking: Vec<_> = questions
            .iter()
            .zip(&ids)
            .map(|(question, id)| self.ask(question, id, known.get(id), until))
            .collect();
        let outcomes: Vec<Outcome<Q::Answer>> =
            futures::stream::iter(asking).buffered(self.llm.model.concurrency()).try_collect().await?;
        self.warn_of_fallbacks(Q::PURPOSE, &outcomes).await?;
        let calls = outcomes.iter().map(|outcome| outcome.calls as usize).sum();
        Ok(Answers { answers: outcomes.into_iter().map(|outcome| outcome.answer.ok()).collect(), calls })
    }

    async fn ask<Q: Question>(
        &self,
        question: &Q,
        id: &QuestionId,
        known: Option<&Asked>,
        until: Instant,
    ) -> Result<Outcome<Q::Answer>> {
        if let Some(outcome) = known.and_then(|known| self.remembered::<Q>(known)) {
            return Ok(outcome);
        }
        let (outcome, calls, failures) = if let Some(why) = self.refusal(question, until).await {
            (Err(why), 0, 0)
        } else {
            let asked = tokio::time::timeout_at(until, self.reply(question)).await;
            let answered = asked.unwrap_or_else(|_| (Err(SHARE_USED.to_owned()), 1, 1));
            self.note(answered.0.is_ok());
            answered
        };
        let seconds = self.charge(Q::PURPOSE);
        self.count(outcome.is_err(), calls, failures, seconds);
        let answer = outcome.as_ref().map_err(Clone::clone).and_then(Q::read);
        let asked = Asked {
            id: id.clone(),
            task_id: self.job.task_id.clone(),
            job_id: self.job.id.clone(),
            purpose: Q::PURPOSE,
            subject: question.subject(),
            model: self.llm.model.name().to_owned(),
            outcome,
            calls,
            failures,
            seconds,
        };
        self.context.store.record_asked(&asked).await?;
        Ok(Outcome { answer, calls })
    }

    /// What the task remembers of a question: an answer counts for ever, a fallback for the job that had to take it, so
    /// that a job that is resumed gives what it would have given, and a later one tries again.
    fn remembered<Q: Question>(&self, known: &Asked) -> Option<Outcome<Q::Answer>> {
        let own = known.job_id == self.job.id;
        let answer = match &known.outcome {
            Ok(value) => Q::read(value),
            Err(why) if own => Err(why.clone()),
            Err(_) => return None,
        };
        let calls = if own { known.calls } else { 0 };
        if own {
            self.count(answer.is_err(), calls, known.failures, known.seconds);
        }
        Some(Outcome { answer, calls })
    }

    /// Why a question is not asked at all.
    async fn refusal<Q: Question>(&self, question: &Q, until: Instant) -> Option<String> {
        if self.state().failed_in_a_row >= FAILURES_TO_STOP {
            return Some(format!("it was skipped after {FAILURES_TO_STOP} failures in a row"));
        }
        if Instant::now() >= until {
            return Some(SHARE_USED.to_owned());
        }
        let (_, untrusted) = question.values();
        let is_hostile = Arc::clone(&self.llm.is_hostile);
        let hostile = tokio::task::spawn_blocking(move || untrusted.iter().any(|(_, text)| is_hostile(text)));
        // A screen that fails lets nothing through.
        hostile.await.unwrap_or(true).then(|| "the text addresses the AI that reads it".to_owned())
    }

    async fn reply<Q: Question>(&self, question: &Q) -> (Result<serde_json::Value, String>, u32, u32) {
        let accept = |value: &serde_json::Value| Q::read(value).map(drop);
        let reply = self.llm.model.ask(&question.prompt(), &accept).await;
        (reply.answer.map_err(|error| error.to_string()), reply.calls, reply.failures)
    }

    /// Time that asking for this may still take.
    fn left(&self, purpose: Purpose) -> Duration {
        let state = self.state();
        let spent = |of: &[Purpose]| of.iter().filter_map(|p| state.spent.get(p)).sum::<f64>();
        let mut left = self.share - spent(Purpose::ALL);
        if purpose != Purpose::ExtractClaims {
            let searches = spent(&[Purpose::Relevance, Purpose::Citation]);
            left = left.min(self.share * SEARCHES_PART - searches);
        }
        Duration::try_from_secs_f64(left.max(0.0)).unwrap_or_default()
    }

    /// The time since the last charge: questions that run at once share the seconds they take.
    fn charge(&self, purpose: Purpose) -> f64 {
        let mut state = self.state();
        let now = Instant::now();
        let seconds = now.duration_since(state.charged).as_secs_f64();
        state.charged = now;
        *state.spent.entry(purpose).or_default() += seconds;
        seconds
    }

    fn note(&self, answered: bool) {
        let mut state = self.state();
        state.failed_in_a_row = if answered { 0 } else { state.failed_in_a_row + 1 };
    }

    fn count(&self, fell_back: bool, calls: u32, failures: u32, seconds: f64) {
        let used = &mut self.state().used;
        used.questions += 1;
        used.calls += u64::from(calls);
        used.failures += u64::from(failures);
        used.fallbacks += u64::from(fell_back);
        used.seconds += seconds;
    }

    async fn warn_of_fallbacks<A>(&self, purpose: Purpose, outcomes: &[Outcome<A>]) -> Result<()> {
        let reasons: Vec<&String> =
            outcomes.iter().filter_map(|outcome| outcome.answer.as_ref().err()).collect();
        let Some(first) = reasons.first() else { return Ok(()) };
        let instead = match purpose {
            Purpose::ExtractClaims => "rules extracted claims instead",
            Purpose::Relevance => "these works keep their place by closeness and impact",
            Purpose::Citation => "these links are not recorded as citations",
        };
        let warning = format!(
            "the language model {} gave no usable answer to {} of {} questions ({purpose}): {instead}; the first reason: {first}",
            self.llm.model.name(),
            reasons.len(),
            outcomes.len(),
        );
        tracing::warn!(task_id = %self.job.task_id, job_id = %self.job.id, warning);
        self.context.store.add_warning(&self.job.task_id, &warning).await
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
