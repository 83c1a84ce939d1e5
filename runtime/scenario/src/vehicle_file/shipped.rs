//! The vehicles shipped with the program.

/// A vehicle that is shipped with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedVehicle {
    /// Name of the vehicle: its file name without the extension.
    pub name: &'static str,
    /// Path of the vehicle's file in the shipped scenarios.
    pub path: &'static str,
    /// The text of the vehicle's file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal)*) => {
        /// The vehicles shipped with the program, by name.
        pub const SHIPPED: &[ShippedVehicle] = &[$(ShippedVehicle {
            name: $name,
            path: concat!("vehicles/", $name, ".vehicle.json"),
            text: include_str!(concat!("../../../../scenarios/vehicles/", $name, ".vehicle.json")),
        },)*];
    };
}

shipped! {
    "articulated-bus" "bmw-320i" "enviro-400" "escort-caravan" "ford-escort" "semi-trailer-tractor"
    "semi-trailer-truck" "sliding-racer" "soapbox-kart" "t-28" "vw-vanagon" "willys-mb"
}
