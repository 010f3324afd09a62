//! Ferry's core where there is no operating system: a meter's readings, totalled in a flash sector that is written on a condition.
//!
//! One loop is all there is: it feeds the batching machine, and carries one batch after the other. The time is a tick counter's,
//! a pause is left to whoever drives the loop.
//!
//! Built with `--cfg ferry_no_std`, this crate brings a panic handler of its own, as a program for bare metal does. Then it does
//! not compile if anything beneath it links `std`: that is how the core is held to `no_std`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod meter;

use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hasher};

use ferry_core::{
    Instant, Retry,
    fold_write::{self, FoldWrite},
    per_key::{self, Limits, PerKey},
};

pub use meter::{Flash, Reading, Readings, Totalling, Unanswered};

/// Totals these readings, each of a meter, and gives the totals that were answered, in the order of the answers.
///
/// # Panics
///
/// When the flash is worn out: a reading was not stored.
pub fn total(flash: &mut Flash, readings: impl IntoIterator<Item = (u8, Reading)>) -> Vec<u64> {
    let Ok(mut batching) = PerKey::new(Limits::default(), BuildHasherDefault::<Fnv>::default())
    else {
        unreachable!("the default limits are sound")
    };
    let Ok(write) = FoldWrite::new(Totalling, Retry::default()) else {
        unreachable!("the default retry is sound")
    };
    let mut now = Instant::EPOCH;
    let mut totals = Vec::new();
    for (meter, reading) in readings {
        if let Err(rejected) = batching.submit(now, meter, reading) {
            panic!("{rejected}");
        }
    }
    let mut call = write.call(1);
    while let Some(command) = batching.poll() {
        let per_key::Command::Dispatch(batch) = command else {
            unreachable!("there are no deadlines, and nobody closes")
        };
        let mut command = call.start(now, batch);
        call = loop {
            for answered in command.answers() {
                match answered.result {
                    Ok(total) => totals.push(total),
                    Err(failure) => panic!("{failure}"),
                }
            }
            command = match command {
                fold_write::Command::Read(read) => {
                    let record = flash.read(*read.key());
                    read.resume(now, Ok(record))
                }
                fold_write::Command::Commit(commit) => {
                    let written = flash.write(*commit.key(), commit.commit());
                    commit.resume(now, written)
                }
                fold_write::Command::Sleep(sleep) => {
                    // A timer would go off by then.
                    now = now + sleep.duration();
                    sleep.wake(now)
                }
                fold_write::Command::Done(done) => {
                    let (batch, call) = done.finish();
                    batching.finished(now, batch);
                    break call;
                }
            };
        };
    }
    totals
}

/// The hash of Fowler, Noll and Vo (FNV-1a), since there is no source of random ones here. Keys are the device's own.
#[derive(Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(ferry_no_std)]
#[panic_handler]
fn halt(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
