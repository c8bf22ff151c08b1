//! Notices to a receiver: sent one after the other, each until it is taken.
//!
//! A notice bears a number that stays the same however often it is sent, so
//! that a receiver that took it once knows it again: the daemon may be killed
//! between the receiver's answer and its own note of it.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::alert::Webhook;
use crate::token::{hex, now};

/// How long one try may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait after a try that failed: at first, and at most.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// So often a notice is sent that its receiver says is at fault; then it is dropped, since those
/// behind it wait. One that cannot be taken at the moment is sent for as long as that takes.
const REFUSALS_MAX: u32 = 10;

/// Statuses of 4xx that say nothing about the notice: too slow, too early, too often.
const MOMENTARY: [u16; 3] = [408, 425, 429];

/// The longest key, in bytes.
const KEY_MAX: u64 = 4_096;

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its number.
    pub number: u64,
    /// What it says, as JSON.
    pub body: String,
}

/// What became of a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The receiver took the notice of this number.
    Taken(u64),
    /// It did not, and is asked again; what it said.
    Failed(String),
    /// It did not so often that it is not asked again; what it said of the notice of this number.
    Dropped(u64, String),
}

/// Why a notice was not taken.
enum Refusal {
    /// It is not known to be the notice's fault.
    Momentary(String),
    /// The receiver says that it is.
    OfNotice(String),
}

/// Sends notices from now on, in the order given. What becomes of each is told, and `wake` called.
///
/// # Errors
/// If the key cannot be read.
pub fn start(
    hook: &Webhook,
    wake: Box<dyn Fn() + Send>,
) -> std::io::Result<(Sender<Notice>, Receiver<Delivery>)> {
    start_pausing(hook, wake, PAUSE)
}

fn start_pausing(
    hook: &Webhook,
    wake: Box<dyn Fn() + Send>,
    pause: Duration,
) -> std::io::Result<(Sender<Notice>, Receiver<Delivery>)> {
    let key = hook.secret_file.as_deref().map(read_key).transpose()?;
    let (notices, taken) = channel::<Notice>();
    let (told, deliveries) = channel();
    let url = hook.url.clone();
    thread::Builder::new().name("webhook".to_owned()).spawn(move || {
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE));
        // What a redirection leads to is not what the notice was meant for.
        let agent = config.max_redirects(0).http_status_as_error(false).build().new_agent();
        let send = |notice: &Notice| send(&agent, (&url, key.as_deref()), notice);
        let tell = |delivery| told.send(delivery).is_ok().then(&wake).is_some();
        for notice in taken {
            if !deliver(&notice, pause, (&send, &tell)) {
                return;
            }
        }
    })?;
    Ok((notices, deliveries))
}

/// One try.
type Try<'a> = dyn Fn(&Notice) -> Result<(), Refusal> + 'a;

/// Who is told; whether they still want to know.
type Tell<'a> = dyn Fn(Delivery) -> bool + 'a;

/// Sends a notice until that is over; whether anybody still wants to know what becomes of them.
fn deliver(notice: &Notice, mut pause: Duration, (send, tell): (&Try<'_>, &Tell<'_>)) -> bool {
    let mut refusals = 0;
    loop {
        let why = match send(notice) {
            Ok(()) => return tell(Delivery::Taken(notice.number)),
            Err(Refusal::Momentary(why)) => why,
            Err(Refusal::OfNotice(why)) => {
                refusals += 1;
                if refusals >= REFUSALS_MAX {
                    return tell(Delivery::Dropped(notice.number, why));
                }
                why
            }
        };
        if !tell(Delivery::Failed(why)) {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

fn read_key(path: &Path) -> std::io::Result<Vec<u8>> {
    let wrong = |kind, what: &dyn std::fmt::Display| {
        Error::new(kind, format!("read the key in {}: {what}", path.display()))
    };
    let failed = |error: Error| wrong(error.kind(), &error);
    if std::fs::metadata(path).map_err(failed)?.len() > KEY_MAX {
        let what = format!("a key has at most {KEY_MAX} bytes");
        return Err(wrong(ErrorKind::InvalidData, &what));
    }
    let key = std::fs::read(path).map_err(failed)?.trim_ascii().to_vec();
    match key.is_empty() {
        // Anybody could sign by it.
        true => Err(wrong(ErrorKind::InvalidData, &"it is empty")),
        false => Ok(key),
    }
}

fn send(
    agent: &ureq::Agent,
    (url, key): (&str, Option<&[u8]>),
    notice: &Notice,
) -> Result<(), Refusal> {
    let mut request = agent
        .post(url)
        .header("content-type", "application/json")
        .header("motley-delivery", notice.number.to_string());
    if let Some(key) = key {
        request = request.header("motley-signature", signature(key, now() / 1_000_000, notice));
    }
    let answered = request.send(&notice.body);
    let status = answered.map_err(|error| Refusal::Momentary(error.to_string()))?.status();
    let why = format!("it answers {status}");
    match status.as_u16() {
        // A redirection is no more taken than an error is.
        200..300 => Ok(()),
        code @ 400..500 if !MOMENTARY.contains(&code) => Err(Refusal::OfNotice(why)),
        _ => Err(Refusal::Momentary(why)),
    }
}

/// What proves who sent a notice, and when: `t=SECONDS,v1=HEX`, the HMAC-SHA-256 of
/// `SECONDS.BODY`.
#[must_use]
pub fn signature(key: &[u8], seconds: u64, notice: &Notice) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of every length are taken");
    mac.update(format!("{seconds}.{}", notice.body).as_bytes());
    let code = mac.finalize().into_bytes();
    format!("t={seconds},v1={}", hex(&code))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_time_and_body() {
        let notice = Notice { number: 1, body: "{}".to_owned() };
        // From Python: hmac.new(b"key", b"5.{}", "sha256").hexdigest()
        let expected = "9be615aec64f0d044b5ad6854ab1d893ec88617fb728d2149dcd3a3428e8c45d";
        assert_eq!(signature(b"key", 5, &notice), format!("t=5,v1={expected}"));
        assert_ne!(signature(b"key", 6, &notice)[4..], signature(b"key", 5, &notice)[4..]);
        assert_ne!(signature(b"kez", 5, &notice), signature(b"key", 5, &notice));
    }

    #[test]
    fn a_key_is_some_bytes_of_a_file_without_the_white_space_around_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        assert!(read_key(&file).unwrap_err().to_string().contains("read the key in"));
        let long = "x".repeat(5_000);
        for (text, expected) in [
            ("secret\n", Ok("secret")),
            (" two words ", Ok("two words")),
            ("", Err("it is empty")),
            (" \n", Err("it is empty")),
            (long.as_str(), Err("at most 4096 bytes")),
        ] {
            std::fs::write(&file, text).unwrap();
            match (read_key(&file), expected) {
                (Ok(key), Ok(expected)) => assert_eq!(key, expected.as_bytes()),
                (Err(error), Err(what)) => assert!(error.to_string().contains(what), "{error}"),
                (read, expected) => panic!("{text:?}: {read:?}, and not {expected:?}"),
            }
        }
    }

    /// A receiver that answers each notice with the next of these statuses, and the rest with 204.
    fn receiver(statuses: &[u16]) -> Webhook {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let statuses = statuses.to_vec();
        thread::spawn(move || {
            let mut statuses = statuses.into_iter();
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let mut line = String::new();
                while reader.read_line(&mut line).unwrap_or(0) > 2 {
                    line.clear();
                }
                let mut body = [0; 2];
                let _ = reader.read_exact(&mut body);
                let status = statuses.next().unwrap_or(204);
                let answer = format!(
                    "HTTP/1.1 {status} So\r\nLocation: /other\r\nContent-Length: 0\r\n\
                     Connection: close\r\n\r\n"
                );
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Webhook { url, secret_file: None }
    }

    /// What becomes of two notices, the first of which meets these statuses.
    fn deliveries(statuses: &[u16]) -> Vec<Delivery> {
        let hook = receiver(statuses);
        let started = start_pausing(&hook, Box::new(|| ()), Duration::from_micros(1));
        let (notices, deliveries) = started.unwrap();
        for number in [1, 2] {
            notices.send(Notice { number, body: "{}".to_owned() }).unwrap();
        }
        drop(notices);
        deliveries.iter().collect()
    }

    #[test]
    fn only_a_status_of_2xx_takes_a_notice() {
        for status in [200, 202, 299] {
            let taken = [Delivery::Taken(1), Delivery::Taken(2)];
            assert_eq!(deliveries(&[status]), taken, "{status}");
        }
        for status in [302, 304, 307, 400, 404, 429, 500, 503] {
            let told = deliveries(&[status]);
            let Delivery::Failed(why) = &told[0] else { panic!("{status}: {told:?}") };
            assert!(why.contains(&status.to_string()), "{why}");
            assert_eq!(told[1..], [Delivery::Taken(1), Delivery::Taken(2)], "{status}");
        }
    }

    #[test]
    fn a_notice_that_is_at_fault_itself_makes_room_for_the_next() {
        let tries = REFUSALS_MAX as usize;
        let told = deliveries(&vec![422; tries]);
        assert!(matches!(&told[tries - 1], Delivery::Dropped(1, why) if why.contains("422")));
        assert_eq!(told[tries..], [Delivery::Taken(2)]);
        // One that cannot be taken at the moment is not dropped, however long that lasts.
        for status in [429, 503] {
            let told = deliveries(&vec![status; tries + 2]);
            assert_eq!(told[tries + 2..], [Delivery::Taken(1), Delivery::Taken(2)], "{status}");
        }
    }
}
