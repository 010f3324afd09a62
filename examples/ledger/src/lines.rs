//! Reading inputs from lines of JSON, in bounded memory.

use std::{
    fmt,
    io::{self, BufRead, Read},
};

use serde::{Deserialize, Deserializer, de};

use crate::fold::Posting;

/// The longest line that is read, its end included. Longer ones are skipped and reported.
pub const LINE_BYTES_MAX: usize = 16 * 1024;
/// The longest id and the longest account name.
pub const NAME_BYTES_MAX: usize = 256;
/// The longest memo.
pub const MEMO_BYTES_MAX: usize = 4096;

/// One line of the input.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// Counted from 1, blank lines included.
    pub number: u64,
    /// What it says.
    pub content: Result<Request, BadLine>,
}

/// A valid input and the account it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The key.
    pub account: String,
    /// The input.
    pub posting: Posting,
}

/// Why a line is not an input.
#[derive(Debug, PartialEq)]
pub struct BadLine {
    /// The line's id, where it has one that can be read.
    pub id: Option<String>,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, PartialEq)]
pub enum Problem {
    /// It has more than [`LINE_BYTES_MAX`] bytes.
    TooLong,
    /// A byte that no UTF-8 text has there, counted from 1.
    NotUtf8 {
        /// Which byte.
        byte: usize,
    },
    /// Some JSON, or none, but not an object.
    NotAnObject,
    /// Not JSON, or not the object that an input is.
    NotAnInput {
        /// What the parser says.
        reason: String,
        /// Where, in bytes from 1.
        column: usize,
    },
    /// A name of no characters at all.
    Empty(&'static str),
    /// A text longer than the file takes.
    Long(&'static str, usize),
    /// An amount that is neither a deposit nor a withdrawal.
    AmountZero,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the line is longer than {LINE_BYTES_MAX} bytes"),
            Self::NotUtf8 { byte } => write!(f, "byte {byte} is not UTF-8"),
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::NotAnInput { reason, column } => write!(f, "{reason} (column {column})"),
            Self::Empty(field) => write!(f, "`{field}` is empty"),
            Self::Long(field, most) => write!(f, "`{field}` is longer than {most} bytes"),
            Self::AmountZero => f.write_str("`amount` is zero"),
        }
    }
}

/// The lines of a reader, one at a time.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads from the start of `reader`.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            number: 0,
            buffer: Vec::new(),
        }
    }

    /// Puts the next line into the buffer, at most one byte more than a line may have; `false` at
    /// the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        if self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut self.buffer)?
            == 0
        {
            return Ok(false);
        }
        self.number += 1;
        if self.buffer.len() > LINE_BYTES_MAX && self.buffer.last() != Some(&b'\n') {
            self.reader.skip_until(b'\n')?;
        }
        Ok(true)
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            let mut bytes = self.buffer.as_slice();
            if self.number == 1 {
                bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            }
            if !bytes.trim_ascii().is_empty() {
                return Some(Ok(Line {
                    number: self.number,
                    content: parse(bytes),
                }));
            }
        }
    }
}

/// Reads one line as an input.
///
/// # Errors
///
/// What is wrong with it, and its id if it has one.
pub fn parse(line: &[u8]) -> Result<Request, BadLine> {
    let request = decode(line).map_err(|problem| BadLine { id: None, problem })?;
    match check(&request) {
        None => Ok(request),
        Some(problem) => Err(BadLine {
            id: Some(request.posting.id).filter(|id| id.len() <= NAME_BYTES_MAX),
            problem,
        }),
    }
}

fn decode(line: &[u8]) -> Result<Request, Problem> {
    if line.len() > LINE_BYTES_MAX {
        return Err(Problem::TooLong);
    }
    let text = std::str::from_utf8(line).map_err(|error| Problem::NotUtf8 {
        byte: error.valid_up_to() + 1,
    })?;
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Problem::NotAnObject);
    }
    let fields: Fields = serde_json::from_str(text).map_err(|error| not_an_input(&error))?;
    Ok(Request {
        account: fields.account,
        posting: Posting {
            id: fields.id,
            amount: fields.amount,
            memo: fields.memo,
        },
    })
}

fn check(request: &Request) -> Option<Problem> {
    let Request { account, posting } = request;
    let texts = [
        ("id", &posting.id, NAME_BYTES_MAX),
        ("account", account, NAME_BYTES_MAX),
        ("memo", &posting.memo, MEMO_BYTES_MAX),
    ];
    if let Some((field, ..)) = texts[..2].iter().find(|(_, text, _)| text.is_empty()) {
        return Some(Problem::Empty(field));
    }
    if let Some((field, _, most)) = texts.iter().find(|(_, text, most)| text.len() > *most) {
        return Some(Problem::Long(field, *most));
    }
    (posting.amount == 0).then_some(Problem::AmountZero)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    id: String,
    account: String,
    #[serde(deserialize_with = "cents")]
    amount: i64,
    #[serde(default)]
    memo: String,
}

fn cents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_i64(Cents)
}

/// As serde reads an `i64`, but says what it means where it cannot.
struct Cents;

impl de::Visitor<'_> for Cents {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`amount` in whole cents, of at most {} either way",
            i64::MAX
        )
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
        i64::try_from(value)
            .map_err(|_| de::Error::invalid_value(de::Unexpected::Unsigned(value), &self))
    }
}

/// The parser counts lines too, and always counts one; the number that matters is ours.
fn not_an_input(error: &serde_json::Error) -> Problem {
    let mut reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if let Some(at) = reason.rfind(&place) {
        reason.truncate(at);
    }
    Problem::NotAnInput {
        reason,
        column: error.column(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8]) -> Vec<Line> {
        Lines::new(input).map(Result::unwrap).collect()
    }

    fn good(id: &str, account: &str, amount: i64, memo: &str) -> Request {
        Request {
            account: account.into(),
            posting: Posting {
                id: id.into(),
                amount,
                memo: memo.into(),
            },
        }
    }

    fn complaint(line: impl AsRef<[u8]>) -> String {
        parse(line.as_ref()).unwrap_err().problem.to_string()
    }

    const A: &str = r#"{"id":"a","account":"x","amount":5,"memo":"m"}"#;

    #[test]
    fn a_line_is_an_input_wherever_it_ends() {
        let a = good("a", "x", 5, "m");
        for input in [
            A.to_owned(),
            format!("{A}\n"),
            format!("{A}\r\n"),
            format!("\u{feff}{A}\n"),
        ] {
            assert_eq!(
                read(input.as_bytes()),
                [Line {
                    number: 1,
                    content: Ok(a.clone())
                }]
            );
        }
    }

    #[test]
    fn blank_lines_are_skipped_and_counted() {
        let lines = read(format!("\n \t\r\n{A}\n\n{A}").as_bytes());
        assert_eq!(
            lines.iter().map(|line| line.number).collect::<Vec<_>>(),
            [3, 5]
        );
    }

    #[test]
    fn a_bad_line_does_not_hide_the_next() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 1];
        input.extend_from_slice(b"\n{\xff}\n");
        input.extend_from_slice(A.as_bytes());
        let lines = read(&input);
        let problems: Vec<_> = lines
            .iter()
            .map(|line| line.content.as_ref().err().map(|bad| &bad.problem))
            .collect();
        assert_eq!(
            problems,
            [
                Some(&Problem::TooLong),
                Some(&Problem::NotUtf8 { byte: 2 }),
                None
            ]
        );
    }

    #[test]
    fn the_longest_line_is_read_and_one_byte_more_is_not() {
        let longest = format!("{A}{}\n", " ".repeat(LINE_BYTES_MAX - A.len() - 1));
        assert_eq!(longest.len(), LINE_BYTES_MAX);
        let lines = read(format!("{longest} {longest}{A}").as_bytes());
        assert!(lines[0].content.is_ok());
        assert_eq!(
            lines[1].content.as_ref().unwrap_err().problem,
            Problem::TooLong
        );
        assert_eq!(lines[2].number, 3);
        assert!(lines[2].content.is_ok());
    }

    #[test]
    fn memo_is_optional() {
        let line = r#"{"id":"a","account":"x","amount":-5}"#;
        assert_eq!(parse(line.as_bytes()), Ok(good("a", "x", -5, "")));
    }

    #[test]
    fn what_is_no_input_is_refused_with_a_reason() {
        for (line, reason) in [
            ("nonsense", "not a JSON object"),
            (r#"["a","x",5,"m"]"#, "not a JSON object"),
            ("{", "EOF while parsing an object (column 1)"),
            (&format!("{A}{A}"), "trailing characters"),
            (r#"{"account":"x","amount":5}"#, "missing field `id`"),
            (r#"{"id":"a","amount":5}"#, "missing field `account`"),
            (r#"{"id":"a","account":"x"}"#, "missing field `amount`"),
            (
                r#"{"id":"a","id":"b","account":"x","amount":5}"#,
                "duplicate field `id`",
            ),
            (
                r#"{"id":"a","account":"x","amount":5,"note":""}"#,
                "unknown field `note`",
            ),
            (
                r#"{"id":7,"account":"x","amount":5}"#,
                "invalid type: integer `7`, expected a string",
            ),
            (
                r#"{"id":"a","account":"x","amount":"5"}"#,
                "`amount` in whole cents",
            ),
            (
                r#"{"id":"a","account":"x","amount":1.5}"#,
                "`amount` in whole cents",
            ),
            (
                r#"{"id":"a","account":"x","amount":9223372036854775808}"#,
                "at most 9223372036854775807",
            ),
            (
                r#"{"id":"a","account":"x","amount":1e400}"#,
                "number out of range",
            ),
            (r#"{"id":"a","account":"x","amount":0}"#, "`amount` is zero"),
            (r#"{"id":"","account":"x","amount":5}"#, "`id` is empty"),
            (
                r#"{"id":"a","account":"","amount":5}"#,
                "`account` is empty",
            ),
        ] {
            let complaint = complaint(line);
            assert!(complaint.contains(reason), "{line}: {complaint}");
        }
    }

    #[test]
    fn texts_have_a_longest_length() {
        let (name, memo) = ("n".repeat(NAME_BYTES_MAX), "m".repeat(MEMO_BYTES_MAX));
        let line = |id: &str, account: &str, memo: &str| {
            format!(r#"{{"id":"{id}","account":"{account}","amount":1,"memo":"{memo}"}}"#)
        };
        assert!(parse(line(&name, &name, &memo).as_bytes()).is_ok());
        assert!(complaint(line(&format!("{name}n"), "x", "")).contains("`id` is longer than 256"));
        assert!(complaint(line("a", &format!("{name}n"), "")).contains("`account` is longer"));
        assert!(
            complaint(line("a", "x", &format!("{memo}m"))).contains("`memo` is longer than 4096")
        );
    }

    #[test]
    fn a_bad_input_is_named_by_its_id_where_it_has_one() {
        let bad = parse(br#"{"id":"a","account":"x","amount":0}"#).unwrap_err();
        assert_eq!(bad.id.as_deref(), Some("a"));
    }
}
