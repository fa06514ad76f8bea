//! What mirrors said of files that are not here yet: enough for an estimate, and never more.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::client::Client;
use super::mirror::Mirror;

/// So many are asked for at once.
const AT_ONCE: usize = 8;

/// What is remembered from one command to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Bytes of the file at an address.
    pub bytes: BTreeMap<String, u64>,
    /// How fast the last download was, without its waits.
    pub bytes_per_second: Option<f64>,
}

/// Asks a mirror how long files are, all within `whole`; what has not come by then is not there.
pub fn ask(mirror: &Mirror, urls: Vec<String>, whole: Duration) -> BTreeMap<String, u64> {
    let until = Instant::now() + whole;
    let client = Client::hasty(mirror, whole);
    let (say, heard) = channel();
    let threads = urls.len().min(AT_ONCE);
    let left = Arc::new(Mutex::new(urls));
    for _ in 0..threads {
        let (client, left, say) = (client.clone(), Arc::clone(&left), say.clone());
        std::thread::spawn(move || {
            while let Some(url) = left.lock().ok().and_then(|mut left| left.pop()) {
                if let Some(bytes) = client.length(&url)
                    && say.send((url, bytes)).is_err()
                {
                    break;
                }
            }
        });
    }
    drop(say);
    let mut sizes = BTreeMap::new();
    while let Ok((url, bytes)) = heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
        sizes.insert(url, bytes);
    }
    sizes
}
