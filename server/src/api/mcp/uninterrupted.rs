//! Work that goes on where its caller stops waiting.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

/// A future that is polled in place, and moves to a task of its own where it is dropped before its
/// end. A task from the start would cost each call two changes of task.
pub(super) struct Uninterrupted<T: Send + 'static>(Option<BoxFuture<'static, T>>);

impl<T: Send + 'static> Uninterrupted<T> {
    /// Makes the future of this work.
    pub(super) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<T: Send + 'static> Future for Uninterrupted<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out, so that work that panics is dropped here and does not move to a task.
        let mut work = self.0.take().expect("a future is not polled after its end");
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Uninterrupted<T> {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_ends_whether_its_caller_waits_or_not() {
        assert_eq!(Uninterrupted::new(async { 7 }).await, 7);
        let (go, begin) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let mut work = Uninterrupted::new(async move {
            begin.await.expect("a sender");
            end.send(()).expect("a receiver");
        });
        let waited = tokio::time::timeout(Duration::from_millis(1), &mut work).await;
        assert!(waited.is_err(), "the work has not begun");
        drop(work);
        go.send(()).expect("the work waits");
        ended.await.expect("the work has ended");
    }
}
