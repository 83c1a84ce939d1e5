//! The Roadwright editor.
