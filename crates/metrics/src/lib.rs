//! What users of a link feel, and what the queue did to them: from a run of [`netsim`], without Python.
//!
//! * [`figures`] measures one run, [`pooled`] several runs of one discipline: the key `users` of a summary
//!   (`docs/tables.md`), for the simulator, for the kernel engine and for the page.
//! * [`recommendation`] says what to use, by the one rule that commands and page share.
//! * [`waits`] says for whom a packet waits, [`mechanisms`] what made the difference.
//! * One run gives the same bits on every machine and in WebAssembly: functions that IEEE 754 does not round exactly
//!   come from the crate `libm`, sums are taken in the order of the flow list, and no order of a hash table shows.

mod bootstrap;
mod busy;
mod call;
mod conference;
mod context;
mod counts;
mod e_model;
mod figures;
mod film;
mod flow_kind;
mod fluid;
mod games;
mod goodput;
mod idle;
mod measures;
mod mechanisms;
mod observed;
mod offered;
mod order;
mod over_time;
mod overtaking;
mod pages;
mod ping;
mod playout;
mod recommendation;
mod resampling;
mod run_view;
mod sizes;
mod speech;
mod stream;
mod stream_class;
mod streamed;
mod streams;
mod student;
mod times;
mod transfers;
mod waits;
mod worst;

pub use bootstrap::{Statistic, resampled_log_ratios};
pub use call::{Call, Origin, Way, call, direction, mean_call};
pub use conference::Conferences;
pub use context::{CaptureFacts, Facts, FactsError, ProbeName};
pub use counts::{Counts, class_means_s};
pub use e_model::{Line, opinion, rating};
pub use figures::{Figures, Rule, figures, of_transfers, pooled};
pub use film::{Segment, Watched, stalls_of};
pub use flow_kind::{Kind, kinds};
pub use fluid::{Service, fluid};
pub use games::Games;
pub use goodput::Goodput;
pub use idle::idle_rtt;
pub use measures::{Better, In, MEASURES, Measure, Noticed, OnPage};
pub use mechanisms::{Mechanism, mechanisms};
pub use observed::Observed;
pub use offered::{Offering, offered_bytes};
pub use order::{percentile, percentile_ci95};
pub use over_time::OverTime;
pub use overtaking::Passing;
pub use pages::Pages;
pub use ping::{Grade, Ping, grade, pings};
pub use playout::{Heard, Window, jitter_s, windows};
pub use recommendation::{
    BELOW_THE_LINK, Buffer, Choice, Draws, FULL_PACKET_BYTES, Framing, Hour, Kind as RecommendationKind, Links,
    LoadedRow, Part, Question, Queue, Queues, Recommendation, Row, Shape, Shapes, ToResample, Udp, Unit, Unknown,
    Users, Way as LinkWay, chosen, criteria, is_a_look, load, recommendation, settled,
};
pub use resampling::{Varies, hour_ci95, range_factor};
pub use run_view::Ran;
pub use stream::{Video, played};
pub use stream_class::is_video_call_or_game;
pub use streamed::{BinFigures, ClassFigures, MOST_SIZES, Quantiles, SIZE_STEP, SKETCH_BOUND, StreamFigures, Streamed};
pub use streams::{Streams, heard};
pub use student::{student_ci95, student_t};
pub use times::Times;
pub use transfers::{Bin, Bins, Exchange, Listed, ListedTransfer, Scripted, Transfer, listed, transfers};
pub use waits::{Waits, waits};
pub use worst::{Chosen, Delayed, likely, worst};
