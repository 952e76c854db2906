//! JSON Schemas of the tools, made from the Rust types. The only place that makes them. Calls are checked against the full
//! ones; clients list shorter ones, because an agent pays for every word of a list in every session.
//!
//! Many MCP clients read a small part of JSON Schema, so a schema here is one plain object: no `$ref`, no
//! `oneOf`/`anyOf`/`allOf`, no lists of types, nothing beyond what [`super::arguments`] checks.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use std::collections::HashSet;

pub(super) use lyra_wire::schema::{any_object, one_of};

/// Schema of a tool's arguments.
pub(super) fn input<T: JsonSchema>() -> JsonObject {
    object(generate::<T>(SchemaSettings::draft2020_12().for_deserialize()))
}

/// Schema of a tool's results: the fields of `T`, and those of an error. Only `ok` is required, because a result is one
/// or the other, and a choice between two shapes cannot be expressed without `oneOf`.
pub(super) fn output<T: JsonSchema>() -> JsonObject {
    let settings = || SchemaSettings::draft2020_12().for_serialize();
    let mut schema = object(generate::<T>(settings()));
    let mut error = object(generate::<super::reply::ErrorBody>(settings()));
    if let (Some(Value::Object(fields)), Some(Value::Object(more))) =
        (schema.get_mut("properties"), error.get_mut("properties"))
    {
        for (name, mut field) in std::mem::take(more) {
            let also = match name.as_str() {
                "ok" => "",
                _ if fields.contains_key(&name) => " In some errors and in some answers.",
                _ => " Only in errors.",
            };
            if let Some(Value::String(about)) = field.get_mut("description") {
                about.push_str(also);
            }
            fields.insert(name, field);
        }
    }
    schema.insert("required".into(), json!(["ok"]));
    schema
}

/// The arguments of a set of tools as clients list them: without the limits of lengths, which a call checks and whose errors
/// state them, and with parts that several tools share described once.
#[derive(Default)]
pub(super) struct Listing {
    described: HashSet<String>,
}

impl Listing {
    /// The arguments of the next tool of the set.
    pub(super) fn input(&mut self, full: &JsonObject) -> JsonObject {
        self.part(full, 0)
    }

    fn part(&mut self, full: &JsonObject, depth: usize) -> JsonObject {
        let mut listed = JsonObject::new();
        for (key, value) in full {
            let value = match value {
                _ if CHECKED.contains(&key.as_str()) => continue,
                // The description of a part states its range.
                _ if depth > 1 && ["minimum", "maximum"].contains(&key.as_str()) => continue,
                Value::Object(fields) if key == "properties" => {
                    let listed =
                        fields.iter().map(|(name, field)| (name.clone(), self.field(name, field, depth + 1)));
                    Value::Object(listed.collect())
                }
                Value::Object(items) if key == "items" => Value::Object(self.part(items, depth)),
                other => other.clone(),
            };
            listed.insert(key.clone(), value);
        }
        listed
    }

    fn field(&mut self, name: &str, field: &Value, depth: usize) -> Value {
        let Value::Object(full) = field else { return field.clone() };
        let mut listed = self.part(full, depth);
        let is_new = self.described.insert(format!("{name} {field}"));
        // The arguments themselves keep their descriptions, also where they are those of another tool.
        if !is_new && depth > 1 {
            listed.remove("description");
        }
        Value::Object(listed)
    }
}

/// A tool's results as clients list them: names and types of the fields of a success. The resource of the tool
/// describes them, and the fields of an error, which every tool shares.
pub(super) fn listed_output(full: &JsonObject) -> JsonObject {
    let kind = |field: &Value| {
        let mut kind = json!({ "type": field["type"] });
        if let Some(item) = field.get("items").and_then(|items| items.get("type")) {
            kind["items"] = json!({ "type": item });
        }
        kind
    };
    let fields = full.get("properties").and_then(Value::as_object).into_iter().flatten();
    let fields = fields.filter(|(name, _)| !OF_ERRORS.contains(&name.as_str()));
    let fields: JsonObject = fields.map(|(name, field)| (name.clone(), kind(field))).collect();
    let mut listed = full.clone();
    listed.remove("additionalProperties");
    listed.insert("properties".into(), Value::Object(fields));
    listed
}

/// Fields that only errors have.
const OF_ERRORS: &[&str] = &["error", "error_code", "error_id", "details"];

/// What a call checks and a list does not need to say.
const CHECKED: &[&str] =
    &["minLength", "maxLength", "minItems", "maxItems", "additionalProperties", "default"];

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut schema = settings
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(RecursiveTransform(plain))
        .into_generator()
        .into_root_schema_for::<T>();
    // The root's description is the tool's own.
    schema.remove("description");
    schema
}

fn object(schema: Schema) -> JsonObject {
    match schema.to_value() {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}

/// Rewrites one schema into the plain subset.
fn plain(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else { return };
    drop_null(fields);
    words_of_enum(fields);
    for noise in ["title", "format"] {
        fields.remove(noise);
    }
    // The parts of an object have their own defaults, and `null` is not a value.
    if fields.get("default").is_some_and(|default| default.is_null() || default.is_object()) {
        fields.remove("default");
    }
    if let Some(Value::String(about)) = fields.get_mut("description") {
        *about = about.replace('\n', " ");
    }
    if fields.contains_key("properties") {
        fields.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

/// An optional field may be omitted; `null` is not a value of its own.
fn drop_null(fields: &mut JsonObject) {
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&json!("null")));
        if choices.len() == 1
            && let Some(Value::Object(only)) = choices.pop()
        {
            fields.remove("anyOf");
            for (key, value) in only {
                // The field's own description precedes its type's.
                fields.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if types.len() == 1
            && let Some(only) = types.pop()
        {
            fields.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

/// An enum whose variants have their own descriptions comes as `oneOf` constants; the words go into `enum`, the
/// descriptions into the description.
fn words_of_enum(fields: &mut JsonObject) {
    let Some(Value::Array(variants)) = fields.get("oneOf") else { return };
    let mut words = Vec::new();
    let mut about: Vec<String> =
        fields.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    for variant in variants {
        let Some(word) = variant.get("const").and_then(Value::as_str) else { return };
        if let Some(text) = variant.get("description").and_then(Value::as_str) {
            about.push(format!("`{word}`: {text}"));
        }
        words.push(Value::from(word));
    }
    fields.remove("oneOf");
    fields.insert("type".into(), json!("string"));
    fields.insert("enum".into(), words.into());
    fields.insert("description".into(), about.join(" ").into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        /// Like blood.
        Red,
        /// Like the sky.
        Blue,
    }

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Inner {
        /// How many.
        #[schemars(range(min = 1, max = 3))]
        count: Option<u32>,
    }

    /// Noise.
    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Outer {
        /// Its color.
        color: Option<Color>,
        /// What is inside.
        inner: Option<Inner>,
    }

    #[test]
    fn a_list_names_the_fields_of_a_success_and_excludes_no_others() {
        let listed = listed_output(&output::<Inner>());
        let expected = json!({
            "type": "object",
            "properties": {
                "count": { "type": "integer" }, "hint": { "type": "string" }, "ok": { "type": "boolean" }
            },
            "required": ["ok"]
        });
        assert_eq!(Value::Object(listed), expected);
    }

    #[test]
    fn options_enums_and_nested_types_become_plain() {
        assert_eq!(
            Value::Object(input::<Outer>()),
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "color": {
                        "type": "string",
                        "enum": ["red", "blue"],
                        "description": "Its color. `red`: Like blood. `blue`: Like the sky."
                    },
                    "inner": {
                        "type": "object",
                        "description": "What is inside.",
                        "additionalProperties": false,
                        "properties": {
                            "count": { "type": "integer", "minimum": 1, "maximum": 3, "description": "How many." }
                        }
                    }
                }
            })
        );
    }
}
