//! Reads the shapes of obstacles.
//!
//! For an enum whose variant is named by a key, a derived reader first copies the whole object, in
//! case that key comes last. A city has tens of thousands of shapes, so they are read directly into
//! the keys of all variants.

use super::Shape;
use crate::quantity::{Angle, Area, Coordinate, Quantity, Size};
use serde::de::{Deserialize, Deserializer, Error};

/// The keys of all shapes together.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "internally tagged enum Shape")]
struct ShapeKeys {
    #[serde(rename = "type")]
    kind: ShapeKind,
    #[serde(default, deserialize_with = "given")]
    x: Option<Quantity<Coordinate>>,
    #[serde(default, deserialize_with = "given")]
    y: Option<Quantity<Coordinate>>,
    #[serde(default, deserialize_with = "given")]
    radius: Option<Quantity<Size>>,
    #[serde(default, deserialize_with = "given")]
    heading: Option<Quantity<Angle>>,
    #[serde(default, deserialize_with = "given")]
    length: Option<Quantity<Size>>,
    #[serde(default, deserialize_with = "given")]
    width: Option<Quantity<Size>>,
    #[serde(default, deserialize_with = "given")]
    points: Option<Area>,
}

/// Reads the value of a key that is present. A key without a value (`null`) is an error.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum ShapeKind {
    Circle,
    Box,
    Polygon,
}

impl ShapeKind {
    /// Returns the keys of the shape apart from its type.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Circle => &["x", "y", "radius"],
            Self::Box => &["x", "y", "heading", "length", "width"],
            Self::Polygon => &["points"],
        }
    }
}

impl ShapeKeys {
    /// Returns the names of the keys that are present, apart from the type.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("x", self.x.is_some()),
            ("y", self.y.is_some()),
            ("radius", self.radius.is_some()),
            ("heading", self.heading.is_some()),
            ("length", self.length.is_some()),
            ("width", self.width.is_some()),
            ("points", self.points.is_some()),
        ];
        keys.into_iter()
            .filter_map(|(name, is_given)| is_given.then_some(name))
    }

    fn shape<E: Error>(self) -> Result<Shape, E> {
        let own = self.kind.keys();
        if let Some(other) = self.given().find(|name| !own.contains(name)) {
            return Err(E::unknown_field(other, own));
        }
        Ok(match self.kind {
            ShapeKind::Circle => Shape::Circle {
                x: needed(self.x, "x")?,
                y: needed(self.y, "y")?,
                radius: needed(self.radius, "radius")?,
            },
            ShapeKind::Box => Shape::Box {
                x: needed(self.x, "x")?,
                y: needed(self.y, "y")?,
                heading: self.heading.unwrap_or_default(),
                length: needed(self.length, "length")?,
                width: needed(self.width, "width")?,
            },
            ShapeKind::Polygon => Shape::Polygon {
                points: needed(self.points, "points")?,
            },
        })
    }
}

fn needed<T, E: Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ShapeKeys::deserialize(deserializer)?.shape()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Shape, String> {
        serde_json::from_str(text).map_err(|error: serde_json::Error| error.to_string())
    }

    #[test]
    fn shapes_are_read_whatever_the_order_of_their_keys() {
        for text in [
            r#"{"type": "circle", "x": 1, "y": 2.5, "radius": 3}"#,
            r#"{"radius": 3, "y": 2.5, "x": 1, "type": "circle"}"#,
        ] {
            let circle = Shape::Circle {
                x: 1.0.into(),
                y: 2.5.into(),
                radius: 3.0.into(),
            };
            assert_eq!(read(text), Ok(circle));
        }
        let shapes = [
            r#"{"type":"circle","x":1.0,"y":2.5,"radius":3.0}"#,
            r#"{"type":"box","x":1.0,"y":2.0,"heading":0.5,"length":4.0,"width":2.0}"#,
            r#"{"type":"polygon","points":[[0.0,0.0],[4.0,0.0],[0.0,3.0]]}"#,
        ];
        for text in shapes {
            let shape = read(text).unwrap();
            assert_eq!(serde_json::to_string(&shape).unwrap(), text);
        }
        // The heading is the only key with a default.
        let aligned = read(r#"{"type": "box", "x": 0, "y": 0, "length": 4, "width": 2}"#);
        assert!(matches!(aligned, Ok(Shape::Box { heading, .. }) if heading.get() == 0.0));
    }

    #[test]
    fn errors_name_the_key() {
        for (text, expected) in [
            (r#"{"x": 1, "y": 2, "radius": 3}"#, "missing field `type`"),
            (
                r#"{"type": "circle", "x": 1, "radius": 3}"#,
                "missing field `y`",
            ),
            (
                r#"{"type": "circle", "x": 1, "y": 2, "radius": 3, "length": 4}"#,
                "unknown field `length`, expected one of `x`, `y`, `radius`",
            ),
            (
                r#"{"type": "polygon", "points": [[0, 0], [4, 0], [0, 3]], "radius": 3}"#,
                "unknown field `radius`, expected `points`",
            ),
            (
                r#"{"type": "polygon", "corners": []}"#,
                "unknown field `corners`",
            ),
            (r#"{"type": "blob"}"#, "unknown variant `blob`"),
            (
                r#"{"type": "circle", "x": 1, "y": 2, "radius": -3}"#,
                "-3 is out of range",
            ),
            (
                r#"{"type": "circle", "type": "box"}"#,
                "duplicate field `type`",
            ),
            (
                r#"{"type": "circle", "x": null, "y": 2, "radius": 3}"#,
                "invalid type: null, expected f64",
            ),
            (r#""circle""#, "expected internally tagged enum Shape"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
