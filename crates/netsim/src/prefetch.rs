//! Asks the processor to bring memory into its caches that will be read soon.
//!
//! Principle: with many flows each event reads the state of another one, which is in none of the caches. The packets that
//! arrive next are known, so their flows' state is asked for some events before. These are hints: they read nothing, change
//! nothing and may be of any address; on processors other than x86-64 they are nothing at all.
#![allow(unsafe_code)]

/// Bytes that come together.
pub(crate) const LINE: usize = 64;

/// Asks for `bytes` bytes from `first` on.
#[inline]
pub(crate) fn bytes(first: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        line(first.wrapping_add(at));
    }
    line(first.wrapping_add(bytes.saturating_sub(1)));
}

/// Asks for the lines from that of `first` on that hold `bytes` bytes, if it is the beginning of one.
#[inline]
pub(crate) fn lines(first: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        line(first.wrapping_add(at));
    }
}

/// Asks for all of `value`.
#[inline]
pub(crate) fn value<T>(value: &T) {
    bytes(std::ptr::from_ref(value).cast(), size_of::<T>());
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is part of every x86-64 processor and does not fault, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn line(_: *const u8) {}
