//! Functions that test whether values are defaults. Files leave out defaults.

/// Whether a value is the default of its type.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Whether a number is 0.
pub(crate) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
