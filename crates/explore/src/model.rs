//! What a model expects.
