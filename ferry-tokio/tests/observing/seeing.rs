//! A subscriber that keeps what it is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use tracing::{
    Dispatch, Event, Level, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::{DefaultGuard, set_default},
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// What was told, in order.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Lists>>);

#[derive(Default)]
struct Lists {
    spans: Vec<Span>,
    events: Vec<Happening>,
    /// Where a span that is open is in the list.
    open: BTreeMap<u64, usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) level: Level,
    pub(crate) declares: BTreeSet<&'static str>,
    pub(crate) fields: BTreeMap<&'static str, String>,
    /// Each by its place in the list.
    pub(crate) parent: Option<usize>,
    pub(crate) follows: Vec<usize>,
    pub(crate) is_open: bool,
}

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Happening {
    pub(crate) message: String,
    pub(crate) target: &'static str,
    pub(crate) level: Level,
    pub(crate) fields: BTreeMap<&'static str, String>,
    pub(crate) parent: Option<usize>,
}

impl Told {
    /// Tells here, for as long as the guard lives, what this thread does.
    pub(crate) fn here() -> (Self, DefaultGuard) {
        Self::from(Level::TRACE)
    }

    /// From this level on.
    pub(crate) fn from(level: Level) -> (Self, DefaultGuard) {
        keep_callsites_known();
        let told = Self::default();
        let subscriber = Registry::default().with(Keeps(told.clone()));
        let guard = set_default(subscriber.with(LevelFilter::from_level(level)));
        (told, guard)
    }

    fn dispatch(&self) -> Dispatch {
        Dispatch::new(Registry::default().with(Keeps(self.clone())))
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().spans.clone()
    }

    pub(crate) fn events(&self) -> Vec<Happening> {
        self.0.lock().unwrap().events.clone()
    }

    /// The spans of this name, in order, with their places.
    pub(crate) fn named(&self, name: &str) -> Vec<(usize, Span)> {
        let spans = self.spans().into_iter().enumerate();
        spans.filter(|(_, span)| span.name == name).collect()
    }

    /// The messages above DEBUG, with their levels.
    pub(crate) fn loud(&self) -> Vec<(Level, String)> {
        let events = self.events().into_iter();
        events
            .filter(|event| event.level < Level::DEBUG)
            .map(|event| (event.level, event.message))
            .collect()
    }
}

/// A callsite that is met first on a thread without a subscriber, while there are fewer than two of them in all, is switched off for
/// every thread. So that tests can run side by side, there are always two.
pub(crate) fn keep_callsites_known() {
    static ALWAYS: OnceLock<[Dispatch; 2]> = OnceLock::new();
    ALWAYS.get_or_init(|| [(); 2].map(|()| Told::default().dispatch()));
}

struct Keeps(Told);

#[derive(Default)]
struct Fields {
    message: String,
    others: BTreeMap<&'static str, String>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let value = format!("{value:?}");
        match field.name() {
            "message" => self.message = value,
            name => drop(self.others.insert(name, value)),
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Keeps {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let parent = context
            .span(id)
            .and_then(|span| span.parent())
            .map(|parent| parent.id());
        let mut lists = self.0.0.lock().unwrap();
        let span = Span {
            name: attributes.metadata().name(),
            target: attributes.metadata().target(),
            level: *attributes.metadata().level(),
            declares: attributes
                .fields()
                .iter()
                .map(|field| field.name())
                .collect(),
            fields: fields.others,
            parent: parent.map(|parent| lists.open[&parent.into_u64()]),
            follows: Vec::new(),
            is_open: true,
        };
        let place = lists.spans.len();
        lists.spans.push(span);
        lists.open.insert(id.into_u64(), place);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        let mut lists = self.0.0.lock().unwrap();
        let place = lists.open[&id.into_u64()];
        lists.spans[place].fields.extend(fields.others);
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, _context: Context<'_, S>) {
        let mut lists = self.0.0.lock().unwrap();
        let place = lists.open[&id.into_u64()];
        let followed = lists.open.get(&follows.into_u64()).copied();
        lists.spans[place].follows.extend(followed);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let parent = context.event_span(event).map(|parent| parent.id());
        let mut lists = self.0.0.lock().unwrap();
        let event = Happening {
            message: fields.message,
            target: event.metadata().target(),
            level: *event.metadata().level(),
            fields: fields.others,
            parent: parent.map(|parent| lists.open[&parent.into_u64()]),
        };
        lists.events.push(event);
    }

    fn on_close(&self, id: Id, _context: Context<'_, S>) {
        let mut lists = self.0.0.lock().unwrap();
        if let Some(place) = lists.open.remove(&id.into_u64()) {
            lists.spans[place].is_open = false;
        }
    }
}
