//! The batching machine, driven step by step.

mod bounds;
mod gathering;
mod leaving;
mod model;
mod properties;
mod story;
mod table;
