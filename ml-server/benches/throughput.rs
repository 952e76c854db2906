//! Texts and pairs per second of the lite models, in process, with 2 threads: short (about 20 tokens) and long (256
//! tokens) inputs in batches of 32. Then the integer kernels alone.
//!
//! `cargo bench -p lyra-ml-server`

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lyra_ml_server::model::kernels::q8::{Kernel, Matrix, Rows, Write};
use lyra_ml_server::model::tokenizer::{Tokens, Truncation};
use lyra_ml_server::model::{Model, ModelSource};
use lyra_proto::TruncationDirection;

const BATCH: usize = 32;
const THREADS: usize = 2;
const SENTENCE: &str =
    "Vitamin D supplementation did not lower the rate of fractures in older adults during two years.";

fn main_bench(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().expect("threads");
    let cut = Truncation::Cut(TruncationDirection::Right);
    let mut group = criterion.benchmark_group("lite");
    group
        .throughput(Throughput::Elements(BATCH as u64))
        .sample_size(20)
        .measurement_time(Duration::from_secs(8));
    for (file, words) in [("lite-embed", 1), ("lite-embed", 20), ("lite-nli", 1), ("lite-nli", 20)] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models").join(format!("{file}.gguf"));
        let model = Model::load(&ModelSource::Gguf(path), None).expect("model");
        let text = vec![SENTENCE; words].join(" ");
        let tokens = if file == "lite-nli" {
            model.tokenizer.pair(&text, SENTENCE, cut)
        } else {
            model.tokenizer.text(&text, cut)
        };
        let batch: Vec<Tokens> = vec![tokens.expect("tokens"); BATCH];
        let batch: Vec<&Tokens> = batch.iter().collect();
        group.bench_function(BenchmarkId::new(file, format!("{} tokens", batch[0].len())), |bencher| {
            bencher.iter(|| pool.install(|| black_box(model.run(&batch).expect("rows"))));
        });
    }
    group.finish();
}

/// Multiplications per second of each kernel on one thread: the widest product of the lite models, for 252 tokens.
fn kernels(criterion: &mut Criterion) {
    const SHAPE: [usize; 3] = [252, 384, 1_536];
    let [rows, inputs, outputs] = SHAPE;
    let blocks: Vec<u8> = (0..outputs * inputs / 32 * 34).map(|i| (i % 34 * 7) as u8).collect();
    let matrix = Matrix::pack(&blocks, outputs, inputs);
    let values: Vec<f32> = (0..rows * inputs).map(|i| (i % 91) as f32 - 45.0).collect();
    let mut x = Rows::default();
    x.round(&values, inputs);
    let (bias, mut out) = (vec![0.0; outputs], vec![0.0; rows * outputs]);
    let mut group = criterion.benchmark_group("q8_0");
    group.throughput(Throughput::Elements(SHAPE.iter().product::<usize>() as u64)).sample_size(20);
    for kernel in Kernel::available() {
        group.bench_function(kernel.to_string(), |bencher| {
            bencher.iter(|| matrix.multiply_with(kernel, &x, &bias, &mut out, Write::Over));
        });
    }
    group.finish();
}

criterion_group!(benches, main_bench, kernels);
criterion_main!(benches);
