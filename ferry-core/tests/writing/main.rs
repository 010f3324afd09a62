//! The fenced write, driven step by step against a store whose answers are scripted.

#[path = "../deposits/mod.rs"]
mod deposits;
mod doubt;
mod folding;
mod overtaken;
mod properties;
mod retrying;
mod store;
mod story;
mod table;
mod words;
