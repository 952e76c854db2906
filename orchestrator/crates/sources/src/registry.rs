//! The sources outside, one row each. Whatever depends on which sources exist reads these rows: names in commands and
//! tools, help texts, whose metadata wins, whose citation a link is, health checks.
//!
//! A new source is a folder with its client, a row here, its settings, and its recorded answers.

use crate::api::{ApiConfig, Probe};
use crate::http::HttpClient;
use crate::{
    Arxiv, ClinicalTrials, Core, Crossref, DataCite, Doaj, EuropePmc, OpenAlex, PubMed, Result,
    SemanticScholar, Unpaywall, Wikipedia,
};
use async_trait::async_trait;
use lyra_domain::Precedence;
use lyra_research::ports::{EvidenceSource, SourceKind};
use std::sync::Arc;
use std::time::Duration;

/// Semantic Scholar.
pub const SEMANTIC_SCHOLAR: Provider = Provider {
    name: "semantic_scholar",
    aliases: &["s2", "semanticscholar"],
    title: "Semantic Scholar",
    precedence: Precedence(0),
    by_default: true,
    access: Access::Api {
        address: "https://api.semanticscholar.org/graph/v1",
        open: |http, config| Arc::new(SemanticScholar::new(http, config)),
    },
};

/// OpenAlex.
pub const OPENALEX: Provider = Provider {
    name: "openalex",
    aliases: &[],
    title: "OpenAlex",
    precedence: Precedence(1),
    by_default: true,
    access: Access::Api {
        address: "https://api.openalex.org",
        open: |http, config| Arc::new(OpenAlex::new(http, config)),
    },
};

/// Europe PMC.
///
/// Terms (<https://europepmc.org/Copyright>): free to use, also for mining; full texts only of the open access subset
/// and only by the web service, never from its pages in bulk. No documented rate; an email address is welcome.
pub const EUROPE_PMC: Provider = Provider {
    name: "europe_pmc",
    aliases: &["epmc", "europepmc"],
    title: "Europe PMC",
    precedence: Precedence(2),
    by_default: true,
    access: Access::Api {
        address: "https://www.ebi.ac.uk/europepmc/webservices/rest",
        open: |http, config| Arc::new(EuropePmc::new(http, config)),
    },
};

/// Crossref.
///
/// Terms (<https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/>): facts
/// without restriction, abstracts under their publishers' copyright. Lists once a second; three times with an email
/// address, which it asks for (`mailto`). It asks its users to cache.
pub const CROSSREF: Provider = Provider {
    name: "crossref",
    aliases: &[],
    title: "Crossref",
    precedence: Precedence(4),
    by_default: false,
    access: Access::Api {
        address: "https://api.crossref.org",
        open: |http, config| Arc::new(Crossref::new(http, config)),
    },
};

/// PubMed.
///
/// Terms (<https://www.ncbi.nlm.nih.gov/books/NBK25497/>): three requests a second, ten with a key; the name of the
/// program and an email address go along (`tool`, `email`); large jobs at night or on weekends, US Eastern time.
pub const PUBMED: Provider = Provider {
    name: "pubmed",
    aliases: &[],
    title: "PubMed",
    precedence: Precedence(3),
    by_default: false,
    access: Access::Api {
        address: "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
        open: |http, config| Arc::new(PubMed::new(http, config)),
    },
};

/// arXiv.
///
/// Terms (<https://info.arxiv.org/help/api/tou.html>): one request every three seconds over one connection; metadata is
/// CC0, full texts are linked to and not served on. The same search gives the same answer for a day: it asks its users
/// to cache.
pub const ARXIV: Provider = Provider {
    name: "arxiv",
    aliases: &[],
    title: "arXiv",
    precedence: Precedence(5),
    by_default: false,
    access: Access::Api {
        address: "https://export.arxiv.org/api",
        open: |http, config| Arc::new(Arxiv::new(http, config)),
    },
};

/// ClinicalTrials.gov, version 2 of its API.
///
/// Terms (<https://clinicaltrials.gov/about-site/terms-conditions>): free and without a key; attribute the data to
/// ClinicalTrials.gov and give the date of retrieval, keep copies current, and do not present changed data as the
/// registry's. Rate: none documented; `robots.txt` asks for a second between requests. Contact: not asked for.
/// Caching: allowed.
pub const CLINICAL_TRIALS: Provider = Provider {
    name: "clinicaltrials",
    aliases: &["ctgov"],
    title: "ClinicalTrials.gov",
    precedence: Precedence(20),
    by_default: false,
    access: Access::Api {
        address: "https://clinicaltrials.gov/api/v2",
        open: |http, config| Arc::new(ClinicalTrials::new(http, config)),
    },
};

/// Wikipedia, by the API of MediaWiki.
///
/// Terms (<https://foundation.wikimedia.org/wiki/Policy:Terms_of_Use>, <https://www.mediawiki.org/wiki/API:Etiquette>):
/// free and without a key; texts are under CC BY-SA 4.0, so quotations name the article and its authors. Rate: no fixed
/// limit for reading, as long as requests follow one another. Contact: in the `User-Agent`, which must name the program
/// and a way to reach its operator (`sources.contact`). Caching: encouraged.
pub const WIKIPEDIA: Provider = Provider {
    name: "wikipedia",
    aliases: &[],
    title: "Wikipedia",
    precedence: Precedence(30),
    by_default: false,
    access: Access::Api {
        address: "https://en.wikipedia.org/w",
        open: |http, config| Arc::new(Wikipedia::new(http, config)),
    },
};

/// DataCite.
///
/// Terms (<https://support.datacite.org/docs/api>): metadata is CC0. Rate: 500 requests in five minutes, 1,000 with an
/// email address (`mailto`). Contact: optional, doubles the limit. Caching: allowed.
pub const DATACITE: Provider = Provider {
    name: "datacite",
    aliases: &[],
    title: "DataCite",
    precedence: Precedence(21),
    by_default: false,
    access: Access::Api {
        address: "https://api.datacite.org",
        open: |http, config| Arc::new(DataCite::new(http, config)),
    },
};

/// The Directory of Open Access Journals.
///
/// Terms (<https://doaj.org/terms/>): metadata of articles is CC0. Rate: two requests a second, in bursts of five; a
/// search goes to 1,000 results. Contact: not asked for. Caching: allowed.
pub const DOAJ: Provider = Provider {
    name: "doaj",
    aliases: &[],
    title: "Directory of Open Access Journals",
    precedence: Precedence(22),
    by_default: false,
    access: Access::Api {
        address: "https://doaj.org/api",
        open: |http, config| Arc::new(Doaj::new(http, config)),
    },
};

/// CORE.
///
/// Terms (<https://core.ac.uk/terms>): free for research and for persons, by agreement for businesses; name CORE as the
/// source. Rate: ten requests a minute, and a number of tokens a day that is small without a key. Contact: by the key's
/// registration. Caching: results may be kept, the collection may not be copied.
pub const CORE: Provider = Provider {
    name: "core",
    aliases: &[],
    title: "CORE",
    precedence: Precedence(23),
    by_default: false,
    access: Access::Api {
        address: "https://api.core.ac.uk/v3",
        open: |http, config| Arc::new(Core::new(http, config)),
    },
};

/// Unpaywall.
///
/// Terms (<https://unpaywall.org/legal/terms-of-service>): data is CC0. Rate: 100,000 requests a day. Contact: an email
/// address with every request (`mailto`, required). Caching: allowed.
pub const UNPAYWALL: Provider = Provider {
    name: "unpaywall",
    aliases: &[],
    title: "Unpaywall",
    precedence: Precedence(24),
    by_default: false,
    access: Access::Api {
        address: "https://api.unpaywall.org/v2",
        open: |http, config| Arc::new(Unpaywall::new(http, config)),
    },
};

/// Search engines and the pages that they name.
pub const WEB: Provider = Provider {
    name: "web",
    aliases: &[],
    title: "search engines and pages",
    precedence: Precedence::LAST,
    by_default: true,
    access: Access::Web,
};

/// Every source outside, in the order in which lists show them.
pub const PROVIDERS: &[Provider] = &[
    SEMANTIC_SCHOLAR,
    OPENALEX,
    EUROPE_PMC,
    CROSSREF,
    PUBMED,
    ARXIV,
    CLINICAL_TRIALS,
    WIKIPEDIA,
    DATACITE,
    DOAJ,
    CORE,
    UNPAYWALL,
    WEB,
];

/// The methods of an academic API's `EvidenceSource` that its row answers.
macro_rules! answer_by_row {
    ($row:expr) => {
        fn name(&self) -> &str {
            $row.name
        }

        fn kind(&self) -> lyra_research::ports::SourceKind {
            $row.kind()
        }

        fn precedence(&self) -> lyra_domain::Precedence {
            $row.precedence
        }

        fn scholarly(&self) -> Option<&dyn lyra_research::ports::ScholarlySource> {
            Some(self)
        }
    };
}
pub(crate) use answer_by_row;

/// A source outside.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// Its name as a source, in `[sources.NAME]`, in `works.source_api`, in `edges.citation_source`, and for the
    /// limiter.
    pub name: &'static str,
    /// Other names that people may write.
    pub aliases: &'static [&'static str],
    /// What it is, in prose.
    pub title: &'static str,
    /// Whose metadata wins when several sources describe one work, and whose citation a link is that several state.
    pub precedence: Precedence,
    /// Whether it is one of the general sources: those that `lyra sources test` asks without names, and that hints
    /// suggest. A task asks only what it or the settings name.
    pub by_default: bool,
    /// How it is reached.
    pub access: Access,
}

/// How a source is reached.
#[derive(Debug, Clone, Copy)]
pub enum Access {
    /// By an academic API.
    Api {
        /// Its own address; the settings may replace it.
        address: &'static str,
        /// Makes its client.
        open: fn(HttpClient, &ApiConfig) -> Arc<dyn ApiSource>,
    },
    /// By the engines and the page fetcher, which serve more than searches.
    Web,
}

/// An academic API: it answers searches, and its health can be checked.
#[async_trait]
pub trait ApiSource: EvidenceSource {
    /// Asks a small question past the cache.
    ///
    /// # Errors
    /// Why it does not answer.
    async fn probe(&self) -> Result<Probe>;
    /// How long it is still cooling down, and why.
    async fn pause(&self) -> Option<(Duration, String)>;
}

impl Provider {
    /// What kind of source it is.
    pub const fn kind(&self) -> SourceKind {
        match self.access {
            Access::Api { .. } => SourceKind::Api,
            Access::Web => SourceKind::Web,
        }
    }

    /// Whether people may call it so.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Its name as people type it: the shortest.
    pub fn short_name(&self) -> &'static str {
        let names = self.aliases.iter().copied().chain([self.name]);
        names.min_by_key(|name| name.len()).unwrap_or(self.name)
    }

    /// Its short name, followed by what it is where the name does not tell: `s2 (Semantic Scholar)`.
    pub fn introduction(&self) -> String {
        let name = self.short_name();
        if self.title.to_lowercase() == name { name.to_owned() } else { format!("{name} ({})", self.title) }
    }
}

/// The names of all sources outside, as help for agents lists them: `` `semantic_scholar`, `openalex`, `web` ``.
pub fn quoted_names() -> String {
    PROVIDERS.iter().map(|provider| format!("`{}`", provider.name)).collect::<Vec<_>>().join(", ")
}

/// All sources outside, as help for people introduces them.
pub fn introductions() -> String {
    PROVIDERS.iter().map(Provider::introduction).collect::<Vec<_>>().join(", ")
}

/// The short names of the academic APIs that hints suggest, as `--sources` takes them: `s2,openalex`.
pub fn academic_names() -> String {
    let suggested = |provider: &&Provider| provider.by_default && provider.kind() == SourceKind::Api;
    let apis = PROVIDERS.iter().filter(suggested);
    apis.map(Provider::short_name).collect::<Vec<_>>().join(",")
}

/// A source outside, open.
pub struct Opened {
    /// Its row.
    pub provider: Provider,
    /// How it answers searches.
    pub source: Arc<dyn EvidenceSource>,
    /// Its API, with the settings that it was opened with; `None` for the web.
    pub api: Option<(Arc<dyn ApiSource>, ApiConfig)>,
}

/// The sources of some rows, open.
pub struct Sources(Vec<Opened>);

impl Sources {
    /// Opens a source for each of these rows: APIs with the settings that `config` has for their row and their own
    /// address, the web as `web`.
    ///
    /// # Errors
    /// What `config` answered.
    pub fn open<E>(
        providers: &[Provider],
        http: &HttpClient,
        config: impl Fn(&Provider, &'static str) -> Result<ApiConfig, E>,
        web: &Arc<dyn EvidenceSource>,
    ) -> Result<Self, E> {
        let open = |provider: &Provider| {
            let (source, api) = match provider.access {
                Access::Api { address, open } => {
                    let config = config(provider, address)?;
                    let api = open(http.clone(), &config);
                    (Arc::clone(&api) as Arc<dyn EvidenceSource>, Some((api, config)))
                }
                Access::Web => (Arc::clone(web), None),
            };
            Ok(Opened { provider: *provider, source, api })
        };
        Ok(Self(providers.iter().map(open).collect::<Result<_, E>>()?))
    }

    /// The source with this name or alias.
    pub fn get(&self, name: &str) -> Option<&Opened> {
        self.iter().find(|opened| opened.provider.is_named(name))
    }

    /// Every source, in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = &Opened> {
        self.0.iter()
    }

    /// The names of the APIs.
    pub fn api_names(&self) -> Vec<&'static str> {
        self.iter().filter(|opened| opened.api.is_some()).map(|opened| opened.provider.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_rows_share_a_name() {
        let names: Vec<&str> =
            PROVIDERS.iter().flat_map(|row| row.aliases.iter().chain([&row.name])).copied().collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    }

    #[test]
    fn rows_introduce_themselves() {
        assert_eq!(SEMANTIC_SCHOLAR.introduction(), "s2 (Semantic Scholar)");
        assert_eq!(OPENALEX.introduction(), "openalex");
        assert_eq!(EUROPE_PMC.introduction(), "epmc (Europe PMC)");
        assert_eq!(CLINICAL_TRIALS.introduction(), "ctgov (ClinicalTrials.gov)");
        assert_eq!(introductions().matches(", ").count() + 1, PROVIDERS.len());
        assert!(quoted_names().starts_with("`semantic_scholar`, `openalex`, "), "{}", quoted_names());
        assert_eq!(academic_names(), "s2,openalex,epmc");
    }
}
