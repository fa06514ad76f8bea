//! Where the files of the archive are.

use std::net::IpAddr;

use ureq::http::Uri;

/// The list of digests that lies beside the months.
pub const SUMS: &str = "sha256sums.txt";

/// A copy of the archive: the folder that its months and their list lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    base: String,
}

impl Mirror {
    /// By the address of the folder, with or without a slash behind it.
    pub fn at(base: &str) -> Self {
        Self { base: base.trim_end_matches('/').to_owned() }
    }

    /// The address of a file in it.
    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }

    /// Whether it is on this machine.
    pub(super) fn is_here(&self) -> bool {
        let uri: Option<Uri> = self.base.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_behind_the_folder_makes_no_difference() {
        for base in ["http://host/standard", "http://host/standard/"] {
            assert_eq!(Mirror::at(base).url(SUMS), "http://host/standard/sha256sums.txt");
        }
    }

    #[test]
    fn a_mirror_on_this_machine_is_known() {
        for base in ["http://127.0.0.1:8080/x", "http://localhost", "http://[::1]:80/"] {
            assert!(Mirror::at(base).is_here(), "{base}");
        }
        for base in ["https://database.lichess.org/standard", "http://10.0.0.1", "no address at all"] {
            assert!(!Mirror::at(base).is_here(), "{base}");
        }
    }
}
