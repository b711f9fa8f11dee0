//! Documents that Mayfly wrote are read by the types, and written again.

use serde::Deserialize;
use serde_json::{Map, Value};
use summary::{StreamSummary, Summary, WindowsSummary};

/// Documents by what was run: `python tests/helpers/summaries.py` writes them.
fn documents() -> Map<String, Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/summaries.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// Reads a document as the type that it is of, and writes it.
fn again(document: &Value) -> serde_json::Result<Value> {
    if document.get("windows").is_some() {
        return serde_json::to_value(WindowsSummary::deserialize(document)?);
    }
    if document.get("stream").is_some() {
        return serde_json::to_value(StreamSummary::deserialize(document)?);
    }
    serde_json::to_value(Summary::deserialize(document)?)
}

/// Where two values differ: keys, nulls and words; 1 and 1.0 are one number.
fn difference(one: &Value, other: &Value, at: &str) -> Option<String> {
    match (one, other) {
        (Value::Object(these), Value::Object(those)) => {
            let missing = these.keys().find(|key| !those.contains_key(*key));
            let more = those.keys().find(|key| !these.contains_key(*key));
            if let Some(key) = missing.or(more) {
                return Some(format!("{at}: {key} is in one only"));
            }
            these.iter().find_map(|(key, value)| difference(value, &those[key], &format!("{at}.{key}")))
        }
        (Value::Array(these), Value::Array(those)) if these.len() == those.len() => {
            these.iter().zip(those).find_map(|(this, that)| difference(this, that, &format!("{at}[]")))
        }
        (Value::Number(this), Value::Number(that)) if this.as_f64() == that.as_f64() => None,
        _ => (one != other).then(|| format!("{at}: {one} and {other}")),
    }
}

#[test]
fn a_document_is_what_its_type_writes_of_it() {
    let all = documents();
    assert!(all.len() >= 10, "{} documents", all.len());
    for (name, document) in all {
        let written = again(&document).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(difference(&document, &written, "$"), None, "{name}");
    }
}

/// Every object of a document, by its place.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(all) => {
            found.push(at.to_owned());
            all.iter().for_each(|(key, one)| objects(one, &format!("{at}/{key}"), found));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(number, one)| objects(one, &format!("{at}/{number}"), found));
        }
        _ => {}
    }
}

#[test]
fn a_key_that_no_type_declares_is_refused_in_every_object() {
    // Objects whose keys are names of something: fields of a scenario, options, labels, criteria, kinds of figures, files,
    // measures, directions, reasons.
    let mut free = vec!["/scenario", "/options", "/models", "/replicated", "/resampled", "/expected_errors", "/files"];
    free.extend(["/figures", "/ci95", "/packets_per_s", "/left_out"]);
    for (name, document) in documents() {
        let mut places = Vec::new();
        objects(&document, "", &mut places);
        places.retain(|place| !place.starts_with("/scenario/") && !free.iter().any(|end| place.ends_with(end)));
        assert!(places.len() > 5, "{name}");
        for place in places {
            let mut changed = document.clone();
            let object = changed.pointer_mut(&place).and_then(Value::as_object_mut).expect("an object");
            object.insert("no_such_key".to_owned(), Value::Null);
            let error = again(&changed).expect_err(&format!("{name}: {place}"));
            assert!(error.to_string().contains("no_such_key"), "{name}: {place}: {error}");
        }
    }
}

#[test]
fn every_key_has_a_meaning() {
    let schema = summary::schema();
    for (name, definition) in schema.as_object().expect("definitions") {
        assert!(definition.get("description").is_some(), "{name}");
        let properties = definition.get("properties").and_then(Value::as_object);
        for (key, property) in properties.into_iter().flatten() {
            assert!(property.get("description").is_some(), "{name}.{key}");
        }
    }
}
