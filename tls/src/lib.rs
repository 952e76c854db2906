//! Where HTTP clients begin. TLS is rustls with ring, which does for Lyra what rustls' own choice, aws-lc, does, and compiles
//! half a minute faster. reqwest has no cryptography of its own then, so that [`reqwest::Client::new`] panics; Clippy
//! forbids it.

use rustls::CertificateError::{
    Expired, ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
};
use std::error::Error;
use std::io;

/// A client to build. It trusts the authorities that the system trusts.
#[expect(clippy::disallowed_methods, reason = "this is where clients begin")]
pub fn client() -> reqwest::ClientBuilder {
    install();
    reqwest::Client::builder()
}

/// Names the cryptography to clients that are built elsewhere, as by a library. The first call counts.
pub fn install() {
    // An error means that it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Why a server's certificate was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distrust {
    /// No trusted authority signed it.
    Issuer,
    /// It is for other names.
    Name,
    /// It is no longer valid.
    Expired,
    /// Anything else, in rustls' words.
    Other(String),
}

/// What was wrong with the server's certificate, if that is why a request failed.
pub fn distrust(error: &reqwest::Error) -> Option<Distrust> {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        // The source of an I/O error is that of what it wraps.
        let mut error = error;
        while let Some(wrapped) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            error = wrapped;
        }
        if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
            return Some(match why {
                UnknownIssuer => Distrust::Issuer,
                NotValidForName | NotValidForNameContext { .. } => Distrust::Name,
                Expired | ExpiredContext { .. } => Distrust::Expired,
                why => Distrust::Other(why.to_string()),
            });
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_built_any_number_of_times() {
        assert!(client().build().is_ok());
        assert!(client().https_only(true).build().is_ok());
    }
}
