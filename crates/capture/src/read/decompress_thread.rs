//! Bytes that another thread makes while those before are used.
//!
//! What is compressed takes longer to unpack than to read as a capture: so unpacking has a thread of its own, which is at
//! most [`WAITING`] blocks ahead. It begins with the second block, so that a file of which only the beginning is read has none,
//! and there are no more such threads at a time than processors.

use std::io::{self, Read};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes that are made at once.
const BLOCK_BYTES: usize = 1 << 18;
/// Blocks that wait to be used.
const WAITING: usize = 4;

/// Processors this process may run on; 1 where there are no threads.
pub(crate) fn processors() -> usize {
    if cfg!(target_family = "wasm") { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) }
}

/// One of the threads that run, which is counted as long as it is held.
struct Running;

static RUNNING: AtomicUsize = AtomicUsize::new(0);

impl Running {
    /// None where there are as many as processors, or only one of these.
    fn one() -> Option<Self> {
        let most = processors();
        if most < 2 {
            return None;
        }
        let more = |running: usize| (running < most).then_some(running + 1);
        RUNNING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The same bytes as `R` has, made ahead once there is a thread.
pub(crate) struct Ahead<R> {
    /// Until it has been moved to the thread.
    source: Option<R>,
    blocks: Option<Blocks>,
    /// Bytes to be read before there is a thread.
    before: usize,
}

/// What a thread makes.
struct Blocks {
    full: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
    thread: Option<JoinHandle<()>>,
    block: Vec<u8>,
    at: usize,
}

impl<R: Read + Send + 'static> Ahead<R> {
    pub(crate) fn of(source: R) -> Self {
        Ahead { source: Some(source), blocks: None, before: BLOCK_BYTES }
    }

    /// Moves the source to a thread of its own, where there is one to be had.
    #[cold]
    fn begin(&mut self) {
        // Asked once.
        self.before = usize::MAX;
        let Some(running) = Running::one() else { return };
        let (fill, full) = sync_channel(WAITING);
        let (empty, emptied) = channel();
        // It is handed over when the thread is there: where the system refuses one, it stays here.
        let (give, take) = channel();
        let made = thread::Builder::new().name("unpack".into()).spawn(move || {
            let _running = running;
            if let Ok(source) = take.recv() {
                unpack(source, &fill, &emptied);
            }
        });
        if let (Ok(thread), Some(source)) = (made, self.source.take()) {
            match give.send(source) {
                Ok(()) => self.blocks = Some(Blocks { full, empty, thread: Some(thread), block: Vec::new(), at: 0 }),
                Err(refused) => self.source = Some(refused.0),
            }
        }
    }
}

/// Blocks of `source` until its end, an error, or until nobody wants more.
fn unpack(mut source: impl Read, fill: &SyncSender<io::Result<Vec<u8>>>, emptied: &Receiver<Vec<u8>>) {
    loop {
        let mut block = emptied.try_recv().unwrap_or_default();
        block.resize(BLOCK_BYTES, 0);
        let made = loop {
            match source.read(&mut block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        let (block, last) = match made {
            Ok(bytes) => {
                block.truncate(bytes);
                (Ok(block), bytes == 0)
            }
            Err(error) => (Err(error), true),
        };
        if fill.send(block).is_err() || last {
            return;
        }
    }
}

impl<R: Read + Send + 'static> Read for Ahead<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.before == 0 {
            self.begin();
        }
        match (&mut self.blocks, &mut self.source) {
            (Some(blocks), _) => blocks.read(into),
            (None, Some(source)) => {
                let bytes = source.read(into)?;
                self.before = self.before.saturating_sub(bytes);
                Ok(bytes)
            }
            (None, None) => Ok(0),
        }
    }
}

impl Read for Blocks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            let Ok(block) = self.full.recv() else { return self.end() };
            let used = std::mem::replace(&mut self.block, block?);
            self.at = 0;
            // Where the thread has ended, nobody takes it.
            drop(self.empty.send(used));
        }
        let bytes = into.len().min(self.block.len() - self.at);
        into[..bytes].copy_from_slice(&self.block[self.at..self.at + bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

impl Blocks {
    /// Where the thread has ended: as it did.
    #[cold]
    fn end(&mut self) -> io::Result<usize> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => resume_unwind(panic),
            _ => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard};

    use super::*;

    static ALONE: Mutex<()> = Mutex::new(());

    /// Held by a test as long as it counts threads.
    fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Threads whose reader has gone end soon.
    fn all_end() {
        while RUNNING.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
    }

    /// Bytes of a pattern, a few at a time, and what comes behind them.
    struct Pattern {
        at: usize,
        bytes: usize,
        fails: bool,
    }

    impl Read for Pattern {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.at == self.bytes && self.fails {
                return Err(io::Error::other("no more"));
            }
            let count = into.len().min(self.bytes - self.at).min(70_001);
            for (place, byte) in into[..count].iter_mut().enumerate() {
                *byte = ((self.at + place) % 251) as u8;
            }
            self.at += count;
            Ok(count)
        }
    }

    #[test]
    fn bytes_are_those_of_the_source() {
        let _alone = alone();
        for bytes in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES + 1, 9 * BLOCK_BYTES + 77] {
            all_end();
            let mut found = Vec::new();
            let mut ahead = Ahead::of(Pattern { at: 0, bytes, fails: false });
            ahead.read_to_end(&mut found).expect("bytes");
            assert_eq!(found.len(), bytes);
            assert!(found.iter().enumerate().all(|(at, byte)| *byte == (at % 251) as u8), "{bytes}");
            assert_eq!(ahead.blocks.is_some(), bytes > BLOCK_BYTES && processors() > 1, "{bytes}");
            assert_eq!(ahead.read(&mut [0; 8]).expect("the end"), 0);
        }
    }

    #[test]
    fn an_error_comes_behind_the_bytes_before_it() {
        let _alone = alone();
        let bytes = 5 * BLOCK_BYTES;
        let mut found = Vec::new();
        let outcome = Ahead::of(Pattern { at: 0, bytes, fails: true }).read_to_end(&mut found);
        assert_eq!((found.len(), outcome.expect_err("an error").to_string()), (bytes, "no more".to_owned()));
    }

    #[test]
    fn who_wants_no_more_need_not_read_to_the_end() {
        let _alone = alone();
        for _ in 0..100 {
            let mut ahead = Ahead::of(Pattern { at: 0, bytes: usize::MAX, fails: false });
            io::copy(&mut (&mut ahead).take(3 * BLOCK_BYTES as u64), &mut io::sink()).expect("bytes");
        }
        all_end();
    }
}
