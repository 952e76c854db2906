//! Families of patents in blends.

use super::*;

#[tokio::test]
async fn one_document_stands_for_its_family() {
    let bench = Bench::plain().await;
    let all = bench.blend(Recipe::default()).await;
    assert_eq!(all.folded, None);
    // The backend says that documents of one ten are of one family.
    let folded = bench.blend(Recipe { one_per_family: true, ..Recipe::default() }).await;
    assert_eq!((folded.meta.count_returned, folded.folded), (6, Some(all.meta.count_returned - 6)));
    let view = of_run(&bench, &folded.run_id).await;
    let families: std::collections::BTreeSet<&str> = view.documents.iter().map(|d| &d.doc_id[..3]).collect();
    assert_eq!((view.documents.len(), families.len()), (6, 6));
    assert!(view.documents.iter().any(|document| document.ranks.len() == 3), "members of one family agree");
    // Both ways, and by what judgments inherit.
    let delta =
        |one_per_family| RecipeDelta { one_per_family: Some(one_per_family), ..RecipeDelta::default() };
    let unfolded = bench.fusion.mutate(&folded.run_id, delta(false)).await.unwrap();
    assert_eq!((unfolded.meta.count_returned, unfolded.folded), (all.meta.count_returned, None));
    let again = bench.fusion.mutate(&unfolded.run_id, delta(true)).await.unwrap();
    assert_eq!(again.folded, folded.folded);
}

#[tokio::test]
async fn a_judgment_counts_for_the_document_that_stands_for_its_family() {
    let bench = Bench::plain().await;
    let all = bench.blend(Recipe::default()).await;
    let folded = bench.blend(Recipe { one_per_family: true, ..Recipe::default() }).await;
    let shown = of_run(&bench, &folded.run_id).await.documents;
    let listed = of_run(&bench, &all.run_id).await.documents;
    let member = listed.iter().find(|document| shown.iter().all(|other| other.doc_id != document.doc_id));
    let member = member.unwrap().doc_id.clone();
    let stands = shown.iter().find(|document| document.doc_id[..3] == member[..3]).unwrap().doc_id.clone();
    let judge = async |run: &str, doc_id: &str, label| {
        let judged = vec![Representative { doc_id: doc_id.to_owned(), label, reason: None }];
        bench.fusion.register_representatives(run, judged).await.unwrap()
    };
    judge(&all.run_id, &member, Label::A).await;
    let delta = RecipeDelta { one_per_family: Some(true), ..RecipeDelta::default() };
    let changed = bench.fusion.mutate(&all.run_id, delta).await.unwrap();
    let request =
        ProvenanceRequest { run_id: changed.run_id.clone(), sample: true, ..ProvenanceRequest::default() };
    let view = bench.fusion.provenance(&request).await.unwrap();
    assert_eq!(view.estimate.unwrap().judged, 1, "the judgment stays");
    assert!(view.sample.unwrap().iter().all(|one| one.doc_id != stands), "and is not asked for again");
    // A judgment of its own wins.
    let both = judge(&changed.run_id, &stands, Label::C).await;
    let alone = judge(&folded.run_id, &stands, Label::C).await;
    assert_eq!((both.representatives.len(), alone.representatives.len()), (2, 1));
    assert_eq!(both.estimate, alone.estimate);
}
