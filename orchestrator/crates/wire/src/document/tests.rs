use super::*;

fn claims(count: usize) -> Value {
    let claim = |i: usize| json!({"claim_id": format!("claim_{i}"), "claim": format!("what {i} says")});
    json!({
        "task": {"task_id": "task_1", "searches": [{"search_id": "q_1"}], "authors": ["A", "B"]},
        "claims": (0..count).map(claim).collect::<Vec<_>>(),
        "network": {"loops": [["a", "b"], ["c"]], "count": 2, "none": []},
    })
}

/// All pages, joined again.
fn joined(document: &Document, max_bytes: usize) -> (Value, usize) {
    let (mut whole, mut cursor, mut pages) = (json!({}), None, 0);
    loop {
        let page = document.page(cursor.as_deref(), max_bytes).unwrap();
        assert!(page.part.to_string().len() <= max_bytes, "{} bytes", page.part.to_string().len());
        assert!(page.items > 0 && !page.changed);
        merge(&mut whole, page.part);
        pages += 1;
        cursor = page.next_cursor;
        if cursor.is_none() {
            return (whole, pages);
        }
    }
}

fn merge(whole: &mut Value, part: Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (name, value) in part {
                merge(whole.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(whole), Value::Array(part)) => whole.extend(part),
        (whole, part) => *whole = part,
    }
}

#[test]
fn pages_together_are_the_document() {
    let whole = claims(300);
    let document = Document::of(&whole);
    let (small, pages) = joined(&document, 1_000);
    assert!(pages > 10, "{pages}");
    assert_eq!(small, whole);
    assert_eq!(joined(&document, 1 << 20), (whole, 1), "what fits is one page, unchanged");
}

#[test]
fn a_cursor_outlives_a_change_and_says_so() {
    let cursor = Document::of(&claims(300)).page(None, 1_000).unwrap().next_cursor.unwrap();
    let mut fewer = claims(300);
    fewer["claims"].as_array_mut().unwrap().remove(0);
    let page = Document::of(&fewer).page(Some(&cursor), 1_000).unwrap();
    assert!(page.changed);
    let last = cursor.rsplit('.').next().unwrap().strip_prefix("claim_").unwrap().parse::<usize>().unwrap();
    assert_eq!(
        page.part["claims"][0]["claim_id"],
        format!("claim_{}", last + 1),
        "it goes on behind the same item"
    );
    for wrong in ["", "x", "1.2", "zz.1.", "0.x.claim_1"] {
        assert_eq!(Document::of(&claims(3)).page(Some(wrong), 1_000).unwrap_err(), WrongCursor, "{wrong}");
    }
}

#[test]
fn an_item_larger_than_a_page_is_shortened() {
    let evidence = |i: usize| json!({"edge_id": format!("edge_{i}"), "text": "x".repeat(3_000)});
    let whole = json!({
        "claims": [
            {"claim_id": "claim_1", "claim": "short", "evidence": (0..40).map(evidence).collect::<Vec<_>>()},
            {"claim_id": "claim_2", "claim": "short"},
        ]
    });
    let document = Document::of(&whole);
    let (small, pages) = joined(&document, 20_000);
    assert_eq!((pages, small["claims"].as_array().map(Vec::len)), (2, Some(2)));
    let first = &small["claims"][0];
    let kept = first["evidence"].as_array().unwrap().len();
    assert!((5..10).contains(&kept) && first["shortened"].is_string(), "{kept} kept");
    assert!(small["claims"][1].get("shortened").is_none());
}
