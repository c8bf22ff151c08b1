//! Notices to a receiver: sent one after the other, each until it is taken.
//!
//! A notice bears a number that stays the same however often it is sent, so
//! that a receiver that took it once knows it again: the daemon may be killed
//! between the receiver's answer and its own note of it.

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
}

/// Sends notices from now on, in the order given. What becomes of each is told, and `wake` called.
///
/// # Errors
/// If the key cannot be read.
pub fn start(
    hook: &Webhook,
    wake: Box<dyn Fn() + Send>,
) -> std::io::Result<(Sender<Notice>, Receiver<Delivery>)> {
    let key = hook.secret_file.as_deref().map(read_key).transpose()?;
    let (notices, taken) = channel::<Notice>();
    let (told, deliveries) = channel();
    let url = hook.url.clone();
    thread::Builder::new().name("webhook".to_owned()).spawn(move || {
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE));
        let agent = config.max_redirects(0).build().new_agent();
        for notice in taken {
            let mut pause = PAUSE;
            loop {
                let sent = send(&agent, (&url, key.as_deref()), &notice);
                let delivery = match &sent {
                    Ok(()) => Delivery::Taken(notice.number),
                    Err(error) => Delivery::Failed(error.to_string()),
                };
                if told.send(delivery).is_err() {
                    return;
                }
                wake();
                if sent.is_ok() {
                    break;
                }
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    })?;
    Ok((notices, deliveries))
}

fn read_key(path: &Path) -> std::io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.len() > KEY_MAX {
        let what = format!("a key has at most {KEY_MAX} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what));
    }
    Ok(std::fs::read(path)?.trim_ascii().to_vec())
}

fn send(
    agent: &ureq::Agent,
    (url, key): (&str, Option<&[u8]>),
    notice: &Notice,
) -> Result<(), ureq::Error> {
    let mut request = agent
        .post(url)
        .header("content-type", "application/json")
        .header("motley-delivery", notice.number.to_string());
    if let Some(key) = key {
        request = request.header("motley-signature", signature(key, now() / 1_000_000, notice));
    }
    request.send(&notice.body).map(drop)
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
}
