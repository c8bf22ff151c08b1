//! The connection to the daemon, in a thread: it looks once a second, and asks what is wanted.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use server::api::Chosen;

use super::model::{Heard, Picture, Wish};
use crate::client::{Change, Client};
use crate::daemon::Place;

/// How often it is looked how everything is.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The most jobs that are listed: more than anybody pages through.
const JOBS_MAX: usize = 1_000;

/// Wishes that wait; who presses keys faster than the daemon answers is not kept.
const WISHES_MAX: usize = 16;

/// Who talks with the daemon.
pub struct Talk {
    wishes: SyncSender<Wish>,
}

impl Talk {
    /// Begins to talk; what is heard is told, until nobody takes it any more.
    pub fn begin(
        place: Place,
        client: Client,
        tell: impl Fn(Heard) -> bool + Send + 'static,
    ) -> Self {
        let (wishes, wanted) = sync_channel(WISHES_MAX);
        let caller = Caller { place, client: Some(client), began: Instant::now() };
        thread::spawn(move || caller.talk(&wanted, tell));
        Self { wishes }
    }

    /// Passes a wish on; whether there was room for it.
    pub fn wish(&self, wish: Wish) -> bool {
        self.wishes.try_send(wish).is_ok()
    }
}

struct Caller {
    place: Place,
    client: Option<Client>,
    began: Instant,
}

impl Caller {
    fn talk(mut self, wanted: &Receiver<Wish>, tell: impl Fn(Heard) -> bool) {
        let mut next = Instant::now();
        loop {
            if next <= Instant::now() {
                let heard = self.ask(picture).map_or_else(Heard::Gone, |mut picture| {
                    picture.at = self.began.elapsed();
                    Heard::Picture(Box::new(picture))
                });
                next = Instant::now() + LOOK_EVERY;
                if !tell(heard) {
                    return;
                }
            }
            match wanted.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(wish) => {
                    let heard = self.ask(|client| answer(client, wish));
                    // What was changed is to be seen at once.
                    next = Instant::now();
                    if !tell(heard.unwrap_or_else(Heard::Outcome)) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Asks over the connection, over a new one where the last broke.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Client) -> anyhow::Result<T>) -> Result<T, String> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => Client::connect(&self.place).map_err(|error| format!("{error:#}"))?,
        };
        let answer = ask(&mut client).map_err(|error| format!("{error:#}"))?;
        self.client = Some(client);
        Ok(answer)
    }
}

fn picture(client: &mut Client) -> anyhow::Result<Picture> {
    let status = client.status()?;
    let jobs = client.jobs(false, JOBS_MAX)?;
    let nodes = client.nodes()?;
    Ok(Picture { status, jobs, nodes, at: Duration::ZERO })
}

fn answer(client: &mut Client, wish: Wish) -> anyhow::Result<Heard> {
    match wish {
        Wish::Explain(job) => {
            let told = client.explain(&job.to_string())?;
            Ok(Heard::Text(format!("job {job}"), told.text))
        }
        Wish::Change(change, job) => {
            client.change(change, &Chosen::Jobs(vec![job.to_string()]))?;
            let done = match change {
                Change::Cancel => "cancelled",
                Change::Hold => "held",
                Change::Release => "released",
            };
            Ok(Heard::Outcome(format!("job {job} is {done}")))
        }
    }
}
