//! The JSON that clients see, spelled out.

use lyra_proto::{
    EmbedInput, EmbedInputs, EmbedRequest, EmbeddingsRequest, ErrorBody, ErrorType, NliLabel, NliScores,
    PredictRequest, SimilarityRequest, TruncationDirection,
};
use serde_json::json;

fn text(text: &str) -> EmbedInput {
    EmbedInput::Text(text.into())
}

#[test]
fn texts_and_token_ids_are_told_apart() {
    let ids = |ids: &[u32]| EmbedInput::Ids(ids.to_vec());
    for (input, want) in [
        (json!("a"), vec![text("a")]),
        (json!(["a", "1"]), vec![text("a"), text("1")]),
        (json!([1, 2]), vec![ids(&[1, 2])]),
        (json!([[1, 2], [3]]), vec![ids(&[1, 2]), ids(&[3])]),
        (json!([[1], "a"]), vec![ids(&[1]), text("a")]),
        (json!([[]]), vec![ids(&[])]),
        (json!([]), vec![]),
    ] {
        let request: EmbeddingsRequest = serde_json::from_value(json!({ "input": input })).unwrap();
        assert_eq!(Vec::from(request.input), want);
        let request: EmbedRequest = serde_json::from_value(json!({ "inputs": input })).unwrap();
        assert_eq!(Vec::from(request.inputs), want);
    }
    for input in
        [json!(1), json!(null), json!({}), json!([-1]), json!([1.5]), json!([1, "a"]), json!([[[1]]])]
    {
        let error =
            serde_json::from_value::<EmbedRequest>(json!({ "inputs": input })).unwrap_err().to_string();
        assert!(error.contains("a list of token ids"), "{error}");
    }
}

#[test]
fn embed_request_has_tei_defaults() {
    let one: EmbedRequest = serde_json::from_value(json!({"inputs": "a"})).unwrap();
    assert_eq!(one.inputs, EmbedInputs::One(text("a")));
    assert!(one.normalize && one.truncate);
    assert_eq!((one.dimensions, one.prompt_name, one.truncation_direction), (None, None, None));

    let many: EmbedRequest = serde_json::from_value(
        json!({"inputs": ["a", "b"], "normalize": false, "truncation_direction": "Left"}),
    )
    .unwrap();
    assert_eq!(Vec::from(many.inputs), [text("a"), text("b")]);
    assert!(!many.normalize);
    assert_eq!(many.truncation_direction, Some(TruncationDirection::Left));
}

#[test]
fn null_means_the_default_as_in_tei() {
    let embed: EmbedRequest =
        serde_json::from_value(json!({"inputs": "a", "truncate": null, "prompt_name": null})).unwrap();
    assert_eq!(embed, EmbedRequest { inputs: EmbedInputs::One(text("a")), ..EmbedRequest::new(vec![]) });
    let predict: PredictRequest = serde_json::from_value(json!({"inputs": "a", "truncate": null})).unwrap();
    assert!(predict.truncate && !predict.raw_scores);
    let inputs = json!({"source_sentence": "a", "sentences": ["b"]});
    let similarity: SimilarityRequest =
        serde_json::from_value(json!({"inputs": inputs, "parameters": null})).unwrap();
    assert_eq!(similarity.parameters, None);
}

#[test]
fn ties_go_to_the_cautious_label() {
    let third = 1.0 / 3.0;
    assert_eq!(NliScores { supports: third, refutes: third, neutral: third }.label(), NliLabel::Neutral);
    assert_eq!(NliScores { supports: 0.4, refutes: 0.4, neutral: 0.2 }.label(), NliLabel::Refutes);
}

#[test]
fn error_types_are_snake_case() {
    let body = ErrorBody { error: "e".into(), error_type: ErrorType::TooLarge, error_id: "1".into() };
    assert_eq!(
        serde_json::to_value(body).unwrap(),
        json!({"error": "e", "error_type": ErrorType::TooLarge.as_str(), "error_id": "1"})
    );
    assert_eq!(ErrorType::TooLarge.as_str(), "too_large");
}
