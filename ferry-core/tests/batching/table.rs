//! Every state that a key can be in, every event, and what comes of it: a change of behaviour is a
//! change of this table.
//!
//! To accept a change: `UPDATE_EXPECT=1 cargo test -p ferry-core --test batching table`.

use core::fmt::Write as _;

use expect_test::expect;
use ferry_core::per_key::{Command, Limits};

use crate::story::{Story, ms};

/// Something that the machine has behind it.
type Past = fn(&mut Story);

/// The key "a" has the inputs 1, 2, 3, of which the first and third expire after 15 ms. Keys linger
/// for 10 ms, and a full batch has two. The key "z", where it is there, holds the only permit.
const STATES: &[(&str, &[Past])] = &[
    ("absent", &[]),
    ("lingering", &[first]),
    ("in flight", &[first, second, taken_off]),
    ("in flight, one waits", &[first, second, taken_off, third]),
    ("ready, no permit", &[other, first, second]),
    ("closed, lingering before", &[other, first, close]),
    ("closed, in flight", &[first, second, taken_off, close]),
];

const EVENTS: &[(&str, Past)] = &[
    ("submit", ninth),
    ("withdraw the first", withdraw_first),
    ("finish a", finish_a),
    ("finish z", finish_z),
    ("its deadline", deadline),
    ("its linger ends", linger_ends),
    ("close", close),
];

fn first(story: &mut Story) {
    story.submit_until(15, "a", 1);
}

fn second(story: &mut Story) {
    story.submit("a", 2);
}

fn third(story: &mut Story) {
    story.submit_until(15, "a", 3);
}

fn ninth(story: &mut Story) {
    story.offer("a", 9);
}

fn taken_off(story: &mut Story) {
    story.dispatches("a", [1, 2]);
}

fn other(story: &mut Story) {
    story.submit_all("z", [7, 8]).dispatches("z", [7, 8]);
}

fn withdraw_first(story: &mut Story) {
    story.withdraw_if_there(1);
}

fn finish_a(story: &mut Story) {
    story.finish_if_in_flight("a");
}

fn finish_z(story: &mut Story) {
    story.finish_if_in_flight("z");
}

fn deadline(story: &mut Story) {
    story.at(15);
}

fn linger_ends(story: &mut Story) {
    story.at(10);
}

fn close(story: &mut Story) {
    story.close();
}

#[test]
fn what_each_event_leads_to() {
    let mut table = String::new();
    for (state, past) in STATES {
        writeln!(table, "{state}").unwrap();
        for (name, event) in EVENTS {
            let limits = Limits {
                linger: ms(10),
                max_batch: 2,
                max_in_flight: 1,
                ..Limits::default()
            };
            let mut story = Story::under(limits);
            past.iter().for_each(|past| past(&mut story));
            event(&mut story);
            writeln!(table, "    {name:<20}{}", what_comes(&mut story)).unwrap();
        }
        table.push('\n');
    }
    let expected = expect![[r#"
        absent
            submit                                                1 keys, 1 waiting, 0 in flight, timer t+10ms
            withdraw the first                                    0 keys, 0 waiting, 0 in flight, timer none
            finish a                                              0 keys, 0 waiting, 0 in flight, timer none
            finish z                                              0 keys, 0 waiting, 0 in flight, timer none
            its deadline                                          0 keys, 0 waiting, 0 in flight, timer none
            its linger ends                                       0 keys, 0 waiting, 0 in flight, timer none
            close               Drained                           0 keys, 0 waiting, 0 in flight, timer none

        lingering
            submit              Dispatch a [1, 9]                 1 keys, 0 waiting, 1 in flight, timer none
            withdraw the first                                    0 keys, 0 waiting, 0 in flight, timer none
            finish a                                              1 keys, 1 waiting, 0 in flight, timer t+10ms
            finish z                                              1 keys, 1 waiting, 0 in flight, timer t+10ms
            its deadline        Expired 1                         0 keys, 0 waiting, 0 in flight, timer none
            its linger ends     Dispatch a [1]                    1 keys, 0 waiting, 1 in flight, timer none
            close               Dispatch a [1]                    1 keys, 0 waiting, 1 in flight, timer none

        in flight
            submit                                                1 keys, 1 waiting, 1 in flight, timer none
            withdraw the first                                    1 keys, 0 waiting, 1 in flight, timer none
            finish a                                              0 keys, 0 waiting, 0 in flight, timer none
            finish z                                              1 keys, 0 waiting, 1 in flight, timer none
            its deadline                                          1 keys, 0 waiting, 1 in flight, timer none
            its linger ends                                       1 keys, 0 waiting, 1 in flight, timer none
            close                                                 1 keys, 0 waiting, 1 in flight, timer none

        in flight, one waits
            submit                                                1 keys, 2 waiting, 1 in flight, timer t+15ms
            withdraw the first                                    1 keys, 1 waiting, 1 in flight, timer t+15ms
            finish a                                              1 keys, 1 waiting, 0 in flight, timer t+10ms
            finish z                                              1 keys, 1 waiting, 1 in flight, timer t+15ms
            its deadline        Expired 3                         1 keys, 0 waiting, 1 in flight, timer none
            its linger ends                                       1 keys, 1 waiting, 1 in flight, timer t+15ms
            close                                                 1 keys, 1 waiting, 1 in flight, timer t+15ms

        ready, no permit
            submit                                                2 keys, 3 waiting, 1 in flight, timer t+15ms
            withdraw the first                                    2 keys, 1 waiting, 1 in flight, timer t+10ms
            finish a                                              2 keys, 2 waiting, 1 in flight, timer t+15ms
            finish z            Dispatch a [1, 2]                 1 keys, 0 waiting, 1 in flight, timer none
            its deadline        Expired 1                         2 keys, 1 waiting, 1 in flight, timer none
            its linger ends                                       2 keys, 2 waiting, 1 in flight, timer t+15ms
            close                                                 2 keys, 2 waiting, 1 in flight, timer t+15ms

        closed, lingering before
            submit                                                2 keys, 1 waiting, 1 in flight, timer t+15ms
            withdraw the first                                    1 keys, 0 waiting, 1 in flight, timer none
            finish a                                              2 keys, 1 waiting, 1 in flight, timer t+15ms
            finish z            Dispatch a [1]                    1 keys, 0 waiting, 1 in flight, timer none
            its deadline        Expired 1                         1 keys, 0 waiting, 1 in flight, timer none
            its linger ends                                       2 keys, 1 waiting, 1 in flight, timer t+15ms
            close                                                 2 keys, 1 waiting, 1 in flight, timer t+15ms

        closed, in flight
            submit                                                1 keys, 0 waiting, 1 in flight, timer none
            withdraw the first                                    1 keys, 0 waiting, 1 in flight, timer none
            finish a            Drained                           0 keys, 0 waiting, 0 in flight, timer none
            finish z                                              1 keys, 0 waiting, 1 in flight, timer none
            its deadline                                          1 keys, 0 waiting, 1 in flight, timer none
            its linger ends                                       1 keys, 0 waiting, 1 in flight, timer none
            close                                                 1 keys, 0 waiting, 1 in flight, timer none

    "#]];
    expected.assert_eq(&table);
}

/// The commands, then what is left: keys, inputs waiting, batches in flight, the next timer.
fn what_comes(story: &mut Story) -> String {
    let mut commands = Vec::new();
    while let Some(command) = story.per_key.poll() {
        commands.push(match command {
            Command::Dispatch(batch) => {
                let inputs: Vec<_> = batch.items().iter().map(|item| item.input).collect();
                format!("Dispatch {} {inputs:?}", batch.key())
            }
            Command::Expired(_, input) => format!("Expired {input}"),
            Command::Drained => "Drained".to_owned(),
        });
    }
    let (keys, waiting, _, in_flight) = story.gauges();
    let timer = story
        .per_key
        .timeout()
        .map_or("none".to_owned(), |at| format!("{at:?}"));
    format!(
        "{:<34}{keys} keys, {waiting} waiting, {in_flight} in flight, timer {timer}",
        commands.join(", ")
    )
}
