//! What a handle tells of itself: spans, events and metrics.
#![expect(
    clippy::print_stderr,
    reason = "the tests say which of many cases they are in"
)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what a call is not told to do otherwise, it does well"
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
