//! The JSON that clients see, spelled out.

use lyra_proto::{
    EmbedRequest, ErrorBody, ErrorType, Inputs, NliLabel, NliScores, PredictRequest, SimilarityRequest,
    TruncationDirection,
};
use serde_json::json;

#[test]
fn embed_request_has_tei_defaults() {
    let one: EmbedRequest = serde_json::from_value(json!({"inputs": "a"})).unwrap();
    assert_eq!(one.inputs, Inputs::One("a".into()));
    assert!(one.normalize && one.truncate);
    assert_eq!((one.dimensions, one.prompt_name, one.truncation_direction), (None, None, None));

    let many: EmbedRequest = serde_json::from_value(
        json!({"inputs": ["a", "b"], "normalize": false, "truncation_direction": "Left"}),
    )
    .unwrap();
    assert_eq!(Vec::from(many.inputs), ["a", "b"]);
    assert!(!many.normalize);
    assert_eq!(many.truncation_direction, Some(TruncationDirection::Left));
}

#[test]
fn null_means_the_default_as_in_tei() {
    let embed: EmbedRequest =
        serde_json::from_value(json!({"inputs": "a", "truncate": null, "prompt_name": null})).unwrap();
    assert_eq!(embed, EmbedRequest { inputs: Inputs::One("a".into()), ..EmbedRequest::new(vec![]) });
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
