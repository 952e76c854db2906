//! What turns an encoder's last layer into an answer: pooling for embedders, a classifier for NLI.

use std::fmt;

use super::encoder::Hidden;
use super::ops::{Activation, LayerNorm, Linear};
use super::weights::LinearWeights;

/// The last step of a model. `L` is the type of its fully connected layers, as in [`Encoder`](super::encoder::Encoder).
pub enum Head<L = Linear> {
    /// One vector per sequence, not normalized.
    Pool(Pooling),
    /// One logit per label.
    Classify(Box<Classifier<L>>),
}

impl<L> Head<L> {
    /// Its pooling.
    pub fn pooling(&self) -> Pooling {
        match self {
            Self::Pool(pooling) => *pooling,
            Self::Classify(classifier) => classifier.pooling,
        }
    }
}

impl Head<LinearWeights> {
    /// Packs the fully connected layers with `pack`, [`Linear::pack`] for this CPU.
    pub fn pack<L>(self, pack: impl Fn(LinearWeights) -> L) -> Head<L> {
        match self {
            Self::Pool(pooling) => Head::Pool(pooling),
            Self::Classify(classifier) => {
                let Classifier { pooling, dense, activation, norm, output } = *classifier;
                let (dense, output) = (pack(dense), pack(output));
                Head::Classify(Box::new(Classifier { pooling, dense, activation, norm, output }))
            }
        }
    }
}

impl Head {
    /// One row per sequence, in order.
    pub fn apply(&self, hidden: &Hidden) -> Vec<Vec<f32>> {
        let pooling = self.pooling();
        hidden.sequences().map(|rows| self.finish(pooling.apply(rows, hidden.width))).collect()
    }

    /// The step after pooling.
    pub fn finish(&self, pooled: Vec<f32>) -> Vec<f32> {
        match self {
            Self::Pool(_) => pooled,
            Self::Classify(classifier) => classifier.apply(&pooled),
        }
    }
}

/// How an embedder reduces a sequence to one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Average over all tokens, special ones included.
    Mean,
    /// The first token's vector.
    Cls,
}

impl Pooling {
    /// Pooling by its name in metadata.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "mean" => Some(Self::Mean),
            "cls" => Some(Self::Cls),
            _ => None,
        }
    }

    /// `rows` is `[tokens, width]` with at least one token.
    fn apply(self, rows: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Cls => rows[..width].to_vec(),
            Self::Mean => {
                let mut sum = vec![0.0; width];
                for row in rows.chunks_exact(width) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                let tokens = (rows.len() / width) as f32;
                for sum in &mut sum {
                    *sum /= tokens;
                }
                sum
            }
        }
    }
}

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        })
    }
}

/// `output(norm(activation(dense(pooled))))`.
pub struct Classifier<L = Linear> {
    /// What it looks at.
    pub pooling: Pooling,
    /// `[hidden → hidden]`
    pub dense: L,
    /// After the first product.
    pub activation: Activation,
    /// After the activation, where the architecture has one.
    pub norm: Option<LayerNorm>,
    /// `[hidden → labels]`
    pub output: L,
}

impl Classifier {
    /// Logits of one pooled vector.
    fn apply(&self, pooled: &[f32]) -> Vec<f32> {
        let mut features = vec![0.0; self.dense.outputs()];
        self.dense.apply(pooled, &mut features);
        self.activation.apply(&mut features);
        if let Some(norm) = &self.norm {
            norm.apply(&mut features);
        }
        let mut logits = vec![0.0; self.output.outputs()];
        self.output.apply(&features, &mut logits);
        logits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_sees_only_its_own_sequence() {
        let hidden = Hidden { data: vec![1.0, 2.0, 3.0, 4.0, 10.0, 20.0], width: 2, lengths: vec![2, 1] };
        assert_eq!(Head::Pool(Pooling::Mean).apply(&hidden), [[2.0, 3.0], [10.0, 20.0]]);
        assert_eq!(Head::Pool(Pooling::Cls).apply(&hidden), [[1.0, 2.0], [10.0, 20.0]]);
    }
}
