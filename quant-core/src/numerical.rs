//! (tour)
