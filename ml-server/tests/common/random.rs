#![allow(dead_code, clippy::allow_attributes, reason = "every test file compiles this and uses a part of it")]
//! Encoders with made-up weights, of any shape.

use std::sync::Arc;

use lyra_ml_server::model::attention::Attention;
use lyra_ml_server::model::bias::{BUCKETS, DistanceBias};
use lyra_ml_server::model::convolution::Convolution;
use lyra_ml_server::model::encoder::{Embeddings, Encoder, Layer, Order, PositionCount, Positions, Table};
use lyra_ml_server::model::ops::{Activation, LayerNorm};
use lyra_ml_server::model::relative::{Buckets, Relative};
use lyra_ml_server::model::rotary::Rotary;
use lyra_ml_server::model::tokenizer::Tokens;
use lyra_ml_server::model::weights::{HostTensor, LinearWeights, TensorData};

/// Most tokens of a text.
pub(crate) const LONGEST: usize = 320;
const WORDS: usize = 50;
const LAYERS: usize = 2;

/// What varies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) order: Order,
    pub(crate) activation: Activation,
    pub(crate) window: Option<usize>,
    /// Which terms, and the span.
    pub(crate) relative: Option<(bool, bool, usize)>,
    pub(crate) convolution: bool,
    /// Whether scores depend on distances alone.
    pub(crate) bias: bool,
}

impl Shape {
    /// BERT's.
    pub(crate) const fn plain(hidden: usize, heads: usize) -> Self {
        Self {
            hidden,
            heads,
            order: Order::After,
            activation: Activation::GeluErf,
            window: None,
            relative: None,
            convolution: false,
            bias: false,
        }
    }
}

/// Numbers between −1 and 1.
pub(crate) struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 8_388_608.0 - 1.0
    }

    fn vector(&mut self, length: usize, scale: f32, middle: f32) -> Vec<f32> {
        (0..length).map(|_| middle + scale * self.next()).collect()
    }

    fn table(&mut self, rows: usize, columns: usize) -> Table {
        let data = TensorData::F32(self.vector(rows * columns, 1.0, 0.0));
        Table::new(HostTensor { shape: vec![rows, columns], data })
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> LinearWeights {
        // Of this spread, outputs are about as large as inputs.
        let spread = (3.0 / inputs as f32).sqrt();
        let data = TensorData::F32(self.vector(inputs * outputs, spread, 0.0));
        let weight = HostTensor { shape: vec![outputs, inputs], data };
        LinearWeights { weight, bias: self.vector(outputs, 0.2, 0.0) }
    }

    fn norm(&mut self, width: usize) -> LayerNorm {
        LayerNorm { weight: self.vector(width, 0.3, 1.0), bias: self.vector(width, 0.3, 0.0), epsilon: 1e-5 }
    }

    /// Texts of these lengths.
    pub(crate) fn texts(&mut self, lengths: &[usize]) -> Vec<Tokens> {
        let text = |&length: &usize| Tokens {
            ids: (0..length).map(|_| ((self.next() + 1.0) * 24.9) as u32).collect(),
            type_ids: (0..length).map(|at| u32::from(at * 2 > length)).collect(),
            marks: Vec::new(),
        };
        lengths.iter().map(text).collect()
    }
}

/// Always the same for the same shape.
pub(crate) fn numbers() -> Numbers {
    Numbers(7)
}

/// An encoder. Gated and rotary where it normalizes before its blocks, with tables of positions and segments otherwise.
pub(crate) fn encoder(shape: Shape) -> Encoder<LinearWeights> {
    let Shape { hidden, heads, order, activation, window, relative, convolution, bias } = shape;
    let mut numbers = numbers();
    let before = order == Order::Before;
    let head_dim = hidden / heads;
    let wide = 2 * hidden + 8;
    let rotary = before.then(|| Arc::new(Rotary::new(1_000.0, head_dim, LONGEST)));
    let embeddings = Embeddings {
        words: numbers.table(WORDS, hidden),
        positions: (!before).then(|| Positions {
            table: numbers.table(LONGEST + 4, hidden),
            count: PositionCount::AfterPadding(3),
        }),
        segments: (!before).then(|| numbers.table(2, hidden)),
        norm: numbers.norm(hidden),
    };
    let bias =
        bias.then(|| Arc::new(DistanceBias::new(&numbers.vector(BUCKETS * heads, 1.0, 0.0), heads, LONGEST)));
    let layer = |index: usize| {
        let mut tables =
            |exists: bool, span: usize| exists.then(|| numbers.vector(2 * span * hidden, 1.0, 0.0));
        let relative = relative.map(|(keys, queries, span)| Relative {
            buckets: Buckets { span, longest: Some(LONGEST) },
            keys: tables(keys, span),
            queries: tables(queries, span),
        });
        Layer {
            order,
            qkv: numbers.linear(hidden, 3 * hidden),
            attention: Attention {
                rotary: rotary.clone(),
                window: window.filter(|_| index > 0),
                relative,
                bias: bias.clone(),
                ..Attention::plain(heads, head_dim)
            },
            attention_out: numbers.linear(hidden, hidden),
            attention_norm: (!before || index > 0).then(|| numbers.norm(hidden)),
            up: numbers.linear(hidden, if before { 2 * wide } else { wide }),
            activation,
            gated: before,
            down: numbers.linear(wide, hidden),
            norm: numbers.norm(hidden),
        }
    };
    let layers = (0..LAYERS).map(layer).collect();
    let convolution = convolution.then(|| Convolution {
        kernel: numbers.linear(3 * hidden, hidden),
        activation: Activation::Tanh,
        norm: numbers.norm(hidden),
        size: 3,
    });
    let norm = before.then(|| numbers.norm(hidden));
    Encoder { embeddings, layers, convolution, norm, hidden }
}
