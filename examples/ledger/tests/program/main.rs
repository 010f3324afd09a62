//! The program as a person runs it: the real binary, on real files.

mod chores;
mod harness;
mod input;
mod interrupted;
mod planted;
mod simulation;
mod unusable;
