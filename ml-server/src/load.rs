//! From a configuration to an engine.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use lyra_proto::ModelKind;

use crate::config::ServerConfig;
use crate::engine::Engine;
use crate::engine::metrics::Metrics;
use crate::error::{Error, panic_message};
use crate::model::device::{Candidates, Device};
use crate::model::labels::NliLabels;
use crate::model::spec::Task;
use crate::model::{Model, ModelSource};

/// Loads the configured models side by side and starts an engine over them. Blocks.
///
/// # Errors
/// The first model that fails, see [`Model::load`]; [`Error::WrongTask`] for an embedder in the place of a classifier or
/// the other way round.
pub(crate) fn engine(config: &ServerConfig, metrics: Arc<Metrics>) -> Result<Engine, Error> {
    let candidates = Candidates::open(config.device, config.backend, config.precision)?;
    let load = |kind, source: &Option<ModelSource>| {
        source.as_ref().map(|source| model(kind, source, &candidates, config)).transpose()
    };
    let sources = [
        (ModelKind::Embed, &config.embed),
        (ModelKind::Nli, &config.nli),
        (ModelKind::Verify, &config.verify),
    ];
    let loaded = std::thread::scope(|scope| {
        let load = &load;
        let threads = sources.map(|(kind, source)| (kind, scope.spawn(move || load(kind, source))));
        threads.map(|(kind, thread)| {
            let panicked = |panic: Box<dyn Any + Send>| Err(Error::Start(panic_message(panic.as_ref())));
            (kind, thread.join().unwrap_or_else(panicked))
        })
    });
    let mut models = Vec::new();
    for (kind, model) in loaded {
        models.extend(model?.map(|model| (kind, Arc::new(model))));
    }
    for (kind, model) in &models {
        metrics.backend(*kind, model);
    }
    // Models on slower devices must not be given more than those take.
    let batch_tokens = models.iter().map(|(_, model)| model.batch_tokens).min();
    let batch_tokens = batch_tokens.unwrap_or_else(|| config.batch_tokens(&Device::Cpu));
    Engine::start(models, config.threads, &config.limits, batch_tokens, metrics)
}

fn model(
    kind: ModelKind,
    source: &ModelSource,
    candidates: &Candidates,
    config: &ServerConfig,
) -> Result<Model, Error> {
    let started = Instant::now();
    let name = || source.name();
    // Any failure caused by a damaged file becomes an error about that file.
    let model = catch_unwind(AssertUnwindSafe(|| {
        Model::load_best(candidates, source, None, |device| config.batch_tokens(device))
    }));
    let model = model.unwrap_or_else(|panic| {
        let reason = panic_message(panic.as_ref());
        Err(Error::Start(format!(
            "reading model `{}` failed: {reason}; its files are damaged or of an unknown kind",
            name()
        )))
    })?;
    match (kind, &model.spec.task) {
        (ModelKind::Embed, Task::Embed(_)) | (ModelKind::Verify, Task::Verify(_)) => {}
        (ModelKind::Nli, Task::Classify(labels)) => {
            NliLabels::from_names(labels)
                .map_err(|error| Error::Start(format!("model `{}`: {error}", name())))?;
        }
        (kind, task) => {
            let wanted = match kind {
                ModelKind::Embed => "an embedder",
                ModelKind::Nli => "a classifier",
                ModelKind::Verify => "a verifier",
            };
            return Err(Error::WrongTask { model: name(), found: task.kind(), wanted });
        }
    }
    tracing::info!(model = model.spec.name, ?kind, dtype = model.dtype, device = model.device, backend = %model.backend, took = ?started.elapsed(), "model loaded");
    Ok(model)
}
