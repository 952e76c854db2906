//! Weights of one safetensors file in the other forms that repositories have.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use safetensors::SafeTensors;
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Name of one of the two shards that [`sharded`] makes.
pub(crate) fn shard(index: usize) -> String {
    format!("model-{:05}-of-00002.safetensors", index + 1)
}

/// Two shards and their index.
pub(crate) fn sharded(whole: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut tensors = SafeTensors::deserialize(whole).unwrap().tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let mut files = BTreeMap::new();
    let mut map = BTreeMap::new();
    for (index, part) in tensors.chunks(tensors.len().div_ceil(2)).enumerate() {
        map.extend(part.iter().map(|(name, _)| (name.clone(), shard(index))));
        let views = part.iter().map(|(name, view)| (name.clone(), view.clone()));
        files.insert(shard(index), safetensors::serialize(views, None).unwrap());
    }
    let index = json!({"metadata": {"total_size": whole.len()}, "weight_map": map});
    files.insert("model.safetensors.index.json".to_owned(), index.to_string().into_bytes());
    files
}

/// Two shards of pickled weights and their index.
pub(crate) fn pickled_shards(whole: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let files = sharded(whole).into_iter().filter(|(name, _)| name.ends_with(".safetensors"));
    let mut map = BTreeMap::new();
    let mut shards = BTreeMap::new();
    for (index, (_, content)) in files.enumerate() {
        let name = format!("pytorch_model-{:05}-of-00002.bin", index + 1);
        let tensors = SafeTensors::deserialize(&content).unwrap();
        map.extend(tensors.names().into_iter().map(|tensor| (tensor.to_owned(), name.clone())));
        shards.insert(name, pickled(&content));
    }
    let index = json!({"metadata": {}, "weight_map": map}).to_string().into_bytes();
    shards.insert("pytorch_model.bin.index.json".to_owned(), index);
    shards
}

/// What `torch.save(state_dict)` would write.
pub(crate) fn pickled(whole: &[u8]) -> Vec<u8> {
    let tensors = SafeTensors::deserialize(whole).unwrap().tensors();
    let mut pickle = b"\x80\x02ccollections\nOrderedDict\n)R(".to_vec();
    let mut files = Vec::new();
    for (key, (name, view)) in tensors.iter().enumerate() {
        let key = key.to_string();
        let shape = view.shape();
        text(&mut pickle, name);
        pickle.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        text(&mut pickle, "storage");
        pickle.extend(b"ctorch\nFloatStorage\n");
        text(&mut pickle, &key);
        text(&mut pickle, "cpu");
        numbers(&mut pickle, &[shape.iter().product()]);
        // The storage by its id, then offset, shape and strides.
        pickle.extend(b"tQK\x00(");
        numbers(&mut pickle, shape);
        pickle.extend(b"t(");
        let strides: Vec<usize> = (1..=shape.len()).map(|from| shape[from..].iter().product()).collect();
        numbers(&mut pickle, &strides);
        pickle.extend(b"t\x89ccollections\nOrderedDict\n)RtR");
        files.push((format!("archive/data/{key}"), view.data().to_vec()));
    }
    // The dictionary of a module has versions as an attribute.
    pickle.extend(b"u}");
    text(&mut pickle, "_metadata");
    pickle.extend(b"}sb.");
    files.insert(0, ("archive/data.pkl".to_owned(), pickle));
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    archive(&files)
}

fn text(pickle: &mut Vec<u8>, text: &str) {
    pickle.push(b'X');
    pickle.extend((text.len() as u32).to_le_bytes());
    pickle.extend(text.as_bytes());
}

fn numbers(pickle: &mut Vec<u8>, numbers: &[usize]) {
    for &number in numbers {
        pickle.push(b'J');
        pickle.extend(i32::try_from(number).unwrap().to_le_bytes());
    }
}

/// A zip file without compression, as `PyTorch` writes it.
pub(crate) fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in files {
        zip.start_file(*name, stored).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
