//! The kit passes a store that keeps the contract, and each of its checks fails where it should.

mod allowed;
mod blocking;
mod defects;
mod report;
