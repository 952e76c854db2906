//! The layers of the configuration: their values, their precedence, and unknown keys.

use super::{Config, default_file, shown};
use anyhow::Context;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Prefix of environment variables that set keys.
const PREFIX: &str = "LYRA__";
/// The usual variable for log filters of Rust programs. It comes after our own variables, so it overrides
/// `LYRA__LOG__LEVEL`.
const LOG_FILTER: &str = "RUST_LOG";
/// Variables with one underscore that are read.
const READ: [&str; 4] = ["LYRA_DATA_DIR", "LYRA_CONFIG", "LYRA_ML_URL", "LYRA_MODELS_DIR"];
/// What those of the ml-server begin with.
const ML_SERVER: &str = "LYRA_ML_";
/// Least similarity (Jaro-Winkler, 0 to 1) of a suggested key.
const NEAR: f64 = 0.75;
/// Least similarity of a variable that is taken for a misspelled one. Containers and scripts have variables of their own.
const MISSPELLED: f64 = 0.9;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is unset; the default applies.
    Default,
    /// A configuration file.
    File(PathBuf),
    /// A variable of the environment.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A key with its effective value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// `table.key`.
    pub key: String,
    /// Its value; `None` when it is unset or a secret.
    pub value: Option<Value>,
    /// Whether it is set but hidden.
    pub hidden: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// The values of file, environment and flags, in layers.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    values: Map<String, Value>,
    origins: BTreeMap<String, Origin>,
    problems: Vec<String>,
}

impl Layers {
    /// Reads the file, if one is given or found, and these variables over it. Problems with keys and values are kept
    /// for [`Layers::problems`].
    ///
    /// # Errors
    /// A given file that cannot be read, a file that is not TOML.
    pub fn read(
        file: Option<&Path>,
        environment: impl Iterator<Item = (String, String)>,
    ) -> anyhow::Result<Self> {
        let mut layers = Self::default();
        let found = file.map(Path::to_owned).or_else(|| default_file().filter(|path| path.is_file()));
        if let Some(path) = found {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("the configuration file {} cannot be read", path.display()))?;
            let table: Map<String, Value> = toml::from_str(&text).map_err(|error| {
                anyhow::anyhow!("{} is not valid TOML: {}", path.display(), fault(&text, &error))
            })?;
            layers.table(&table, &mut Vec::new(), &path);
        }
        let mut variables: Vec<(String, String)> = environment.collect();
        variables.sort();
        for (name, text) in variables {
            layers.variable(&name, &text);
        }
        Ok(layers)
    }

    /// Sets a key from the command line.
    pub fn flag(&mut self, key: &str, value: Value, name: &'static str) {
        self.set(key, value, Origin::Flag(name));
    }

    /// The effective configuration.
    ///
    /// # Errors
    /// All problems with keys and values.
    pub fn config(&self) -> anyhow::Result<Config> {
        let problems = self.problems();
        anyhow::ensure!(problems.is_empty(), "the configuration cannot be used: {}", problems.join("; "));
        self.deserialised().map_err(|problem| anyhow::anyhow!("the configuration cannot be used: {problem}"))
    }

    /// The problems with keys and values, each with a fix.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.problems.clone();
        if problems.is_empty() {
            problems.extend(self.deserialised().err());
        }
        problems
    }

    fn deserialised(&self) -> Result<Config, String> {
        serde_path_to_error::deserialize(Value::Object(self.values.clone())).map_err(|error| {
            let key = error.path().to_string();
            // An element of a list is named by its number.
            let key = key.split('[').next().unwrap_or_default().to_owned();
            let origin = self.origins.get(&key).map(|origin| format!(" ({origin})")).unwrap_or_default();
            if schema_at(&key).is_some_and(is_secret) {
                // The reason would reveal the value.
                return format!("`{key}`{origin}: should be text, in quotes");
            }
            format!("`{key}`{origin}: {}", error.inner())
        })
    }

    /// Every key with its value and origin, in the order of their names.
    pub fn settings(&self) -> Vec<Setting> {
        let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
        keys()
            .iter()
            .map(|(key, schema)| {
                let path: Vec<&str> = key.split('.').collect();
                let set =
                    at(&Value::Object(self.values.clone()), &path).filter(|value| !value.is_null()).cloned();
                let hidden = set.is_some() && is_secret(schema);
                let value = set.or_else(|| at(&defaults, &path).cloned()).filter(|value| !value.is_null());
                Setting {
                    key: key.clone(),
                    value: value.filter(|_| !hidden).map(|value| shown::value(shortened(value))),
                    hidden,
                    origin: self.origins.get(key).cloned().unwrap_or(Origin::Default),
                }
            })
            .collect()
    }

    fn set(&mut self, key: &str, value: Value, origin: Origin) {
        let mut table = &mut self.values;
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                table.insert(part.to_owned(), value);
                break;
            }
            let inner = table.entry(part).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else { break };
            table = inner;
        }
        self.origins.insert(key.to_owned(), origin);
    }

    fn table(&mut self, table: &Map<String, Value>, path: &mut Vec<String>, file: &Path) {
        for (name, value) in table {
            path.push(name.clone());
            let key = path.join(".");
            match (schema_at(&key), value) {
                (None, Value::Object(_)) => {
                    let nearest = nearest(&key, &TABLES).map(|near| format!(", did you mean [{near}]?"));
                    let nearest = nearest.unwrap_or_default();
                    self.problems.push(format!("{}: unknown table [{key}]{nearest}", file.display()));
                }
                (None, _) => {
                    let nearest = nearest(&key, &NAMES)
                        .map(|near| format!(", did you mean `{near}`?"))
                        .unwrap_or_default();
                    self.problems.push(format!("{}: unknown key `{key}`{nearest}", file.display()));
                }
                (Some(schema), Value::Object(inner)) if is_table(schema) => self.table(inner, path, file),
                (Some(schema), _) if is_table(schema) => {
                    self.problems.push(format!(
                        "{}: `{key}` is a table: write [{key}] above its keys",
                        file.display()
                    ));
                }
                (Some(schema), value) => {
                    if let Some(problem) = out_of_range(schema, value) {
                        self.problems.push(format!("{}: `{key}` {problem}", file.display()));
                    }
                    self.set(&key, value.clone(), Origin::File(file.to_owned()));
                }
            }
            path.pop();
        }
    }

    fn variable(&mut self, name: &str, text: &str) {
        if name == LOG_FILTER {
            if !text.trim().is_empty() {
                self.set("log.level", text.trim().into(), Origin::Environment(name.to_owned()));
            }
            return;
        }
        let Some(rest) = name.strip_prefix(PREFIX) else {
            // With one underscore instead of two it would be silently ignored.
            let bare = name.strip_prefix("LYRA_").map(flat);
            let key = keys().iter().find(|(key, _)| bare.as_ref() == Some(&flat(key)));
            let meant = key.map(|(key, _)| variable_name(key)).or_else(|| misspelled(name));
            if let Some(meant) = meant.filter(|_| !READ.contains(&name) && !name.starts_with(ML_SERVER)) {
                self.problems.push(format!("the variable {name} is not read, did you mean {meant}?"));
            }
            return;
        };
        let key = rest.to_lowercase().replace("__", ".");
        match schema_at(&key) {
            None => {
                let near =
                    nearest(&key, &NAMES).map(|near| format!(", did you mean {}?", variable_name(&near)));
                self.problems
                    .push(format!("the variable {name} does not name a key{}", near.unwrap_or_default()));
            }
            Some(schema) if is_table(schema) => {
                let example = keys().iter().find(|(inner, _)| inner.starts_with(&format!("{key}.")));
                let example = example.map(|(inner, _)| variable_name(inner)).unwrap_or_default();
                self.problems
                    .push(format!("the variable {name} names a table; name a key of it, such as {example}"));
            }
            Some(schema) => match parsed(schema, text) {
                Ok(value) => {
                    if let Some(problem) = out_of_range(schema, &value) {
                        self.problems.push(format!("the variable {name} {problem}"));
                    }
                    self.set(&key, value, Origin::Environment(name.to_owned()));
                }
                Err(expected) => self.problems.push(format!("the variable {name} should be {expected}")),
            },
        }
    }
}

/// The JSON Schema of the configuration file, without references.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    shorten(&mut schema);
    schema
}

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

static KEYS: LazyLock<Vec<(String, &'static Value)>> = LazyLock::new(|| {
    fn collect(schema: &'static Value, path: &str, keys: &mut Vec<(String, &'static Value)>) {
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if is_table(inner) { collect(inner, &path, keys) } else { keys.push((path, inner)) }
        }
    }
    let mut keys = Vec::new();
    collect(&SCHEMA, "", &mut keys);
    keys.sort_by(|a, b| a.0.cmp(&b.0));
    keys
});

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| KEYS.iter().map(|(key, _)| key.clone()).collect());

static TABLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut tables: Vec<String> = NAMES
        .iter()
        .flat_map(|key| key.match_indices('.').map(|(end, _)| key[..end].to_owned()).collect::<Vec<_>>())
        .collect();
    tables.dedup();
    tables
});

/// Every key with its schema, by name.
pub(super) fn keys() -> &'static [(String, &'static Value)] {
    &KEYS
}

/// A value as written in a file.
pub fn written(value: &Value) -> String {
    // JSON's texts, numbers and lists are TOML's too.
    value.to_string()
}

fn schema_at(key: &str) -> Option<&'static Value> {
    key.split('.').try_fold(&*SCHEMA, |schema, part| schema.get("properties")?.get(part))
}

fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, part| value.get(part))
}

fn is_table(schema: &Value) -> bool {
    schema.get("properties").is_some()
}

fn is_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
}

/// Where and why a file is not TOML, without the line itself: it may contain a secret.
fn fault(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let (line, column) = (
        before.matches('\n').count() + 1,
        before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
    );
    format!("line {line}, column {column}: {}", error.message())
}

fn allows(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(all) => all.iter().any(|one| one == kind),
        _ => false,
    }
}

/// A variable's text converted to the key's type.
fn parsed(schema: &Value, text: &str) -> Result<Value, &'static str> {
    let text = text.trim();
    if text.is_empty() && allows(schema, "null") {
        return Ok(Value::Null);
    }
    if allows(schema, "array") {
        if text.starts_with('[') {
            let list: Option<Map<String, Value>> = toml::from_str(&format!("list = {text}")).ok();
            return list
                .and_then(|mut table| table.remove("list"))
                .ok_or("a list such as [\"a\", \"b\"] or a,b");
        }
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        return Ok(parts.map(|part| Value::String(part.to_owned())).collect());
    }
    if allows(schema, "boolean") {
        return text.parse().map(Value::Bool).map_err(|_| "true or false");
    }
    if allows(schema, "integer") {
        return text.parse::<i64>().map(Value::from).map_err(|_| "a whole number");
    }
    if allows(schema, "number") {
        return text.parse::<f64>().map(Value::from).map_err(|_| "a number");
    }
    Ok(Value::String(text.to_owned()))
}

/// Why a number is invalid, if it is.
fn out_of_range(schema: &Value, value: &Value) -> Option<String> {
    let number = value.as_f64()?;
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
        return None;
    }
    let mut problem = format!("is {value} and should be");
    // Writing to text cannot fail.
    let _ = match (least, most) {
        (Some(least), Some(most)) => write!(problem, " {least} to {most}"),
        (Some(least), None) => write!(problem, " at least {least}"),
        (_, most) => write!(problem, " at most {}", most.unwrap_or_default()),
    };
    Some(problem)
}

/// The variable with one underscore that was most likely meant.
fn misspelled(name: &str) -> Option<String> {
    fn bare(name: &str) -> Option<String> {
        name.strip_prefix("LYRA_").map(|rest| rest.replace('_', ""))
    }
    let written = bare(name)?;
    let score = |read: &str| bare(read).map_or(0.0, |read| strsim::jaro_winkler(&written, &read));
    let best = READ.into_iter().map(|read| (score(read), read)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score >= MISSPELLED).map(|(_, read)| read.to_owned())
}

/// The name that was most likely meant.
pub(super) fn nearest(key: &str, known: &[String]) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let score = |known: &str| {
        let whole = strsim::jaro_winkler(&flat(key), &flat(known));
        // A key under the wrong table, or under none.
        whole.max(0.95 * strsim::jaro_winkler(&last(key), &last(known)))
    };
    let best = known.iter().map(|known| (score(known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score >= NEAR).map(|(_, known)| known.clone())
}

/// Without separators, so that misplaced separators still match.
fn flat(key: &str) -> String {
    key.to_lowercase().replace("__", "_").replace('.', "_")
}

fn variable_name(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_uppercase())
}

/// Single-precision numbers with the digits as written.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Number(_) => *value = shortened(value.take()),
        _ => {}
    }
}

fn shortened(value: Value) -> Value {
    let single = value.as_f64().filter(|_| value.is_f64()).map(|number| number as f32);
    match single.filter(|single| f64::from(*single) == value.as_f64().unwrap_or_default()) {
        Some(single) => single.to_string().parse::<f64>().map_or(value, Value::from),
        None => value,
    }
}

#[cfg(test)]
mod tests;
