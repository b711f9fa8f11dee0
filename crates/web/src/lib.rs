//! The engine of `mayfly explore` for the browser: conversion and error mapping, no algorithm.

use std::sync::Mutex;

use wasm_bindgen::prelude::*;

/// What the last panic said. A panic ends the instance; the page asks for this, says it, and makes another.
static PANIC: Mutex<String> = Mutex::new(String::new());

#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut told) = PANIC.lock() {
            *told = panic.to_string();
        }
    }));
}

/// What the last panic said; empty without any.
#[wasm_bindgen]
pub fn last_panic() -> String {
    PANIC.lock().map(|told| told.clone()).unwrap_or_default()
}

/// Workloads at hand, and runs of them: [`explore::Engine`] with text and bytes of JavaScript.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine(explore::Engine);

fn thrown(error: explore::ExploreError) -> JsError {
    JsError::new(&error.0)
}

#[wasm_bindgen]
impl Engine {
    /// An engine that knows no workload.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Takes a workload document; returns what it is, JSON.
    ///
    /// # Errors
    /// A document that makes no run.
    pub fn load(&mut self, document: &str) -> Result<String, JsError> {
        self.0.load(document).map_err(thrown)
    }

    /// Takes a capture; `options` is JSON. Returns what it is, JSON.
    ///
    /// # Errors
    /// No capture, or one without anything to replay.
    pub fn open(&mut self, name: &str, capture: &[u8], options: &str) -> Result<String, JsError> {
        self.0.open(name, capture, options).map_err(thrown)
    }

    /// Runs what is asked for, JSON; returns what came of it, JSON.
    ///
    /// # Errors
    /// A request that makes no run.
    pub fn run(&self, request: &str) -> Result<String, JsError> {
        self.0.run(request).map_err(thrown)
    }
}

/// What runs over the same link come to: see [`explore::advise`].
///
/// # Errors
/// What is given is no list of questions.
#[wasm_bindgen]
pub fn advise(questions: &str) -> Result<String, JsError> {
    explore::advise(questions).map_err(thrown)
}
