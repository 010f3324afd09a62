//! What becomes of one commit, between its caller and the store.

use core::{fmt, time::Duration};

use crate::{chance::Chance, swarm::Rates};

/// What becomes of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are told by their `Display`")]
pub enum Fate {
    Plain,
    Busy,
    Throttled(Option<Duration>),
    AnswerLost,
    AnswerBroken,
    RequestLost,
    Late(Duration),
    /// The second copy so long after the first.
    Twice {
        gap: Duration,
        hears_second: bool,
    },
}

impl Fate {
    pub(crate) fn draw(rates: &Rates, chance: &mut Chance) -> Self {
        if chance.happens(rates.busy) {
            Self::Busy
        } else if chance.happens(rates.throttled) {
            let hint = chance.happens(5_000).then(|| chance.millis(1, 5_000));
            Self::Throttled(hint)
        } else if chance.happens(rates.answer_lost) {
            Self::AnswerLost
        } else if chance.happens(rates.answer_broken) {
            Self::AnswerBroken
        } else if chance.happens(rates.request_lost) {
            Self::RequestLost
        } else if chance.happens(rates.late) {
            let most = chance.pick(&[200, 4_000, 30_000]);
            Self::Late(chance.millis(10, most))
        } else if chance.happens(rates.twice) {
            let most = chance.pick(&[20, 2_000]);
            Self::Twice {
                gap: chance.millis(0, most),
                hears_second: chance.happens(5_000),
            }
        } else {
            Self::Plain
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("to be carried out"),
            Self::Busy => f.write_str("to fail before it takes effect"),
            Self::Throttled(None) => f.write_str("to be throttled"),
            Self::Throttled(Some(hint)) => write!(f, "to be throttled for {hint:?}"),
            Self::AnswerLost => f.write_str("its answer to be lost"),
            Self::AnswerBroken => f.write_str("its answer to be an error"),
            Self::RequestLost => f.write_str("to be lost"),
            Self::Late(after) => write!(f, "to arrive after {after:?}, unanswered"),
            Self::Twice { gap, hears_second } => {
                let heard = if *hears_second { "second" } else { "first" };
                write!(f, "to arrive twice, {gap:?} apart, the {heard} answered")
            }
        }
    }
}
