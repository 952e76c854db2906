//! Model folders and GGUF files: quantizing, reading back, and refusing what cannot be served.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/tiny.rs"]
mod tiny;

use std::path::{Path, PathBuf};

use lyra_ml_server::model::Model;
use lyra_ml_server::model::head::Pooling;
use lyra_ml_server::model::quantize::{Metadata, quantize};
use lyra_ml_server::model::spec::Task;
use lyra_ml_server::model::tokenizer::{TokenizeError, Tokens, Truncation};
use lyra_proto::TruncationDirection::{self, Left, Right};
use tiny::{difference, load};

fn cut(direction: TruncationDirection) -> Truncation {
    Truncation::Cut(direction)
}

fn folder(classifier: bool) -> (tempfile::TempDir, PathBuf) {
    tiny::folder(tiny::FAMILIES[0], classifier)
}

fn text(model: &Model, text: &str) -> Tokens {
    model.tokenizer.text(text, cut(Right)).unwrap()
}

#[test]
fn quantising_keeps_everything_but_some_precision() {
    for classifier in [false, true] {
        let (parent, path) = folder(classifier);
        let file = parent.path().join("tiny.gguf");
        let metadata = Metadata {
            name: Some("tiny-one".into()),
            languages: vec!["en".into(), "ja".into()],
            license: Some("MIT".into()),
            source: Some("https://example.org/tiny".into()),
            max_tokens: Some(12),
        };
        let summary = quantize(&path, &file, &metadata).unwrap();
        assert_eq!(summary.bytes, std::fs::metadata(&file).unwrap().len());
        assert_eq!(summary.quantised, if classifier { 15 } else { 14 });

        let (original, quantised) = (load(&path).unwrap(), load(&file).unwrap());
        let spec = &quantised.spec;
        assert_eq!((spec.name.as_str(), spec.max_tokens, quantised.dtype.as_str()), ("tiny-one", 12, "q8_0"));
        assert_eq!((original.spec.max_tokens, original.dtype.as_str()), (16, "f32"));
        assert_eq!(spec.languages, ["en", "ja"]);
        assert_eq!(
            (spec.license.as_deref(), spec.source.as_deref()),
            (Some("MIT"), Some("https://example.org/tiny"))
        );
        assert_eq!(spec.task, original.spec.task);
        let input = text(&original, "red stone green");
        assert_eq!(input, text(&quantised, "red stone green"));
        let (want, got) = (&original.run(&[&input]).unwrap()[0], &quantised.run(&[&input]).unwrap()[0]);
        let (scale, largest) = (difference(want, &vec![0.0; want.len()]), difference(want, got));
        assert!(largest > 0.0 && largest < 0.03 * scale, "{largest} of {scale}");
    }
}

#[test]
fn pooling_and_labels_come_from_the_folder() {
    let (_parent, path) = folder(false);
    assert_eq!(load(&path).unwrap().spec.task, Task::Embed(Pooling::Cls));
    let (_parent, path) = folder(true);
    let labels = ["neutral", "contradiction", "entailment"].map(str::to_owned).to_vec();
    assert_eq!(load(&path).unwrap().spec.task, Task::Classify(labels));
}

#[test]
fn segment_ids_are_used_where_transformers_uses_them() {
    for (tokenizer_config, segment) in [
        (r#"{"tokenizer_class": "BertTokenizer"}"#, 1),
        (r#"{"tokenizer_class": "TokenizersBackend"}"#, 0),
        (
            r#"{"tokenizer_class": "TokenizersBackend", "model_input_names": ["input_ids", "token_type_ids"]}"#,
            1,
        ),
    ] {
        let (parent, path) = folder(true);
        std::fs::write(path.join("tokenizer_config.json"), tokenizer_config).unwrap();
        let file = parent.path().join("tiny.gguf");
        quantize(&path, &file, &Metadata::default()).unwrap();
        for model in [load(&path).unwrap(), load(&file).unwrap()] {
            let pair = model.tokenizer.pair("red", "blue", cut(Right)).unwrap();
            assert_eq!(pair.type_ids, [0, 0, 0, segment, segment], "{tokenizer_config}");
        }
    }
}

#[test]
fn truncation_cuts_the_side_asked_for() {
    let (_parent, path) = folder(true);
    let tokenizer = load(&path).unwrap().tokenizer;
    let long = "red ".to_owned() + &"green ".repeat(20) + "blue";
    let right = tokenizer.text(&long, cut(Right)).unwrap();
    assert_eq!((right.len(), right.ids[1], right.ids[14]), (16, 4, 5));
    let left = tokenizer.text(&long, cut(Left)).unwrap();
    assert_eq!((left.len(), left.ids[1], left.ids[14]), (16, 5, 6));
    let refused = tokenizer.text(&long, Truncation::Refuse);
    assert_eq!(refused, Err(TokenizeError::TooLong { length: 24, limit: 16 }));

    // The longer text of a pair gives way: 16 = 3 special + 11 + 2.
    let pair = tokenizer.pair(&long, "stone stone", cut(Right)).unwrap();
    assert_eq!((pair.len(), pair.type_ids.iter().sum::<u32>()), (16, 3));
    assert_eq!(pair.ids[13..], [7, 7, 3]);
    // An empty second text is the same as a missing one.
    assert_eq!(tokenizer.pair("red", "", cut(Right)).unwrap().ids, [2, 4, 3]);
}

#[test]
fn only_so_much_of_a_text_is_looked_at_as_the_model_can_read() {
    let (_parent, path) = folder(true);
    let tokenizer = load(&path).unwrap().tokenizer;
    for (unit, repeated) in [("red ", 50), ("石 ", 50), ("red", 1)] {
        for direction in [Right, Left] {
            let short = tokenizer.text(&unit.repeat(repeated), cut(direction)).unwrap();
            let long = tokenizer.text(&unit.repeat(repeated * 10_000), cut(direction)).unwrap();
            assert!(long == short || repeated == 1, "{unit}");
        }
    }
    // 64 characters for each of 16 tokens, whatever they are.
    let blank = " ".repeat(1_024);
    assert_eq!(tokenizer.text(&format!("{blank}red"), cut(Right)).unwrap().len(), 2);
    assert_eq!(tokenizer.text(&format!("{blank}red"), cut(Left)).unwrap().len(), 3);
    assert_eq!(tokenizer.text(&format!("red{blank}"), cut(Left)).unwrap().len(), 2);
    assert_eq!(tokenizer.text(&blank, Truncation::Refuse).unwrap().len(), 2);
    let refused = tokenizer.pair("red", &format!("{blank}é"), Truncation::Refuse);
    assert_eq!(refused, Err(TokenizeError::TooManyCharacters { length: 1_025, limit: 1_024 }));

    let ids = [vec![4; 100_000], vec![5]].concat();
    assert_eq!(tokenizer.ids(&ids, cut(Right)).unwrap().ids[13..], [4, 4, 3]);
    assert_eq!(tokenizer.ids(&ids, cut(Left)).unwrap().ids[13..], [4, 5, 3]);
    let refused = tokenizer.ids(&ids, Truncation::Refuse);
    assert_eq!(refused, Err(TokenizeError::TooLong { length: 100_003, limit: 16 }));
}

#[test]
fn pooling_is_read_as_every_version_of_sentence_transformers_writes_it() {
    let check = |config: &str| {
        let (_parent, path) = folder(false);
        std::fs::write(path.join("1_Pooling/config.json"), config).unwrap();
        load(&path).map(|model| model.spec.task)
    };
    for (config, pooling) in [
        (r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#, Pooling::Cls),
        (r#"{"pooling_mode_mean_tokens": true, "include_prompt": true}"#, Pooling::Mean),
        (r#"{"embedding_dimension": 32, "pooling_mode": "cls"}"#, Pooling::Cls),
        (r#"{"pooling_mode": ["mean"]}"#, Pooling::Mean),
        ("{}", Pooling::Mean),
    ] {
        assert_eq!(check(config).unwrap(), Task::Embed(pooling), "{config}");
    }
    for (config, found) in [
        (r#"{"pooling_mode_max_tokens": true}"#, "`max`"),
        (r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}"#, "`cls and mean`"),
        (r#"{"pooling_mode": "lasttoken"}"#, "`lasttoken`"),
    ] {
        let error = check(config).unwrap_err();
        assert!(error.contains(found) && error.contains("neither mean nor cls"), "{error}");
    }
}

#[test]
fn what_cannot_be_served_says_why() {
    let check = |spoil: &dyn Fn(&Path), says: &[&str]| {
        let (_parent, path) = folder(false);
        spoil(&path);
        let error = load(&path).map(drop).unwrap_err();
        assert!(says.iter().all(|text| error.contains(text)), "{error}");
    };
    let remove = |file: &'static str| move |path: &Path| std::fs::remove_file(path.join(file)).unwrap();
    let replace = |file: &'static str, old: &'static str, new: &'static str| {
        move |path: &Path| {
            let content = std::fs::read_to_string(path.join(file)).unwrap();
            assert!(content.contains(old));
            std::fs::write(path.join(file), content.replace(old, new)).unwrap();
        }
    };
    check(&remove("config.json"), &["lacks config.json"]);
    check(&remove("tokenizer.json"), &["lacks tokenizer.json"]);
    check(&remove("model.safetensors"), &["lacks model.safetensors"]);
    check(&remove("1_Pooling/config.json"), &["1_Pooling/config.json"]);
    check(&replace("config.json", "BertModel", "T5Model"), &["T5Model", "supported: BertModel"]);
    check(&replace("config.json", "\"gelu\"", "\"mish\""), &["activation `mish`"]);
    check(&replace("config.json", "\"hidden_size\":32", "\"hidden_size\":64"), &["shape [8, 32]", "[8, 64]"]);
    check(&replace("tokenizer.json", "\"stone\":7", "\"stone\":8"), &["9 ids", "8 rows"]);
    let shorten = |path: &Path| {
        let file = path.join("model.safetensors");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(file, &bytes[..bytes.len() - 100]).unwrap();
    };
    check(&shorten, &["cut short"]);
    let garble = |path: &Path| std::fs::write(path.join("model.safetensors"), [0xff; 64]).unwrap();
    check(&garble, &["not a safetensors file"]);
}

#[test]
fn damaged_and_foreign_gguf_files_are_refused() {
    let (parent, path) = folder(false);
    let file = parent.path().join("tiny.gguf");
    quantize(&path, &file, &Metadata::default()).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let check = |bytes: &[u8], says: &str| {
        std::fs::write(&file, bytes).unwrap();
        let error = load(&file).map(drop).unwrap_err();
        assert!(error.contains("tiny.gguf") && error.contains(says), "{error}");
    };
    check(&bytes[..bytes.len() - 2_000], "remaining");
    check(&bytes[..1_000], "remaining");
    check(b"not a model at all", "magic");

    let with = |old: &[u8], new: &[u8]| {
        let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
        [&bytes[..at], new, &bytes[at + old.len()..]].concat()
    };
    check(&with(b"lyra.format_version", b"else.format_version"), "lyra-ml-server quantize");
    // The key is followed by the type (u32 is 4) and the value.
    let newer = with(b"lyra.format_version\x04\0\0\0\x01", b"lyra.format_version\x04\0\0\0\x02");
    check(&newer, "newer version (format 2)");
}

/// The oldest format must stay readable: the repository's own files are of it.
#[test]
fn format_1_is_readable() {
    for name in ["lite-embed", "lite-nli"] {
        let model = Model::load(&common::lite(name), None).unwrap();
        assert_eq!((model.spec.max_tokens, model.spec.languages.as_slice()), (256, &["en".to_owned()][..]));
    }
}
