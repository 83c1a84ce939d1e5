//! Index of a route in the store.

use serde::{Deserialize, Serialize};

/// Index of a route in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RouteId(pub(crate) u32);
