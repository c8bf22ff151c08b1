//! Alerts of the daemon: looked at on time, remembered, and told.
//!
//! How alerts stand is a note in the journal, and so is every notice until its
//! receiver has taken it: both are written before anybody is told, so that a
//! daemon that was killed goes on where it was.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};

use anyhow::{Context as _, ensure};
use body_local::Waker;
use controller::journal::Note;
use fleet::{Span, Time};
use serde_json::{Value, json};
use server::alert::{self, Alerts, Rules};
use server::api::{AlertState, AlertView, EventKind, EventView};
use server::metrics::{Family, FamilyKind};
use server::webhook::{self, Delivery, Notice};

use super::Daemon;
use super::answers::done;

/// The note that says how alerts stand, and what the names of notices begin with.
const STANDING: &str = "alerts";
const NOTICE: &str = "notice/";

/// The most notices that wait for their receiver; more are dropped, and the log says so.
const NOTICES_MAX: usize = 1_000;

/// The largest file of rules.
const FILE_MAX: u64 = 1 << 20;

/// Rules and how they stand, and the way to their receiver.
#[derive(Default)]
pub(super) struct Alarms {
    alerts: Alerts,
    every: Span,
    /// When the metrics are to be looked at next.
    next: Time,
    receiver: Option<(Sender<Notice>, Receiver<Delivery>)>,
    /// The number of the next notice.
    number: u64,
    /// Notices that no receiver has taken yet.
    open: usize,
    /// Notices that were taken, tries that failed, and notices that were dropped.
    deliveries: [u64; 3],
    /// What rules watch that is no metric, once it was looked at.
    strays: Option<Vec<String>>,
    /// Whether how alerts stand could not be written down the last time.
    is_unwritten: bool,
    /// What the receiver said last, where it did not take a notice.
    trouble: Option<String>,
}

impl Alarms {
    /// The rules of this file, standing as they did.
    pub(super) fn open(
        file: Option<&Path>,
        notes: &BTreeMap<String, String>,
        waker: Waker,
    ) -> anyhow::Result<Self> {
        let Some(file) = file else { return Ok(Self::default()) };
        let reading = || format!("read the alerts in {}", file.display());
        let length = std::fs::metadata(file).with_context(reading)?.len();
        ensure!(length <= FILE_MAX, "{}: it is larger than {FILE_MAX} bytes", reading());
        let text = std::fs::read_to_string(file).with_context(reading)?;
        let Rules { rules, webhook, every } = Rules::read(&text).with_context(reading)?;
        let standing = notes.get(STANDING).and_then(|text| serde_json::from_str(text).ok());
        let alerts = Alerts::new(rules, standing.unwrap_or_default());
        let mut open: Vec<Notice> = notes
            .range(NOTICE.to_owned()..)
            .map_while(|(name, body)| {
                let number = name.strip_prefix(NOTICE)?.parse().ok()?;
                Some(Notice { number, body: body.clone() })
            })
            .collect();
        open.sort_by_key(|notice| notice.number);
        let started = webhook.map(|hook| webhook::start(&hook, Box::new(move || waker.wake())));
        let receiver = started.transpose().context("tell the receiver of alerts")?;
        let number = open.last().map_or_else(first_number, |notice| notice.number + 1);
        let count = if receiver.is_some() { open.len() } else { 0 };
        if let Some((notices, _)) = &receiver {
            open.into_iter().for_each(|notice| drop(notices.send(notice)));
        }
        Ok(Self { alerts, every, receiver, number, open: count, ..Self::default() })
    }

    /// What is wrong with the rules, for people.
    pub(super) fn notes(&self) -> impl Iterator<Item = &String> {
        self.strays.iter().flatten()
    }

    /// What is to be forgotten: notices for which there is no receiver any more. Another one that
    /// is named later is not to be told of them.
    pub(super) fn left_over(&self, notes: &BTreeMap<String, String>) -> Vec<Note> {
        let waits = notes.keys().filter(|name| name.starts_with(NOTICE));
        let waits = waits.filter(|_| self.receiver.is_none());
        waits.map(|name| Note { name: name.clone(), text: None }).collect()
    }

    /// When it is to look again, where there is anything to look at.
    pub(super) fn next(&self) -> Option<Time> {
        (!self.alerts.is_empty()).then_some(self.next)
    }

    pub(super) fn families(&self) -> Vec<Family> {
        let mut counts = BTreeMap::from([("pending", 0_u64), ("firing", 0), ("resolved", 0)]);
        for one in self.alerts.instances() {
            let state = match one.state {
                AlertState::Pending => "pending",
                AlertState::Firing => "firing",
                AlertState::Resolved => "resolved",
                AlertState::Inactive => continue,
            };
            *counts.entry(state).or_default() += 1;
        }
        let mut alerts =
            Family::new("motley_alerts", "Alerts, by how they stand", FamilyKind::Gauge);
        counts.iter().for_each(|(state, count)| alerts.add(&[("state", state)], *count as f64));
        let help = "Notices that the receiver took, tries that failed, notices that were dropped";
        let mut told = Family::new("motley_alert_notices", help, FamilyKind::Counter);
        if self.receiver.is_some() {
            for (result, count) in ["taken", "failed", "dropped"].iter().zip(self.deliveries) {
                told.add(&[("result", result)], count as f64);
            }
        }
        vec![alerts, told]
    }
}

/// Notices of one daemon are numbered from the microsecond in which it began, so that no number
/// comes twice.
fn first_number() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(0)
}

impl Daemon {
    pub(super) fn alert_views(&self) -> anyhow::Result<Value> {
        done(self.alarms.alerts.views())
    }

    /// Looks at the metrics, if it is time, and tells of alerts that stand otherwise than before.
    pub(super) fn look_at_alerts(&mut self) {
        self.hear_of_notices();
        let now = self.controller.body().now();
        if self.alarms.next().is_none_or(|next| now < next) {
            return;
        }
        self.alarms.next = now.after(self.alarms.every);
        let families = self.figures();
        self.tell_of_strays(&families);
        let before = self.alarms.alerts.instances().to_vec();
        let changed = self.alarms.alerts.step(now.0, &families);
        if !alert::is_news(&before, self.alarms.alerts.instances()) {
            return;
        }
        let standing = serde_json::to_string(self.alarms.alerts.instances()).ok();
        let mut notes = vec![Note { name: STANDING.to_owned(), text: standing }];
        let notices = self.notices(&changed);
        let name = |number: u64| format!("{NOTICE}{number:020}");
        notes.extend(
            notices
                .iter()
                .map(|notice| Note { name: name(notice.number), text: Some(notice.body.clone()) }),
        );
        let written = self.controller.note(notes);
        let was_written = !std::mem::replace(&mut self.alarms.is_unwritten, written.is_err());
        if let Err(error) = written {
            if was_written {
                self.log(&format!("alerts cannot be written down: {error:#}"));
            }
            // Nobody is told; the next look finds what this one did, and tries again.
            return self.alarms.alerts.take_back(before);
        }
        for view in changed {
            let labels: Vec<_> = view.labels.iter().map(|(k, v)| format!("{k}={v:?}")).collect();
            let value = view.value.map_or("nothing".to_owned(), |value| value.to_string());
            let state = format!("{:?}", view.state).to_lowercase();
            let of = labels.join(",");
            self.log(&format!("alert {} {{{of}}} is {state}: {value} ({})", view.name, view.rule));
            self.server.happened().tell(|| {
                let event = EventView::new(EventKind::Alert, now.0);
                Some(EventView { alert: Some(view), ..event })
            });
        }
        if let Some((sender, _)) = &self.alarms.receiver {
            self.alarms.open += notices.len();
            notices.into_iter().for_each(|notice| drop(sender.send(notice)));
        }
    }

    /// Says, once, which rules can never find anything wrong.
    fn tell_of_strays(&mut self, families: &[Family]) {
        if self.alarms.strays.is_some() {
            return;
        }
        let strays = self.alarms.alerts.strays(families);
        let strays: Vec<_> = strays
            .map(|(name, metric)| {
                format!("alert {name:?} watches {metric}, which is no metric; see docs/metrics.md")
            })
            .collect();
        strays.iter().for_each(|stray| self.log(stray));
        self.alarms.strays = Some(strays);
    }

    /// What the receiver is to be told: of alerts that fire, and that fire no more.
    fn notices(&mut self, changed: &[AlertView]) -> Vec<Notice> {
        if self.alarms.receiver.is_none() {
            return Vec::new();
        }
        let is_told =
            |view: &&AlertView| matches!(view.state, AlertState::Firing | AlertState::Resolved);
        let mut notices = Vec::new();
        for view in changed.iter().filter(is_told) {
            if self.alarms.open + notices.len() >= NOTICES_MAX {
                self.alarms.deliveries[2] += 1;
                let name = &view.name;
                self.log(&format!("alert {name} is not told: {NOTICES_MAX} notices wait already"));
                continue;
            }
            let number = self.alarms.number;
            self.alarms.number += 1;
            let body = json!({ "notice": number, "alert": view }).to_string();
            notices.push(Notice { number, body });
        }
        notices
    }

    fn hear_of_notices(&mut self) {
        let Some((_, deliveries)) = &self.alarms.receiver else { return };
        let heard: Vec<_> = deliveries.try_iter().collect();
        let mut notes = Vec::new();
        for delivery in heard {
            match delivery {
                Delivery::Taken(number) => {
                    self.alarms.open = self.alarms.open.saturating_sub(1);
                    self.alarms.deliveries[0] += 1;
                    self.alarms.trouble = None;
                    notes.push(Note { name: format!("{NOTICE}{number:020}"), text: None });
                }
                Delivery::Dropped(number, why) => {
                    self.alarms.open = self.alarms.open.saturating_sub(1);
                    self.alarms.deliveries[2] += 1;
                    self.log(&format!("notice {number} is dropped: its receiver: {why}"));
                    notes.push(Note { name: format!("{NOTICE}{number:020}"), text: None });
                }
                Delivery::Failed(why) => {
                    self.alarms.deliveries[1] += 1;
                    if self.alarms.trouble.as_ref() != Some(&why) {
                        self.log(&format!("the receiver of alerts takes no notice: {why}"));
                    }
                    self.alarms.trouble = Some(why);
                }
            }
        }
        if !notes.is_empty()
            && let Err(error) = self.controller.note(notes)
        {
            self.log(&format!("notices cannot be written down as taken: {error:#}"));
        }
    }
}
