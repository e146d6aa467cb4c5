//! The read side: from a query to the passages an agent or a person sees.

pub mod budget;
pub mod render;
