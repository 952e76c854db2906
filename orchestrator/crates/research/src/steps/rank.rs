//! Ranking the fragments of a query's pages (evidence design, section 2, step 6).

use crate::Result;
use crate::context::Context;
use crate::ports::{FragmentRank, Models, TaskFragment, TextRole};
use crate::steps::embed;
use crate::steps::lanes::{self, Candidates};
use crate::steps::register::usable;
use lyra_domain::{PageId, Query, Task, bm25, ranking, vector};
use std::collections::HashSet;

/// How the fragments of pages rank for a query, best first, each with its page.
pub(crate) type Ranks = Vec<(PageId, FragmentRank)>;

/// How many fragments are above the cut-off.
pub(crate) fn relevant(ranks: &[(PageId, FragmentRank)]) -> usize {
    ranks.iter().filter(|(_, rank)| rank.relevant).count()
}

/// Ranks the fragments of these pages and records it, best first.
pub(crate) async fn rank(context: &Context, task: &Task, query: &Query, pages: &[PageId]) -> Result<Ranks> {
    let found: HashSet<&PageId> = pages.iter().collect();
    let mut usable = usable(context, &task.id).await?;
    usable.retain(|usable| found.contains(&usable.fragment.fragment.page_id));

    let tokens: Vec<Vec<String>> = usable
        .iter()
        .map(|usable| &usable.fragment)
        .map(|f| lyra_text::content_words(&lyra_text::passage(&f.title, &f.fragment.text_content)))
        .collect();
    let lexical = bm25::scores(&tokens, &lyra_text::content_words(&query.query_text), bm25::K1, bm25::B);
    let config = context.config.ranking();
    let candidates = ranking::top_by(&lexical, config.bm25_top);
    let lexical: Vec<f64> = candidates.iter().map(|&i| lexical[i]).collect();
    let weights: Vec<f64> = candidates.iter().map(|&i| usable[i].weight).collect();
    let fragments: Vec<&TaskFragment> = candidates.iter().map(|&i| &usable[i].fragment).collect();

    let models = context.inference.models().await?;
    let cosine = if models.read(query.language.as_deref()) {
        Some(cosines(context, &models, query, &fragments).await?)
    } else {
        let language = query.language.as_deref().unwrap_or_default();
        context.store.add_warning(&task.id, &unread_language(language, &models)).await?;
        None
    };
    let found_by = context.store.load_finders(&query.id).await?;
    let candidates = Candidates {
        fragments: &fragments,
        lexical: &lexical,
        cosine: cosine.as_deref(),
        weights: &weights,
        found_by: &found_by,
    };
    let (scores, contributions) = lanes::mixed(&candidates, context.config.ranking_method, &config);
    let ranks: Ranks = ranking::ranked(&scores, &config)
        .into_iter()
        .map(|place| {
            let fragment = &fragments[place.index].fragment;
            let rank = FragmentRank {
                fragment: fragment.id.clone(),
                bm25: lexical[place.index],
                cosine: cosine.as_ref().map(|c| c[place.index]),
                score: place.score,
                relevant: place.relevant,
                contributions: contributions[place.index].clone(),
            };
            (fragment.page_id.clone(), rank)
        })
        .collect();
    let recorded: Vec<FragmentRank> = ranks.iter().map(|(_, rank)| rank.clone()).collect();
    context.store.record_ranking(&query.id, &recorded).await?;
    Ok(ranks)
}

async fn cosines(
    context: &Context,
    models: &Models,
    query: &Query,
    fragments: &[&TaskFragment],
) -> Result<Vec<f64>> {
    let vectors = embed::fragments(context, models, fragments).await?;
    let query = context.inference.embed(TextRole::Query, std::slice::from_ref(&query.query_text)).await?;
    let query = query.first().map(Vec::as_slice).unwrap_or_default();
    Ok(vectors.iter().map(|v| f64::from(vector::dot(query, v))).collect())
}

/// Says which language the models do not read, and what would help.
pub(crate) fn unread_language(language: &str, models: &Models) -> String {
    format!(
        "the models in use read {} only: passages in `{language}` are found by full text but neither compared by \
         meaning nor judged; the `standard` profile reads them",
        models.languages.join(", ")
    )
}
