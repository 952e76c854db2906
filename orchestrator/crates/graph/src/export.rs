//! The graph in the formats of other programs.

mod csv;
mod dot;
mod gexf;
mod graphml;
mod node_link;
mod table;
mod xml;

use crate::{EdgeFacts, Link, Node};
use serde_json::{Map, Value, json};

/// Characters of a node's text that serve as its label.
const LABEL_CHARS: usize = 60;

impl Node {
    /// Its unique name in every export: kind and id.
    fn name(&self) -> String {
        format!("{}:{}", self.node_type.word(), self.obj_id)
    }

    /// A few words to show: the beginning of its title or text, else its id.
    fn label(&self) -> String {
        let text = ["title", "text"].iter().find_map(|field| {
            self.attributes.get(*field).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
        });
        let words = text.unwrap_or(&self.obj_id).split_whitespace().collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(LABEL_CHARS) {
            Some((end, _)) => format!("{}…", words[..end].trim_end()),
            None => words,
        }
    }

    /// Everything but the name, as one flat object.
    fn fields(&self) -> Map<String, Value> {
        let mut fields = self.attributes.clone();
        fields.insert("node_type".to_owned(), json!(self.node_type));
        fields.insert("obj_id".to_owned(), json!(self.obj_id));
        fields
    }
}

/// Everything but the ends of an edge, as one object.
fn edge_fields(link: Link, facts: &EdgeFacts) -> Map<String, Value> {
    let mut fields = match json!(facts) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.insert("relation".to_owned(), json!(link.word()));
    fields
}

#[cfg(test)]
mod tests;
