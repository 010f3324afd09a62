//! What befalls the calls of a store.

use std::fmt;

use ferry_core::{Class, CommitError, Fault};

/// Why a call failed, in a word.
#[derive(Debug, PartialEq, Eq)]
pub struct Trouble(pub &'static str);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Trouble {}

pub fn fault(class: Class) -> Fault<Trouble> {
    let error = Trouble(match class {
        Class::Transient => "hiccup",
        Class::Throttled(_) => "too much",
        Class::Permanent => "will not take it",
    });
    Fault { error, class }
}

/// What befalls one call of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    Nothing,
    Fails(Class),
    /// A write that somebody else was quicker than.
    Refused,
    /// A write that lands, and whose answer is lost.
    AnswerLost,
    /// A write that does not land, and nobody knows.
    RequestLost,
    PanicsInTheCall,
    PanicsInTheFuture,
    PanicsAfterLanding,
    /// A projection that shows so many entries more, and not the rest.
    InPart(usize),
}

impl Mishap {
    /// How a read ends that meets with this.
    pub fn end_read<T>(self, read: impl FnOnce() -> T) -> Result<T, Fault<Trouble>> {
        match self {
            Self::Nothing => Ok(read()),
            Self::Fails(class) => Err(fault(class)),
            Self::Refused
            | Self::AnswerLost
            | Self::RequestLost
            | Self::PanicsInTheCall
            | Self::PanicsInTheFuture
            | Self::PanicsAfterLanding
            | Self::InPart(_) => panic!("a read met with {self:?}"),
        }
    }

    /// How a commit ends that meets with this, or a projection of the whole record.
    pub fn end_write<T: fmt::Debug>(
        self,
        land: impl FnOnce() -> Result<T, CommitError<Trouble>>,
    ) -> Result<T, CommitError<Trouble>> {
        match self {
            Self::Nothing => land(),
            Self::Fails(class) => Err(fault(class).into()),
            Self::Refused => Err(CommitError::Refused),
            Self::RequestLost => Err(CommitError::InDoubt(Trouble("request lost"))),
            Self::AnswerLost => land().and(Err(CommitError::InDoubt(Trouble("answer lost")))),
            Self::PanicsAfterLanding => panic!("landed with {:?}", land()),
            Self::PanicsInTheCall | Self::PanicsInTheFuture | Self::InPart(_) => {
                panic!("a write met with {self:?}")
            }
        }
    }
}

/// Mishaps that nobody ordered. By default there are none.
#[derive(Default)]
pub struct Luck(Option<fastrand::Rng>);

impl Luck {
    /// Runs out now and then, as this seed has it.
    pub fn running_out(seed: u64) -> Self {
        Self(Some(fastrand::Rng::with_seed(seed)))
    }

    /// What befalls a call that may meet with any of these.
    pub fn draw(&mut self, mishaps: &[Mishap]) -> Mishap {
        let drawn = self.0.as_mut().and_then(|rng| {
            let is_unlucky = rng.u8(..) < 60;
            is_unlucky.then(|| mishaps[rng.usize(..mishaps.len())])
        });
        drawn.unwrap_or(Mishap::Nothing)
    }
}
