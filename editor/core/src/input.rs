//! Keys in the core's own form, independent of the window system.

/// Keys as a table of variant, name in settings, and other accepted names.
macro_rules! keys {
    ($($key:ident: $name:literal $(, $other:literal)*;)*) => {
        /// A key of the keyboard.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Key {
            $(#[doc = $name] $key,)*
        }

        impl Key {
            /// All keys.
            pub const ALL: &[Self] = &[$(Self::$key,)*];

            /// Returns the name of the key in settings.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$key => $name,)*
                }
            }

            /// Returns the key with the given name; `None` if there is none.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $other)* => Some(Self::$key),)*
                    _ => None,
                }
            }
        }
    };
}

keys! {
    ArrowDown: "Down", "⏷", "ArrowDown";
    ArrowLeft: "Left", "⏴", "ArrowLeft";
    ArrowRight: "Right", "⏵", "ArrowRight";
    ArrowUp: "Up", "⏶", "ArrowUp";
    Escape: "Escape", "Esc";
    Tab: "Tab";
    Backspace: "Backspace";
    Enter: "Enter", "Return", "NumpadEnter";
    Insert: "Insert";
    Delete: "Delete";
    Home: "Home";
    End: "End";
    PageUp: "PageUp";
    PageDown: "PageDown";
    Copy: "Copy";
    Cut: "Cut";
    Paste: "Paste";
    Space: "Space", " ";
    Colon: "Colon", ":";
    Comma: "Comma", ",", "NumpadComma";
    Minus: "Minus", "-", "−", "NumpadSubtract";
    Period: "Period", ".", "NumpadDecimal";
    Plus: "Plus", "+", "NumpadAdd";
    Equals: "Equals", "=", "Equal", "NumpadEqual";
    Semicolon: "Semicolon", ";";
    OpenBracket: "OpenBracket", "[", "BracketLeft";
    CloseBracket: "CloseBracket", "]", "BracketRight";
    OpenCurlyBracket: "OpenCurlyBracket", "{";
    CloseCurlyBracket: "CloseCurlyBracket", "}";
    Backtick: "Backtick", "`", "Backquote", "Grave";
    Backslash: "Backslash", "\\";
    Slash: "Slash", "/", "NumpadDivide";
    Pipe: "Pipe", "|";
    Questionmark: "Questionmark", "?";
    Exclamationmark: "Exclamationmark", "!";
    Quote: "Quote", "'";
    Num0: "0", "Digit0", "Numpad0";
    Num1: "1", "Digit1", "Numpad1";
    Num2: "2", "Digit2", "Numpad2";
    Num3: "3", "Digit3", "Numpad3";
    Num4: "4", "Digit4", "Numpad4";
    Num5: "5", "Digit5", "Numpad5";
    Num6: "6", "Digit6", "Numpad6";
    Num7: "7", "Digit7", "Numpad7";
    Num8: "8", "Digit8", "Numpad8";
    Num9: "9", "Digit9", "Numpad9";
    A: "A", "a", "KeyA";
    B: "B", "b", "KeyB";
    C: "C", "c", "KeyC";
    D: "D", "d", "KeyD";
    E: "E", "e", "KeyE";
    F: "F", "f", "KeyF";
    G: "G", "g", "KeyG";
    H: "H", "h", "KeyH";
    I: "I", "i", "KeyI";
    J: "J", "j", "KeyJ";
    K: "K", "k", "KeyK";
    L: "L", "l", "KeyL";
    M: "M", "m", "KeyM";
    N: "N", "n", "KeyN";
    O: "O", "o", "KeyO";
    P: "P", "p", "KeyP";
    Q: "Q", "q", "KeyQ";
    R: "R", "r", "KeyR";
    S: "S", "s", "KeyS";
    T: "T", "t", "KeyT";
    U: "U", "u", "KeyU";
    V: "V", "v", "KeyV";
    W: "W", "w", "KeyW";
    X: "X", "x", "KeyX";
    Y: "Y", "y", "KeyY";
    Z: "Z", "z", "KeyZ";
    F1: "F1";
    F2: "F2";
    F3: "F3";
    F4: "F4";
    F5: "F5";
    F6: "F6";
    F7: "F7";
    F8: "F8";
    F9: "F9";
    F10: "F10";
    F11: "F11";
    F12: "F12";
    F13: "F13";
    F14: "F14";
    F15: "F15";
    F16: "F16";
    F17: "F17";
    F18: "F18";
    F19: "F19";
    F20: "F20";
    F21: "F21";
    F22: "F22";
    F23: "F23";
    F24: "F24";
    F25: "F25";
    F26: "F26";
    F27: "F27";
    F28: "F28";
    F29: "F29";
    F30: "F30";
    F31: "F31";
    F32: "F32";
    F33: "F33";
    F34: "F34";
    F35: "F35";
    BrowserBack: "BrowserBack";
    BrowserForward: "BrowserForward";
    BrowserRefresh: "BrowserRefresh";
    BrowserSearch: "BrowserSearch";
    BrowserHome: "BrowserHome";
    BrowserFavorites: "BrowserFavorites";
    BrowserStop: "BrowserStop";
    MediaPlayPause: "MediaPlayPause";
    MediaTrackNext: "MediaTrackNext";
    MediaTrackPrevious: "MediaTrackPrevious";
    MediaStop: "MediaStop";
    AudioVolumeMute: "AudioVolumeMute";
    AudioVolumeDown: "AudioVolumeDown";
    AudioVolumeUp: "AudioVolumeUp";
    LaunchMail: "LaunchMail";
    LaunchApp1: "LaunchApp1";
    LaunchApp2: "LaunchApp2";
    ShiftLeft: "ShiftLeft";
    ShiftRight: "ShiftRight";
    ControlLeft: "ControlLeft";
    ControlRight: "ControlRight";
    AltLeft: "AltLeft";
    AltRight: "AltRight";
    SuperLeft: "SuperLeft", "MetaLeft", "OSLeft";
    SuperRight: "SuperRight", "MetaRight", "OSRight";
    IntlBackslash: "IntlBackslash";
    CapsLock: "CapsLock";
    NumLock: "NumLock";
    ScrollLock: "ScrollLock";
    PrintScreen: "PrintScreen";
    Pause: "Pause";
    Menu: "Menu", "ContextMenu", "Apps";
    Fn: "Fn", "FnLock", "Globe";
    Eject: "Eject";
    Help: "Help";
    Power: "Power";
    Sleep: "Sleep", "Standby";
    Clear: "Clear";
}

/// Modifier keys held together with a key or a button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Modifiers {
    /// Whether Shift is held.
    pub shift: bool,
    /// Whether Ctrl is held, or Command on a Mac.
    pub ctrl: bool,
    /// Whether Alt is held.
    pub alt: bool,
}

/// A key together with the held modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyChord {
    /// Modifier keys that are held with the key.
    pub modifiers: Modifiers,
    /// The key that is pressed.
    pub key: Key,
}
