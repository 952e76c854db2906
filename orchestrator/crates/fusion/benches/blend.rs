//! A blend from ranked lists to alarms: order, estimates, structure. Texts are not read.

#[path = "../tests/prior/mod.rs"]
mod prior;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lyra_fusion::{Blend, Lane, Pool, RankedDocs, Recipe, alarm};
use prior::PRIOR;
use std::hint::black_box;

/// A number below `below`, the same in every run (`SplitMix64`).
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % below as u64) as usize
}

/// A lane of `size` documents out of three times as many, each with 4 of 600 codes.
fn lane(state: &mut u64, size: usize) -> RankedDocs {
    let mut picked = std::collections::HashSet::new();
    let mut docs = Vec::new();
    while docs.len() < size {
        let number = draw(state, size * 3);
        if picked.insert(number) {
            let codes = (0..4).map(|i| {
                let n = (number * 7 + i * 131 + draw(state, 40)) % 600;
                format!("cpc:H{:02}L{}/{:02}", n % 20 + 1, n % 30 + 1, n % 90)
            });
            docs.push((format!("US-{number:08}-A1"), 1.0 / (docs.len() + 1) as f64, codes.collect()));
        }
    }
    RankedDocs::new(docs)
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("blend");
    for size in [800, 10_000] {
        let mut state = 7;
        let lists: Vec<RankedDocs> = (0..5).map(|_| lane(&mut state, size)).collect();
        let names = ["wide", "recall", "precision", "problem", "semantic"];
        let recipe = Recipe {
            target_profile: (1..30)
                .map(|i| (format!("cpc:H{:02}L{i}", i % 20 + 1), 1.0 / f64::from(i)))
                .collect(),
            ..Recipe::default()
        };
        group.bench_function(format!("5 lanes of {size}"), |bencher| {
            bencher.iter_batched(
                || (),
                |()| {
                    let lanes: Vec<Lane<'_>> = names
                        .iter()
                        .zip(&lists)
                        .map(|(name, docs)| Lane { name, docs, limit: recipe.limit() })
                        .collect();
                    let pool = Pool::new(&lanes);
                    let prepared = recipe.prepare(&names).expect("a sound recipe");
                    let blend = Blend::new(&pool, &recipe, &prepared);
                    let said = blend.assess(&pool, (&recipe, &prepared), &PRIOR, &[], &[]);
                    let profile = prepared.profile.as_ref();
                    black_box(alarm::of_blend(&pool, &blend, &said.metrics, profile, &[]));
                    black_box((blend.ranking.order, said.estimate));
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
