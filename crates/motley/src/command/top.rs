//! `motley top`: the dashboard in a terminal.

use std::env;
use std::io::{IsTerminal as _, stdin, stdout};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, ensure};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};

use crate::args::live::Top;
use crate::client::Client;
use crate::daemon::Place;
use crate::top::{Heard, Model, Palette, Talk, draw};

/// What happened and is not shown yet; who sends more waits.
const WAITING_MAX: usize = 64;

/// Something that happened.
enum Happening {
    Key(KeyEvent),
    Heard(Heard),
    /// The terminal has another size.
    Resized,
    /// The program is to end.
    End,
    /// The terminal is gone, or a thread is.
    Broken(std::io::Error),
}

/// Tells what was heard; should the thread that tells break, it ends the program too.
struct Teller(SyncSender<Happening>);

impl Teller {
    fn tell(&self, heard: Heard) -> bool {
        self.0.send(Happening::Heard(heard)).is_ok()
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        let broken = std::io::Error::other("nobody talks with the daemon any more");
        let _ = self.0.try_send(Happening::Broken(broken));
    }
}

pub(super) fn run(args: &Top) -> anyhow::Result<()> {
    ensure!(
        stdout().is_terminal() && stdin().is_terminal(),
        "show the dashboard: this is not a terminal; motley status, motley jobs and motley nodes \
         print the same"
    );
    let place = Place::choose(args.at.directory.as_deref())?;
    let client = Client::connect(&place)?;
    let is_plain = env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
    let palette = if is_plain { Palette::Plain } else { Palette::Coloured };
    let (sender, happenings) = sync_channel(WAITING_MAX);
    let ended = sender.clone();
    ctrlc::set_handler(move || drop(ended.send(Happening::End))).context("listen for signals")?;
    // It brings the terminal back if the program panics; what follows, if it ends.
    let terminal = ratatui::try_init().context("take the terminal")?;
    let teller = Teller(sender.clone());
    let talk = Talk::begin(place, client, move |heard| teller.tell(heard));
    thread::spawn(move || read_keys(&sender));
    let shown = show(terminal, &talk, (palette, &happenings));
    ratatui::try_restore().context("give the terminal back")?;
    shown
}

/// Reads what the user does, until nobody wants to know.
fn read_keys(sender: &SyncSender<Happening>) {
    loop {
        let happening = match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => Happening::Key(key),
            Ok(Event::Resize(..)) => Happening::Resized,
            Ok(_) => continue,
            Err(error) => Happening::Broken(error),
        };
        let is_last = matches!(happening, Happening::Broken(_));
        if sender.send(happening).is_err() || is_last {
            return;
        }
    }
}

/// Shows what happens until the user has seen enough.
fn show(
    mut terminal: DefaultTerminal,
    talk: &Talk,
    (palette, happenings): (Palette, &std::sync::mpsc::Receiver<Happening>),
) -> anyhow::Result<()> {
    let mut model = Model::default();
    while !model.is_over {
        terminal.draw(|frame| draw(&model, palette, frame)).context("draw")?;
        match happenings.recv().context("hear what happens")? {
            Happening::Key(key) => {
                if let Some(wish) = model.press(key)
                    && !talk.wish(wish)
                {
                    model.hear(Heard::Outcome("the daemon has not answered yet".to_owned()));
                }
            }
            Happening::Heard(heard) => model.hear(heard),
            Happening::Resized => {}
            Happening::End => model.is_over = true,
            Happening::Broken(error) => return Err(error).context("go on"),
        }
    }
    Ok(())
}
