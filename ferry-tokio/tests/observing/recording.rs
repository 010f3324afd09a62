//! What a recorder was told.

use std::{cell::RefCell, collections::BTreeMap};

use metrics::Unit;
use metrics_util::{
    MetricKind,
    debugging::{DebugValue, DebuggingRecorder, Snapshotter},
};

/// A meter by its name and its labels.
pub(crate) type Named = (String, Labels);

pub(crate) type Labels = BTreeMap<String, String>;

#[derive(Clone)]
pub(crate) struct Meter {
    pub(crate) kind: MetricKind,
    pub(crate) unit: Option<Unit>,
    pub(crate) text: Option<String>,
    /// All values of a histogram; the sum of what others were told.
    pub(crate) values: Vec<f64>,
}

/// A snapshot tells what was told since the one before; here it is put together.
pub(crate) struct Recorded {
    snapshots: Snapshotter,
    meters: RefCell<BTreeMap<Named, Meter>>,
}

impl Recorded {
    /// Whatever `make` makes tells it here.
    pub(crate) fn of<T>(make: impl FnOnce() -> T) -> (Self, T) {
        let recorder = DebuggingRecorder::new();
        let recorded = Self {
            snapshots: recorder.snapshotter(),
            meters: RefCell::default(),
        };
        let made = metrics::with_local_recorder(&recorder, make);
        (recorded, made)
    }

    pub(crate) fn meters(&self) -> BTreeMap<Named, Meter> {
        let mut meters = self.meters.borrow_mut();
        for (key, unit, text, value) in self.snapshots.snapshot().into_vec() {
            let (kind, key) = key.into_parts();
            let labels = key
                .labels()
                .map(|label| (label.key().into(), label.value().into()));
            let named = (key.name().to_owned(), labels.collect());
            let meter = meters.entry(named).or_insert_with(|| Meter {
                kind,
                unit,
                text: text.map(|text| text.to_string()),
                values: Vec::new(),
            });
            match value {
                DebugValue::Counter(more) => add(&mut meter.values, more as f64),
                DebugValue::Gauge(more) => add(&mut meter.values, more.0),
                DebugValue::Histogram(more) => meter.values.extend(more.into_iter().map(f64::from)),
            }
        }
        meters.clone()
    }

    /// What the meters of this name were told, if this label has this value.
    pub(crate) fn values(&self, name: &str, label: &str, is: &str) -> Vec<f64> {
        let meters = self.meters().into_iter();
        let values: Vec<_> = meters
            .filter(|((other, labels), _)| other == name && labels[label] == is)
            .flat_map(|(_, meter)| meter.values)
            .collect();
        values
    }

    /// A counter or a gauge of the handle of this name, of all reasons together.
    pub(crate) fn sum(&self, handle: &str, name: &str) -> f64 {
        self.values(name, "handle", handle).iter().sum()
    }
}

fn add(values: &mut Vec<f64>, more: f64) {
    let before = values.pop().unwrap_or(0.0);
    values.push(before + more);
}
