//! Words of the settings that congestion controls ask for.

use qdisc::Ecn;
use schemars::JsonSchema;
use serde::Deserialize;

/// Explicit congestion notification: which data may be marked, and what acknowledgements tell of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// Nothing may be marked.
    Off,
    /// RFC 3168: data is ECT(0), one mark per round trip is reported.
    Classic,
    /// RFC 8257: data is ECT(0), the flag of an acknowledgement says whether what it acknowledges was marked.
    Dctcp,
    /// AccECN (RFC 9768): data is ECT(0), acknowledgements count the marks.
    Accurate,
    /// L4S (RFC 9331): AccECN with ECT(1).
    L4s,
}

impl EcnMode {
    /// Whether data may be marked.
    #[inline]
    pub(crate) fn is_on(self) -> bool {
        self != EcnMode::Off
    }

    /// Whether acknowledgements carry the count of marks.
    #[inline]
    pub(crate) fn counts(self) -> bool {
        matches!(self, EcnMode::Accurate | EcnMode::L4s)
    }

    /// Whether acknowledgements tell the share of segments that were marked.
    #[inline]
    pub(crate) fn tells_share(self) -> bool {
        self.counts() || self == EcnMode::Dctcp
    }

    /// What data is sent as.
    #[inline]
    pub(crate) fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::L4s => Ecn::Ect1,
            EcnMode::Classic | EcnMode::Dctcp | EcnMode::Accurate => Ecn::Ect0,
        }
    }
}
