//! Making a fusion run of stored lanes, and measuring it.

use super::views::{lane_alarms, lane_recipe};
use super::{Fusion, Representative, blocking};
use crate::{AppError, ErrorCode};
use lyra_corpus::backend::IdType;
use lyra_fusion::estimate::{Estimate, Prior};
use lyra_fusion::{
    Alarm, AlarmKind, Blend, CODE, DocText, FacetSignals, FrontierPoint, Lane, Method, PiMode, Pool,
    ProxyMethod, RankedDocs, Recipe, StructureMetrics, alarm, cut, family,
};
use lyra_store::{NewRun, RunKind, RunMeta, RunParent, StoredRun};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

/// Documents from the top whose texts are read for facets.
const FACET_DOCS: usize = 800;
/// Publications in memory while reading facets.
const FACET_BATCH: usize = 50;
/// Characters of a description in which facets are searched.
const FACET_DESC: usize = 20_000;
/// Documents at the top whose contributions are counted.
const SHARES_OF: usize = 50;

/// The measurements of a fusion run; stored with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Shares of the lanes and of `code` in the scores of the first 50.
    pub(super) contributions: BTreeMap<String, f64>,
    /// Absent in measurements that were stored before there were estimates.
    #[serde(default)]
    pub(super) estimate: Option<Estimate>,
    /// What was added up.
    #[serde(default = "rrf")]
    pub(super) method: Method,
    /// The design's proxies, where the recipe asks for them.
    #[serde(default, rename = "frontier")]
    pub(super) design: Vec<FrontierPoint>,
    pub(super) metrics: StructureMetrics,
    #[serde(default)]
    pub(super) proxy: Option<ProxyMethod>,
    pub(super) alarms: Vec<Alarm>,
    /// Documents whose texts were read for facets.
    pub(super) facets_read: usize,
    /// Documents that another one of their family stands for, with that one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) folded: BTreeMap<String, String>,
}

impl Measured {
    pub(super) fn of(run: &StoredRun) -> Result<Self, AppError> {
        let stored = run.assessment.clone().unwrap_or_default();
        let mut measured: Self = serde_json::from_value(stored).map_err(|error| {
            AppError::new(
                ErrorCode::Internal,
                format!("the measurements of {} cannot be read: {error}", run.id),
            )
        })?;
        measured.alarms.retain(|alarm| alarm.alarm != AlarmKind::Retired);
        Ok(measured)
    }
}

/// Before there was a choice.
fn rrf() -> Method {
    Method::Rrf
}

/// The lanes of a fusion, with their names in it.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    runs: Arc<Vec<(String, StoredRun)>>,
    /// Documents that their lists do not have any more, as [`Measured::folded`].
    folded: BTreeMap<String, String>,
}

impl Lanes {
    pub(super) fn names(&self) -> Vec<&str> {
        self.runs.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = (&str, &StoredRun)> {
        self.runs.iter().map(|(name, run)| (name.as_str(), run))
    }

    /// The same with one document for each family.
    fn folding(self, folded: BTreeMap<String, String>) -> Self {
        if folded.is_empty() {
            return self;
        }
        let fold = |(name, run): &(String, StoredRun)| {
            let docs = family::folded(&run.docs, &folded);
            (name.clone(), StoredRun { docs, ..run.clone() })
        };
        Self { runs: Arc::new(self.runs.iter().map(fold).collect()), folded }
    }

    /// What each document was judged to be. The judgment of a document that another one stands for counts for that one,
    /// unless it was judged itself.
    pub(super) fn labels(&self, judged: &[Representative]) -> HashMap<String, f64> {
        let (members, shown): (Vec<_>, Vec<_>) =
            judged.iter().partition(|judged| self.folded.contains_key(&judged.doc_id));
        let label = |judged: &Representative| {
            let doc = self.folded.get(&judged.doc_id).unwrap_or(&judged.doc_id);
            (doc.clone(), judged.label.relevance())
        };
        members.into_iter().chain(shown).map(label).collect()
    }

    /// Runs something over the pool and the blend. CPU work: off the async threads.
    pub(super) fn with_blend<T>(
        &self,
        recipe: &Recipe,
        work: impl FnOnce(&Pool<'_>, &Blend, &lyra_fusion::Prepared) -> T,
    ) -> Result<T, AppError> {
        let prepared = recipe.prepare(&self.names())?;
        let lanes: Vec<Lane<'_>> =
            self.runs().map(|(name, run)| Lane { name, docs: &run.docs, limit: recipe.limit() }).collect();
        let pool = Pool::new(&lanes);
        let blend = Blend::new(&pool, recipe, &prepared);
        Ok(work(&pool, &blend, &prepared))
    }
}

impl Fusion {
    /// The lanes of a fusion run, as it fused them.
    pub(super) async fn lanes_of(&self, run: &StoredRun) -> Result<Lanes, AppError> {
        Ok(self.load(&run.parents).await?.folding(Measured::of(run)?.folded))
    }

    /// The lanes with one document for each family.
    async fn one_per_family(&self, lanes: Lanes) -> Result<Lanes, AppError> {
        let mut ids: Vec<String> = lanes.runs().flat_map(|(_, run)| run.docs.ids.iter().cloned()).collect();
        ids.sort_unstable();
        ids.dedup();
        let corpus = lanes.runs().next().map(|(_, run)| run.corpus.clone()).unwrap_or_default();
        let keys = self.backend.family_keys(&corpus, &ids).await?;
        let keys: HashMap<String, Vec<String>> = ids.into_iter().zip(keys).collect();
        blocking(move || {
            let lists: Vec<&RankedDocs> = lanes.runs().map(|(_, run)| &run.docs).collect();
            let folded = family::representatives(&lists, &keys);
            Ok(lanes.folding(folded))
        })
        .await
    }

    /// Loads the runs to fuse.
    pub(super) async fn load(&self, parents: &[RunParent]) -> Result<Lanes, AppError> {
        let mut runs = Vec::with_capacity(parents.len());
        for parent in parents {
            runs.push((parent.lane.clone(), self.run(&parent.run_id).await?));
        }
        Ok(Lanes { runs: Arc::new(runs), folded: BTreeMap::new() })
    }

    /// Fuses lanes, or serves the stored run of the same lanes and parameters.
    pub(super) async fn fuse(
        &self,
        lanes: &Lanes,
        recipe: Recipe,
        changed_from: Option<String>,
        representatives: Vec<Representative>,
    ) -> Result<(StoredRun, bool), AppError> {
        let started = Instant::now();
        recipe.prepare(&lanes.names())?;
        let parents: Vec<RunParent> = lanes
            .runs()
            .map(|(lane, run)| RunParent { lane: lane.to_owned(), run_id: run.id.clone() })
            .collect();
        let shaped_by = shaped_by(&parents, &recipe, changed_from.as_deref(), &representatives);
        if let Some(run) = self.store.fresh_run(&shaped_by).await? {
            return Ok((run, true));
        }
        let of_families;
        let lanes = if recipe.one_per_family {
            of_families = self.one_per_family(lanes.clone()).await?;
            &of_families
        } else {
            lanes
        };
        let measured = self.measure(lanes, &recipe, &representatives).await?;
        let (of, shape) = (lanes.clone(), recipe.clone());
        let docs = blocking(move || {
            of.with_blend(&shape, |pool, blend, _| {
                RankedDocs::new(blend.ranking.order.iter().map(|&doc| {
                    let codes = pool.code_names(doc).map(str::to_owned).collect();
                    (pool.id(doc).to_owned(), blend.ranking.scores[doc], codes)
                }))
            })
        })
        .await?;
        let (corpus, backend) =
            lanes.runs().next().map(|(_, run)| (run.corpus.clone(), run.backend.clone())).unwrap_or_default();
        let run = NewRun {
            kind: RunKind::Fusion,
            shaped_by,
            lane: None,
            corpus,
            backend,
            recipe: json!(recipe),
            meta: RunMeta {
                top_k: docs.ids.len(),
                count_returned: docs.ids.len(),
                truncated: lanes.runs().any(|(_, run)| run.meta.truncated),
                total: None,
                took_ms: started.elapsed().as_millis() as u64,
                unembedded: lanes.runs().map(|(_, run)| run.meta.unembedded).max().unwrap_or(0),
                unfinished: lanes.runs().any(|(_, run)| run.meta.unfinished),
            },
            docs,
            parents,
            changed_from,
            assessment: Some(json!(measured)),
            representatives: (!representatives.is_empty()).then(|| json!(representatives)),
        };
        Ok((self.store.put_run(run, self.run_ttl()).await?, false))
    }

    /// Measures a fusion of lanes, with the texts that its facets need.
    pub(super) async fn measure(
        &self,
        lanes: &Lanes,
        recipe: &Recipe,
        representatives: &[Representative],
    ) -> Result<Measured, AppError> {
        let facets = self.facet_signals(lanes, recipe).await?;
        let labels = lanes.labels(representatives);
        let (of, shape, prior) = (lanes.clone(), recipe.clone(), Arc::clone(&self.prior));
        let mut measured = blocking(move || {
            of.with_blend(&shape, |pool, blend, prepared| {
                assess(pool, blend, (&shape, prepared), &prior, &facets, &labels)
            })
        })
        .await?;
        measured.folded.clone_from(&lanes.folded);
        for (name, run) in lanes.runs() {
            let mut recipe = lane_recipe(run)?;
            name.clone_into(&mut recipe.lane);
            measured.alarms.extend(lane_alarms(self, run, &recipe));
        }
        Ok(measured)
    }

    /// The facet signals of the first documents, by document id; empty without facets, and where nothing needs them.
    async fn facet_signals(
        &self,
        lanes: &Lanes,
        recipe: &Recipe,
    ) -> Result<HashMap<String, FacetSignals>, AppError> {
        let mut signals = HashMap::new();
        let needed = recipe.prepare(&lanes.names())?.facets.filter(|_| recipe.pi_mode == PiMode::Design);
        let Some(facets) = needed else { return Ok(signals) };
        let facets = Arc::new(facets);
        let (of, shape) = (lanes.clone(), recipe.clone());
        let first: Vec<String> = blocking(move || {
            of.with_blend(&shape, |pool, blend, _| {
                blend.ranking.order.iter().take(FACET_DOCS).map(|&doc| pool.id(doc).to_owned()).collect()
            })
        })
        .await?;
        let corpus = lanes.runs().next().map(|(_, run)| run.corpus.clone()).unwrap_or_default();
        for batch in first.chunks(FACET_BATCH) {
            let publications = self.publications(&corpus, batch, IdType::DocId).await?;
            let facets = Arc::clone(&facets);
            let read = blocking(move || {
                let read = |publication: lyra_corpus::backend::Publication| {
                    let (desc, _) = cut(&publication.desc, FACET_DESC);
                    let text = DocText { claim: &publication.claim, abst: &publication.abst, desc };
                    (publication.doc_id.clone(), facets.signals(&text))
                };
                Ok(publications.into_iter().flatten().map(read).collect::<Vec<_>>())
            });
            signals.extend(read.await?);
        }
        Ok(signals)
    }
}

/// Everything that shapes a fusion run.
pub(super) fn shaped_by(
    parents: &[RunParent],
    recipe: &Recipe,
    changed_from: Option<&str>,
    representatives: &[Representative],
) -> String {
    json!({
        "fusion": parents, "recipe": recipe, "changed_from": changed_from, "representatives": representatives,
    })
    .to_string()
}

fn assess(
    pool: &Pool<'_>,
    blend: &Blend,
    (recipe, prepared): (&Recipe, &lyra_fusion::Prepared),
    prior: &Prior,
    facets: &HashMap<String, FacetSignals>,
    labels: &HashMap<String, f64>,
) -> Measured {
    let by_doc = |doc: usize| Some((doc, *facets.get(pool.id(doc))?));
    let read: Vec<(usize, FacetSignals)> = (0..pool.len()).filter_map(by_doc).collect();
    let labelled: Vec<(usize, f64)> =
        (0..pool.len()).filter_map(|doc| Some((doc, *labels.get(pool.id(doc))?))).collect();
    let said = blend.assess(pool, (recipe, prepared), prior, &read, &labelled);
    let (proxy, design) = said.design.map(|design| (design.method, design.frontier)).unzip();
    let names = pool.names().iter().copied().chain([CODE]).map(str::to_owned);
    Measured {
        contributions: names.zip(blend.ranking.total_shares(SHARES_OF)).collect(),
        alarms: alarm::of_blend(pool, blend, &said.metrics, prepared.profile.as_ref(), &prepared.context),
        estimate: Some(said.estimate),
        method: recipe.method.within(pool),
        design: design.unwrap_or_default(),
        metrics: said.metrics,
        proxy,
        facets_read: read.len(),
        folded: BTreeMap::new(),
    }
}
