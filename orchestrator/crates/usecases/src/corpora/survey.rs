//! What a corpus holds as a library: tags and collections, and works that are there twice.

use crate::{App, AppError};
use lyra_corpus::{CorpusError, Duplicates, Labels, Narrow};
use lyra_domain::TaskConfig;
use tokio_util::sync::CancellationToken;

impl App {
    /// The tags and collections of a corpus, with how many documents have them.
    ///
    /// # Errors
    /// No such corpus, or one that cannot be read.
    pub async fn corpus_labels(&self, name: &str) -> Result<Labels, AppError> {
        Ok(self.inner.corpora.labels(name).await?)
    }

    /// That each tag and collection of a task is one of its corpora's.
    pub(crate) async fn check_narrowed(&self, config: &TaskConfig) -> Result<(), AppError> {
        let narrow = Narrow::of(&config.tags, &config.collections)?;
        if config.corpora.is_empty() && !narrow.filters.is_empty() {
            return Err(AppError::invalid(
                "tags and collections narrow corpora, and no corpus is searched",
                "name a corpus, or leave them out",
            ));
        }
        for filter in &narrow.filters {
            let mut unknown = None;
            for name in &config.corpora {
                match self.inner.corpora.check_filters(name, std::slice::from_ref(filter)).await {
                    Err(error @ CorpusError::Filter(_)) => unknown = unknown.or(Some(error)),
                    other => {
                        other?;
                        unknown = None;
                        break;
                    }
                }
            }
            if let Some(error) = unknown {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Documents of a corpus that are probably one work, in groups with the reasons.
    ///
    /// # Errors
    /// No such corpus, one that cannot be read, or a search that was cancelled.
    pub async fn corpus_duplicates(
        &self,
        name: &str,
        cancel: &CancellationToken,
    ) -> Result<Vec<Duplicates>, AppError> {
        Ok(self.inner.corpora.duplicates(name, cancel).await?)
    }
}
