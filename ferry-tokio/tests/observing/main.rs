//! What a handle tells of itself: spans, events and metrics.
#![expect(
    clippy::print_stderr,
    reason = "the tests say which of many cases they are in"
)]

mod counting;
mod gauges;
mod harm;
mod purses;
mod recording;
mod seeing;
mod spans;
mod stories;
mod table;
