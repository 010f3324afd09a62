//! The stored form: a pair of a format number and the content.
//!
//! A pair rather than a field, because a store may put an object's fields in an order of its own,
//! and the number must be read before anything else is.

use alloc::vec::Vec;
use core::{fmt, marker::PhantomData, num::NonZeroUsize};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, SeqAccess, Visitor},
    ser::SerializeTuple as _,
};

use super::{Applied, Bounds, Fingerprint, Sessions};

/// The one format there is so far, of both forms. Counts up when either changes.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AppliedContent<Id, O> {
    window: NonZeroUsize,
    floor: Floor<Id>,
    held: Vec<(Id, Fingerprint, O)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionsContent<Id, O> {
    sessions: NonZeroUsize,
    window: NonZeroUsize,
    floor: Floor<Id>,
    held: Vec<SessionContent<Id, O>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionContent<Id, O> {
    session: Id,
    floor: Floor<u64>,
    held: Vec<(u64, Fingerprint, O)>,
}

/// The largest id ever forgotten, wrapped so that an id which is itself written as "nothing" is
/// still told from none.
type Floor<Id> = Option<(Id,)>;

impl<Id: Ord + Serialize, O: Serialize> Serialize for Applied<Id, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let content = AppliedContent {
            window: self.window(),
            floor: self.forgotten().map(|id| (id,)),
            held: self.iter().collect(),
        };
        serialize(serializer, &content)
    }
}

impl<'de, Id, O> Deserialize<'de> for Applied<Id, O>
where
    Id: Ord + Deserialize<'de>,
    O: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content: AppliedContent<Id, O> = deserialize(deserializer)?;
        let floor = content.floor.map(|(id,)| id);
        Self::restore(content.window, floor, content.held).map_err(D::Error::custom)
    }
}

impl<Id: Ord + Clone + Serialize, O: Serialize> Serialize for Sessions<Id, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let held = self.iter().map(|(session, sequences)| SessionContent {
            session,
            floor: sequences.forgotten().map(|&sequence| (sequence,)),
            held: sequences
                .iter()
                .map(|(&sequence, fingerprint, outcome)| (sequence, fingerprint, outcome))
                .collect(),
        });
        let content = SessionsContent {
            sessions: self.bounds().sessions,
            window: self.bounds().window,
            floor: self.floor().map(|session| (session,)),
            held: held.collect(),
        };
        serialize(serializer, &content)
    }
}

impl<'de, Id, O> Deserialize<'de> for Sessions<Id, O>
where
    Id: Ord + Clone + Deserialize<'de>,
    O: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content: SessionsContent<Id, O> = deserialize(deserializer)?;
        let bounds = Bounds {
            sessions: content.sessions,
            window: content.window,
        };
        let floor = content.floor.map(|(session,)| session);
        let held = content.held.into_iter().map(|content| {
            let floor = content.floor.map(|(sequence,)| sequence);
            let sequences = Applied::restore(bounds.window, floor, content.held)?;
            Ok((content.session, sequences))
        });
        held.collect::<Result<Vec<_>, Inconsistent>>()
            .and_then(|held| Self::restore(bounds, floor, held))
            .map_err(D::Error::custom)
    }
}

fn serialize<S: Serializer>(serializer: S, content: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut pair = serializer.serialize_tuple(2)?;
    pair.serialize_element(&FORMAT)?;
    pair.serialize_element(content)?;
    pair.end()
}

fn deserialize<'de, D, Content>(deserializer: D) -> Result<Content, D::Error>
where
    D: Deserializer<'de>,
    Content: Deserialize<'de>,
{
    deserializer.deserialize_tuple(2, Pair(PhantomData))
}

struct Pair<Content>(PhantomData<Content>);

impl<'de, Content: Deserialize<'de>> Visitor<'de> for Pair<Content> {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("applied ids, as a pair of format number and content")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Content, A::Error> {
        let format: u32 = pair
            .next_element()?
            .ok_or_else(|| A::Error::invalid_length(0, &self))?;
        if format != FORMAT {
            return Err(A::Error::custom(UnknownFormat(format)));
        }
        pair.next_element()?
            .ok_or_else(|| A::Error::invalid_length(1, &self))
    }
}

struct UnknownFormat(u32);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "applied ids are in format {}, and this version of ferry-core reads only format {FORMAT}: \
             update it here, and before a newer version writes a record, wherever the record is read",
            self.0
        )
    }
}

/// Why content that was read is none that was ever written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inconsistent {
    TooMany { held: usize, bound: NonZeroUsize },
    OutOfOrder,
    SessionTwice,
    HeldAndForgotten,
}

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("applied ids are damaged, restore the record: ")?;
        match self {
            Self::TooMany { held, bound } => {
                write!(f, "{held} are held where at most {bound} can be")
            }
            Self::OutOfOrder => f.write_str(
                "they do not go up from the floor, or the order of the id type has changed",
            ),
            Self::SessionTwice => f.write_str("a session is held twice"),
            Self::HeldAndForgotten => f.write_str("a session is held and forgotten"),
        }
    }
}

/// As hexadecimal where a person may read it, else as its bytes.
impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let hash = u128::from_be_bytes(self.to_bytes());
            serializer.collect_str(&format_args!("{hash:032x}"))
        } else {
            self.to_bytes().serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Hexadecimal)
        } else {
            <[u8; 16]>::deserialize(deserializer).map(Self::from)
        }
    }
}

struct Hexadecimal;

impl Visitor<'_> for Hexadecimal {
    type Value = Fingerprint;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint, as 32 lower-case hexadecimal digits")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fingerprint, E> {
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(is_digit) {
            return Err(E::invalid_value(serde::de::Unexpected::Str(text), &self));
        }
        let hash = u128::from_str_radix(text, 16).map_err(E::custom)?;
        Ok(Fingerprint::from(hash.to_be_bytes()))
    }
}
