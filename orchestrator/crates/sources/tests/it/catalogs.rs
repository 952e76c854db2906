//! ClinicalTrials.gov, Wikipedia, DataCite, DOAJ, CORE, and Unpaywall, opened by their rows: what they read, how they
//! ask, what they do when answers are wrong, and what they add to a task.

mod answers;
mod faults;
mod reading;
mod task;
mod unpaywall;

use crate::support::{StandIn, client};
pub(crate) use answers::NAMES;
use lyra_domain::{Doi, Identifier};
use lyra_research::ports::Hit;
use lyra_sources::registry::Access;
use lyra_sources::{ApiConfig, ApiSource, PROVIDERS};
use std::sync::Arc;
use std::time::Duration;

/// The source of this name, toward a stand-in, with an email address.
fn open(name: &str, server: &StandIn) -> Arc<dyn ApiSource> {
    open_with(name, server, |config| config)
}

fn open_with(name: &str, server: &StandIn, set: impl Fn(ApiConfig) -> ApiConfig) -> Arc<dyn ApiSource> {
    let provider = PROVIDERS.iter().find(|provider| provider.name == name).unwrap();
    let Access::Api { open, address } = provider.access else { panic!("{name} is no API") };
    assert!(address.starts_with("https://") && !provider.by_default, "{name}");
    let config = ApiConfig {
        base_url: server.at("api"),
        trusted: true,
        api_key: None,
        mailto: Some("me@example.org".to_owned()),
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    };
    open(client(None), &set(config))
}

fn doi(text: &str) -> Identifier {
    Identifier::Doi(Doi::parse(text).unwrap())
}

/// What it finds for a query; of Unpaywall, which answers none, what it knows of two DOIs.
async fn found(source: &dyn ApiSource) -> lyra_research::Result<Vec<Hit>> {
    if source.name() == "unpaywall" {
        return source.scholarly().unwrap().lookup(&[doi("10.1000/1"), doi("10.1000/2")]).await;
    }
    Ok(source.search("green tea: attention?", None, 10).await?.hits)
}
