//! The program as a person runs it: the real binary, on real files.

mod chores;
mod harness;
mod input;
mod interrupted;
mod planted;
mod processes;
#[path = "../running/mod.rs"]
mod running;
mod simulation;
mod unusable;
