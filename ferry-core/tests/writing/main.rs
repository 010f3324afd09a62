//! The fenced write, driven step by step against a store whose answers are scripted.

mod carrying;
#[path = "../deposits/mod.rs"]
mod deposits;
mod doubt;
mod store;
mod story;
