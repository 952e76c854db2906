//! Where a run comes from and what is in it.

use super::blend::{recipe, representatives};
use super::fuse::Measured;
use super::views::{
    alarms, code_counts, depth, design_point, estimate, lane_alarms, lane_recipe, meta, shape, shares,
};
use super::{Fusion, blocking};
use crate::AppError;
use lyra_fusion::estimate::{Proposal, proposed as informative, stratified};
use lyra_fusion::profile::{ProposeOptions, propose};
use lyra_fusion::{CODE, Ranking};
use lyra_store::{RunKind, StoredRun};
use lyra_wire::fusion::{
    DocumentShare, ParentView, ProposedView, ProvenanceView, RepresentativeView, SampleView,
};
use lyra_wire::json::{fields_of, millionths, thousandths};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Documents of a review's sample.
const SAMPLE: usize = 20;
/// Documents that are proposed at a time once the sample is judged.
const NEXT: usize = 5;
/// Codes of a proposed profile.
const PROPOSED: usize = 20;
/// Most runs that a lineage goes back.
const MAX_LINEAGE: usize = 50;

/// What to report about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenanceRequest {
    /// Which run.
    pub run_id: String,
    /// Documents to skip in the list of documents.
    pub offset: usize,
    /// Documents listed with their contributions.
    pub top_k_lane: usize,
    /// Codes per system.
    pub top_k_code: usize,
    /// Whether documents to review are proposed.
    pub sample: bool,
    /// Width of the interval of recall at which a review ends: nothing more is proposed. Above 0, at most 1.
    pub recall_width: Option<f64>,
}

impl Default for ProvenanceRequest {
    fn default() -> Self {
        Self {
            run_id: String::new(),
            offset: 0,
            top_k_lane: 20,
            top_k_code: 30,
            sample: false,
            recall_width: None,
        }
    }
}

impl Fusion {
    /// Where a run comes from and what is in it.
    ///
    /// # Errors
    /// No such run, a width out of range.
    pub async fn provenance(&self, request: &ProvenanceRequest) -> Result<ProvenanceView, AppError> {
        if let Some(width) = request.recall_width.filter(|width| !(*width > 0.0 && *width <= 1.0)) {
            return Err(AppError::invalid(
                format!("`recall_width` is {width}"),
                "it must be above 0 and at most 1, such as 0.2",
            ));
        }
        let run = self.run(&request.run_id).await?;
        let proposed = proposed(&run).await?;
        let mut view = ProvenanceView {
            run_id: run.id.clone(),
            kind: run.kind.to_string(),
            lane: run.lane.clone(),
            corpus: run.corpus.clone(),
            backend: run.backend.clone(),
            created_at: run.created_at.to_string(),
            expires_at: run.expires_at.to_string(),
            meta: meta(run.meta),
            recipe: fields_of(&run.recipe),
            parents: Vec::new(),
            changed_from: self.lineage(&run).await?,
            contributions: BTreeMap::new(),
            documents: Vec::new(),
            code_distributions: code_counts(&run.docs, request.top_k_code),
            proposed_profile: proposed,
            metrics: None,
            method: None,
            frontier: Vec::new(),
            estimate: None,
            design_frontier: Vec::new(),
            proxy: None,
            facets_read: None,
            alarms: Vec::new(),
            representatives: Vec::new(),
            sample: None,
            is_enough: None,
            shortened: false,
        };
        if run.kind == RunKind::Fusion {
            self.of_fusion(&run, &mut view).await?;
        } else {
            let recipe = lane_recipe(&run)?;
            view.alarms = alarms(lane_alarms(self, &run, &recipe));
        }
        view.documents = self.listed(&run, request.offset, request.top_k_lane).await?;
        if request.sample {
            let recall = view.estimate.as_ref().and_then(|estimate| estimate.recall_at_middle);
            let is_narrow = |width: f64| recall.is_some_and(|recall| recall.high - recall.low <= width);
            view.is_enough = request.recall_width.map(is_narrow);
            let is_enough = view.is_enough == Some(true);
            view.sample = Some(if is_enough { Vec::new() } else { self.sampled(&run).await? });
        }
        Ok(view)
    }

    async fn of_fusion(&self, run: &StoredRun, view: &mut ProvenanceView) -> Result<(), AppError> {
        let measured = Measured::of(run)?;
        let recipe = recipe(run)?;
        let lanes = self.lanes_of(run).await?;
        view.parents = lanes
            .runs()
            .map(|(lane, parent)| ParentView {
                lane: lane.to_owned(),
                run_id: parent.id.clone(),
                count_returned: parent.meta.count_returned,
                weight: recipe.weights.get(lane).copied().unwrap_or(1.0),
            })
            .collect();
        view.contributions = shares(measured.contributions);
        view.metrics = Some(shape(measured.metrics));
        view.method = Some(measured.method.as_str());
        view.estimate = measured.estimate.as_ref().map(estimate);
        view.frontier =
            measured.estimate.into_iter().flat_map(|estimate| estimate.points).map(depth).collect();
        view.design_frontier = measured.design.into_iter().map(design_point).collect();
        view.proxy = measured.proxy.map(|proxy| fields_of(&proxy));
        view.facets_read = Some(measured.facets_read);
        view.alarms = alarms(measured.alarms);
        let places: HashMap<&str, usize> =
            run.docs.ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
        view.representatives = representatives(run)?
            .into_iter()
            .map(|judged| {
                let place = places.get(judged.doc_id.as_str()).copied();
                RepresentativeView {
                    rank: place.map(|place| place + 1),
                    score: place.and_then(|place| run.docs.scores.get(place)).copied().map(millionths),
                    doc_id: judged.doc_id,
                    label: judged.label.to_string(),
                    reason: judged.reason,
                }
            })
            .collect();
        Ok(())
    }

    /// The documents of a run from `offset` on, with what each lane of a fusion adds to them.
    pub(super) async fn listed(
        &self,
        run: &StoredRun,
        offset: usize,
        most: usize,
    ) -> Result<Vec<DocumentShare>, AppError> {
        if most == 0 {
            return Ok(Vec::new());
        }
        if run.kind != RunKind::Fusion {
            let listed = (1..).zip(run.docs.ids.iter().zip(&run.docs.scores)).skip(offset).take(most);
            return Ok(listed
                .map(|(rank, (doc_id, score))| DocumentShare {
                    rank,
                    doc_id: doc_id.clone(),
                    score: millionths(*score),
                    ranks: BTreeMap::new(),
                    shares: BTreeMap::new(),
                })
                .collect());
        }
        let (lanes, recipe) = (self.lanes_of(run).await?, recipe(run)?);
        blocking(move || {
            lanes.with_blend(&recipe, |pool, blend, _| {
                let ranking: &Ranking = &blend.ranking;
                (1..)
                    .zip(&ranking.order)
                    .skip(offset)
                    .take(most)
                    .map(|(rank, &doc)| {
                        let names = pool.names().iter().copied().chain([CODE]);
                        let ranks = pool.names().iter().zip(pool.ranks(doc)).filter(|(_, rank)| **rank > 0);
                        DocumentShare {
                            rank,
                            doc_id: pool.id(doc).to_owned(),
                            score: millionths(ranking.scores[doc]),
                            ranks: ranks.map(|(name, rank)| ((*name).to_owned(), *rank as usize)).collect(),
                            shares: shares(names.zip(ranking.shares(doc))),
                        }
                    })
                    .collect()
            })
        })
        .await
    }

    /// The fusion runs that a run was changed from, the nearest first.
    async fn lineage(&self, run: &StoredRun) -> Result<Vec<String>, AppError> {
        let mut lineage = Vec::new();
        let mut next = run.changed_from.clone();
        while let Some(id) = next.take()
            && lineage.len() < MAX_LINEAGE
        {
            // The lineage ends at a dropped run.
            next = self.store.run(&id).await.ok().and_then(|run| run.changed_from);
            lineage.push(id);
        }
        Ok(lineage)
    }

    /// Documents to judge next: what is left of the sample, then those whose judgment tells most.
    async fn sampled(&self, run: &StoredRun) -> Result<Vec<SampleView>, AppError> {
        let lanes = if run.kind == RunKind::Fusion { Some(self.lanes_of(run).await?) } else { None };
        let judged = representatives(run)?;
        let labels = lanes.as_ref().map(|lanes| lanes.labels(&judged)).unwrap_or_default();
        let seed =
            run.id.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut chosen: Vec<Proposal> = stratified(run.docs.ids.len(), SAMPLE, seed);
        chosen.retain(|proposal| !labels.contains_key(&run.docs.ids[proposal.place]));
        let mut stand_for: Vec<(usize, Option<f64>)> = chosen
            .into_iter()
            .map(|proposal| (proposal.place, Some(thousandths(1.0 / proposal.probability))))
            .collect();
        if let (true, Some(lanes)) = (stand_for.is_empty(), &lanes) {
            let (lanes, recipe, prior) = (lanes.clone(), recipe(run)?, Arc::clone(&self.prior));
            let places = blocking(move || {
                lanes.with_blend(&recipe, |pool, blend, prepared| {
                    let label = |doc: usize| Some((doc, *labels.get(pool.id(doc))?));
                    let labels: Vec<(usize, f64)> = (0..pool.len()).filter_map(label).collect();
                    let posterior = blend.posterior(pool, prepared, &prior, &labels);
                    informative(&posterior, recipe.beta_fuse, NEXT)
                })
            })
            .await?;
            stand_for.extend(places.into_iter().map(|place| (place, None)));
        }
        let held: Vec<(String, HashSet<&str>)> = lanes
            .iter()
            .flat_map(super::fuse::Lanes::runs)
            .map(|(name, lane)| (name.to_owned(), lane.docs.ids.iter().map(String::as_str).collect()))
            .collect();
        let view = |(place, stands_for): (usize, Option<f64>)| {
            let id = &run.docs.ids[place];
            let having = held.iter().filter(|(_, ids)| ids.contains(id.as_str()));
            let lanes = having.map(|(name, _)| name.clone()).collect();
            SampleView { rank: place + 1, doc_id: id.clone(), lanes, stands_for }
        };
        Ok(stand_for.into_iter().map(view).collect())
    }
}

async fn proposed(run: &StoredRun) -> Result<Vec<ProposedView>, AppError> {
    let docs = run.docs.clone();
    let context = run.recipe.get("context_codes").and_then(|codes| codes.as_array());
    let without: Vec<_> = context
        .into_iter()
        .flatten()
        .filter_map(|code| lyra_fusion::profile::read_code(code.as_str()?).ok())
        .collect();
    blocking(move || {
        let options = ProposeOptions { system: None, without: &without, most: PROPOSED };
        Ok(propose(&docs, options)
            .into_iter()
            .map(|code| ProposedView { code: code.code, weight: code.weight, count: code.in_list })
            .collect())
    })
    .await
}
