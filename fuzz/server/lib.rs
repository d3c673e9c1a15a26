//! What the targets share: the call of one reader, and a bound of the memory that the call may take.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

pub use libfuzzer_sys;
pub use quant_server::fuzzing;

/// The bytes that a reader may hold at once beside a multiple of its input: answers, error texts, a page.
const FREE: usize = 4 * 1024 * 1024;
/// The same for a reader of Arrow, whose library reserves 64 MiB for a length that a stream claims.
const FREE_FOR_ARROW: usize = 72 * 1024 * 1024;
/// The bytes that a reader may hold for each byte of its input: two bytes of JSON may be a value of 72 bytes,
/// in a list with twice its room, and in the copies of a check.
const FOR_A_BYTE: usize = 400;

/// The allocator of the system, with the bytes that are held and the most that were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    MOST.fetch_max(held, Relaxed);
}

// SAFETY: every call is that of the system's allocator; the counts change no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a reader on an input.
///
/// # Panics
///
/// Panics where the reader panics, and where it has held more memory than its input explains.
pub fn run(name: &str, read: fn(&[u8]), bytes: &[u8]) {
    let free = if name.starts_with("arrow") { FREE_FOR_ARROW } else { FREE };
    let most = free + FOR_A_BYTE * bytes.len();
    if held(read, bytes) > most {
        // What is made once for all inputs was perhaps made in this call.
        let held = held(read, bytes);
        assert!(held <= most, "{held} bytes are held for {} bytes of input", bytes.len());
    }
}

/// Runs a reader, and returns the most bytes that it has held.
fn held(read: fn(&[u8]), bytes: &[u8]) -> usize {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    read(bytes);
    MOST.load(Relaxed).saturating_sub(before)
}

/// Makes the target of a function of `quant_server::fuzzing`.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            $crate::run(stringify!($name), $crate::fuzzing::$name, bytes);
        });
    };
}
