//! Why an estimate should not be relied on.

/// Why an estimate should not be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing came.
    NoArrivals,
    /// Nothing was dropped yet: there is no response to be seen.
    NeverDropped,
    /// Nothing was dropped of late: the load is the last one, carried on.
    NoDrops,
    /// The samples have not yet told more than the start did.
    Start,
    /// What was learned may be off by more than 0.05 of the share.
    Uncertain,
    /// Two unknowns act on the queue alike.
    Collinear,
    /// A load was stopped at zero or at all that came.
    Bounded,
    /// The sampling interval is longer than a round trip.
    Coarse,
    /// Samples were missing or refused in this estimation interval.
    Faulty,
}

impl Reason {
    /// Every reason with its word and what it means.
    pub const ALL: [(Reason, &'static str, &'static str); 9] = [
        (Reason::NoArrivals, "no-arrivals", "nothing came"),
        (Reason::NeverDropped, "never-dropped", "no packet was dropped yet, so that there is no response to be seen"),
        (Reason::NoDrops, "no-drops", "no packet was dropped of late: the responsive load is carried on from before"),
        (
            Reason::Start,
            "start",
            "the drop probability has not varied enough: the start still has a weight above a tenth",
        ),
        (Reason::Uncertain, "uncertain", "two standard errors of the share are more than 0.05"),
        (Reason::Collinear, "collinear", "two unknowns act on the queue alike, the samples cannot tell them apart"),
        (Reason::Bounded, "bounded", "a load was stopped at zero or at all that came: the traffic is not as the model"),
        (Reason::Coarse, "coarse", "the sampling interval is longer than a round trip"),
        (Reason::Faulty, "faulty", "samples are missing or were refused"),
    ];

    /// Word in tables.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}
