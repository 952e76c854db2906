//! Candle and the native kernels are compared on encoders of any shape, and a server that computes with candle.

#![cfg(feature = "candle")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/random.rs"]
mod random;

use common::server::Server;
use lyra_ml_server::model::candle::{Device, Encoder};
use lyra_ml_server::model::device::{BackendChoice, DeviceChoice};
use lyra_ml_server::model::encoder::Order;
use lyra_ml_server::model::head::{Head, Pooling};
use lyra_ml_server::model::ops::{Activation, Linear};
use lyra_ml_server::model::tokenizer::Tokens;
use lyra_proto::{Backend, InfoResponse};
use proptest::prelude::*;
use random::{LONGEST, Shape};
use serde_json::json;

/// Shapes of all kinds, and lengths of texts.
fn cases() -> impl Strategy<Value = (Shape, Vec<usize>)> {
    let heads = (1usize..5, prop::sample::select(vec![2usize, 8, 10, 32]));
    let activation = prop::sample::select(vec![
        Activation::GeluErf,
        Activation::GeluTanh,
        Activation::Relu,
        Activation::Tanh,
    ]);
    let window = prop::option::of(0usize..80);
    let relative = prop::option::of((any::<bool>(), any::<bool>(), 4usize..40));
    let lengths = prop::collection::vec(1usize..130, 1..7);
    (heads, any::<bool>(), activation, window, relative, any::<bool>(), any::<bool>(), lengths).prop_map(
        |((heads, head_dim), before, activation, window, relative, convolution, bias, lengths)| {
            let order = if before { Order::Before } else { Order::After };
            let plain = Shape::plain(heads * head_dim, heads);
            (Shape { order, activation, window, relative, convolution, bias, ..plain }, lengths)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn native_kernels_and_candle_agree((shape, lengths) in cases()) {
        compare(shape, &lengths);
    }
}

#[test]
fn long_texts_are_cut_into_blocks() {
    let shape = Shape { bias: true, relative: Some((true, true, 32)), ..Shape::plain(64, 4) };
    // 700 texts of 80 tokens have more scores than exist at the same time.
    compare(shape, &[80; 700]);
    compare(Shape { window: Some(64), ..Shape::plain(64, 4) }, &[LONGEST, 3, LONGEST - 1]);
}

/// Pooled vectors of both.
fn compare(shape: Shape, lengths: &[usize]) {
    let texts = random::numbers().texts(lengths);
    let batch: Vec<&Tokens> = texts.iter().collect();
    let hidden = random::encoder(shape).pack(Linear::pack).forward(&batch);
    for pooling in [Pooling::Mean, Pooling::Cls] {
        let want = Head::<Linear>::Pool(pooling).apply(&hidden);
        let encoder = Encoder::upload(&Device::cpu(), random::encoder(shape), pooling).unwrap();
        let got = encoder.forward(&batch).unwrap();
        assert_eq!(got.len(), want.len());
        for ((got, want), length) in got.iter().zip(&want).zip(lengths) {
            let off = got.pooled.iter().zip(want).map(|(got, want)| (got - want).powi(2)).sum::<f32>();
            let ratio = (off / want.iter().map(|want| want.powi(2)).sum::<f32>()).sqrt();
            assert!(ratio < 1e-5, "{shape:?}, {length} tokens, {pooling}: {ratio}");
        }
    }
}

#[tokio::test]
async fn a_server_computes_with_candle() {
    let candle = Server::lite(|config| {
        config.device = DeviceChoice::Cpu;
        config.backend = BackendChoice::Candle;
    })
    .await;
    let native = Server::lite(|_| {}).await;
    let info: InfoResponse = candle.get("/info").await.json().await.unwrap();
    assert_eq!(info.models.len(), 2);
    for model in &info.models {
        assert_eq!(
            (model.backend, model.device.as_str(), model.dtype.as_str()),
            (Backend::Candle, "cpu", "f32")
        );
        assert_eq!(model.passed_over, []);
    }
    let metrics = candle.get("/metrics").await.text().await.unwrap();
    let line = "lyra_ml_backend{kind=\"embed\",backend=\"candle\",device=\"cpu\",state=\"serving\"} 1";
    assert!(metrics.contains(line), "{metrics}");

    let body = json!({"inputs": ["Aspirin lowers fever.", "アスピリンは熱を下げる。", ""]});
    let (got, want) = (candle.embed(&body).await, native.embed(&body).await);
    for (got, want) in got.iter().zip(&want) {
        assert!(common::server::dot(got, want) > 0.9999, "{got:?} vs {want:?}");
    }
    let pairs =
        json!({"pairs": [{"premise": "Aspirin lowers fever.", "hypothesis": "Aspirin affects fever."}]});
    let label = async |server: &Server| {
        let answer: serde_json::Value = server.post("/nli", &pairs).await.json().await.unwrap();
        answer["results"][0]["label"].clone()
    };
    assert_eq!(label(&candle).await, label(&native).await);
    candle.handle.shutdown().await;
    native.handle.shutdown().await;
}
