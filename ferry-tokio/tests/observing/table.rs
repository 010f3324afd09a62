//! The tables in `docs/observability.md` are true: what is in them occurs, and what occurs is in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use metrics_util::MetricKind;
use tracing::{Instrument, Level, info_span};

use super::{recording::Recorded, seeing::Told, stories::Handles};

/// The cells of the rows of the table under this heading, without what is above the first row.
fn table(heading: &str) -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/observability.md");
    let page = fs::read_to_string(path).unwrap();
    let lines = page
        .lines()
        .skip_while(|line| *line != format!("## {heading}"));
    let rows: Vec<_> = lines
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|row| {
            row.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().into())
                .collect()
        })
        .collect();
    assert!(!rows.is_empty(), "no table under {heading}");
    rows
}

/// What is in backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(Into::into).collect()
}

fn only(cell: &str) -> String {
    let mut quoted = quoted(cell).into_iter();
    let first = quoted.next().unwrap();
    assert_eq!(quoted.next(), None, "{cell}");
    first
}

/// Fields, each with its values where they are told; no values stand for any.
type Fields = BTreeMap<String, BTreeSet<String>>;

fn fields(cell: &str) -> Fields {
    let fields = cell.split(';').map(|field| match field.split_once(':') {
        Some((name, values)) => (only(name), quoted(values)),
        None => (only(field), BTreeSet::new()),
    });
    fields.collect()
}

/// Adds what occurred; of a field that the table gives no values for, the values are not kept.
fn occurred<'a>(
    in_table: &Fields,
    so_far: &mut Fields,
    more: impl IntoIterator<Item = (&'a &'static str, &'a String)>,
) {
    for (name, value) in more {
        let values = so_far.entry((*name).into()).or_default();
        if in_table.get(*name).is_none_or(|values| !values.is_empty()) {
            values.insert(value.clone());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn metrics() {
    let (recorded, handles) = Recorded::of(Handles::new);
    handles.go_through_everything().await;

    let kind = |kind| match kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    };
    let mut told = BTreeMap::new();
    let mut reasons = BTreeSet::new();
    for ((name, labels), meter) in recorded.meters() {
        reasons.extend(labels.get("reason").cloned());
        let unit = meter.unit.map_or("", |unit| unit.as_str());
        let labels: BTreeSet<_> = labels.into_keys().collect();
        let text = meter.text.unwrap_or_default();
        let row = (kind(meter.kind).to_owned(), unit.to_owned(), labels, text);
        let before = told.insert(name, row.clone());
        assert!(before.is_none_or(|before| before == row));
    }
    let table = table("Metrics").into_iter();
    let table = table.map(|row| {
        let [name, kind, unit, labels, text] = row.try_into().unwrap();
        (only(&name), (kind, unit, quoted(&labels), text))
    });
    assert_eq!(told, table.collect());
    let expected = ["queue_full", "key_full", "too_heavy", "closed"];
    assert_eq!(reasons, expected.map(Into::into).into());
}

/// The span in which everything is called.
const CALLER: &str = "caller";

/// Where spans of one name stand.
#[derive(Debug, Default, PartialEq)]
struct Place {
    parents: BTreeSet<String>,
    is_ever_a_root: bool,
    /// Those of callers.
    follows: bool,
}

#[tokio::test(start_paused = true)]
async fn spans() {
    let (told, _guard) = Told::here();
    let everything = async { Handles::new().go_through_everything().await };
    everything.instrument(info_span!(CALLER)).await;

    let rows = table("Spans").into_iter();
    let rows: BTreeMap<_, _> = rows
        .map(|row| {
            let [name, level, below, in_row] = row.try_into().unwrap();
            let mut parents = quoted(&below);
            if below.starts_with("the span in which it is awaited") {
                parents.insert(CALLER.into());
            }
            let place = Place {
                parents,
                is_ever_a_root: below.starts_with("nothing"),
                follows: below.contains("follows from its callers' spans"),
            };
            (only(&name), (level, place, fields(&in_row)))
        })
        .collect();
    let mut spans = BTreeMap::new();
    let all = told.spans();
    for span in all.iter().filter(|span| span.name != CALLER) {
        assert_eq!(span.target, "ferry");
        let none = Fields::new();
        let in_table = rows.get(span.name).map_or(&none, |(_, _, fields)| fields);
        let first = || (span.level.to_string(), Place::default(), Fields::new());
        let (level, place, so_far) = spans.entry(span.name.to_owned()).or_insert_with(first);
        assert_eq!(*level, span.level.to_string());
        match span.parent {
            Some(parent) => drop(place.parents.insert(all[parent].name.into())),
            None => place.is_ever_a_root = true,
        }
        place.follows |= !span.follows.is_empty();
        occurred(in_table, so_far, &span.fields);
        let declared: BTreeSet<_> = in_table.keys().map(String::as_str).collect();
        assert_eq!(span.declares, declared, "{}", span.name);
    }
    assert_eq!(spans, rows);
}

#[tokio::test(start_paused = true)]
async fn events() {
    let (told, _guard) = Told::here();
    Handles::new().go_through_everything().await;

    let rows = table("Events").into_iter();
    let rows: BTreeMap<_, _> = rows
        .map(|row| {
            let [message, level, within, in_row] = row.try_into().unwrap();
            let level = level.split(',').next().unwrap().to_owned();
            ((only(&message), level), (quoted(&within), fields(&in_row)))
        })
        .collect();
    let spans = told.spans();
    let mut events = BTreeMap::<_, (BTreeSet<String>, Fields)>::new();
    for event in told.events() {
        assert_eq!(event.target, "ferry");
        let key = (event.message, event.level.to_string());
        let none = Fields::new();
        let in_table = rows.get(&key).map_or(&none, |(_, fields)| fields);
        let (within, so_far) = events.entry(key).or_default();
        within.extend(event.parent.map(|parent| spans[parent].name.to_owned()));
        occurred(in_table, so_far, &event.fields);
    }
    assert_eq!(events, rows);
    assert!(told.loud().iter().any(|(level, _)| *level == Level::ERROR));
}
