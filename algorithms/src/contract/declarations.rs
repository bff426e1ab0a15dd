//! Short forms in which an algorithm's file declares its messages, its state and what it ignores.

/// Declares the messages of an algorithm, each with the kind that it is counted under:
/// `messages! { pub(crate) enum Message { Request { site: NodeId } of site = "REQUEST", Token = "TOKEN" } }`.
///
/// It makes the `enum` and its [`Message`], with [`KINDS`](Message::KINDS) in the order of the
/// variants. `of site` says that this field names the node whose request the message is about, its
/// [`origin`](Message::origin). Where that takes more than a field, `fn origin` stands behind the
/// enum, as may anything else that [`Message`] has. `Return as Delegate`, behind all that have a kind of
/// their own, is counted as another. `enum Message, shown as below` leaves [`Debug`] to the algorithm.
macro_rules! messages {
    (
        $(#[$about:meta])*
        $vis:vis enum $Message:ident { $($variants:tt)* }
        $($others:tt)*
    ) => {
        $crate::contract::messages! {
            #[derive(Debug)]
            $(#[$about])*
            $vis enum $Message, shown as below { $($variants)* }
            $($others)*
        }
    };
    (
        $(#[$about:meta])*
        $vis:vis enum $Message:ident, shown as below {
            $(
                $(#[$what:meta])*
                $variant:ident $({ $($field:tt)* })? $(( $($value:tt)* ))?
                    $(of $origin:ident $(.$part:ident)*)? $(= $kind:literal)? $(as $Other:ident)?
            ),+ $(,)?
        }
        $($others:tt)*
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $Message {
            $($(#[$what])* $variant $({ $($field)* })? $(( $($value)* ))?),+
        }

        impl $crate::contract::Message for $Message {
            const KINDS: &'static [&'static str] = &[$($($kind,)?)+];

            fn kind(&self) -> usize {
                #[derive(Clone, Copy)]
                enum Place {
                    $($variant),+
                }
                match self {
                    $(Self::$variant { .. } => [$(Place::$Other,)? Place::$variant][0] as usize),+
                }
            }

            $crate::contract::origin! { [$($variant $(of $origin $(.$part)*)?),+] $($others)* }
        }
    };
}
pub(crate) use messages;

/// The rest of what `messages!` implements: the origins that the variants name, or what stands behind
/// the enum.
macro_rules! origin {
    ([$($variant:ident $(of $origin:ident $(.$part:ident)*)?),+]) => {
        fn origin(&self) -> Option<$crate::NodeId> {
            match self {
                $(Self::$variant { $($origin,)? .. } => None$(.or(Some((*$origin)$(.$part)*)))?),+
            }
        }
    };
    ([$($variant:ident),+] $($others:tt)+) => {
        $($others)+
    };
}
pub(crate) use origin;

/// Says how a value is shown to people, in the place of [`Debug`], as text with its parts in it:
/// `shown! { Stamp: Self { t, id } => "({t},{id})" }`.
macro_rules! shown {
    ($Type:ty: $($parts:pat => $text:literal),+ $(,)?) => {
        impl std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($parts => write!(f, $text)),+
                }
            }
        }
    };
}
pub(crate) use shown;

/// Says in one line which events an algorithm does nothing about, and why:
/// `ignores! { timer, peer: "a lost token stays lost", link }`.
///
/// - `timer`: it sets none, so one that goes off is a protocol error.
/// - `peer: "why"`: it does nothing about a death. Nobody tells it of deaths then.
/// - `link`, or `link: "why"`: by default because links are patient, so that a cut only delays.
///   Nobody tells it of links then.
macro_rules! ignores {
    () => {};
    (timer $(, $($rest:tt)*)?) => {
        fn timer(&mut self, timer: $crate::Timer, out: &mut $crate::Outbox<Self::Message>) {
            out.protocol_error(format!("no timer was set, yet {} went off", timer.name));
        }

        $crate::contract::ignores! { $($($rest)*)? }
    };
    (peer: $why:literal $(, $($rest:tt)*)?) => {
        const WANTS_PEER_EVENTS: bool = false;

        #[doc = $why]
        fn peer(&mut self, _: $crate::NodeId, _: $crate::Change, _: &mut $crate::Outbox<Self::Message>) {}

        $crate::contract::ignores! { $($($rest)*)? }
    };
    (link $(: $why:literal)? $(, $($rest:tt)*)?) => {
        const WANTS_LINK_EVENTS: bool = false;

        $(#[doc = $why])?
        fn link(&mut self, _: $crate::NodeId, _: $crate::Change, _: &mut $crate::Outbox<Self::Message>) {}

        $crate::contract::ignores! { $($($rest)*)? }
    };
}
pub(crate) use ignores;

/// Lists what is true in every reachable state, each fact with the function that checks it:
/// `invariants! { "there is one token": one_token }` stands in the place of
/// [`Algorithm::invariants`].
macro_rules! invariants {
    ($($name:literal: $check:expr),* $(,)?) => {
        fn invariants() -> &'static [$crate::contract::Invariant<Self>] {
            &[$($crate::contract::Invariant { name: $name, check: $check }),*]
        }
    };
}
pub(crate) use invariants;

/// Makes the type of a node, each variable with its meaning and what it is at the start:
/// `node! { pub(crate) struct Raymond of setup with me { using: bool = false, … } }`. In the `impl` of
/// [`Algorithm`] belongs `declared! { Message }` then.
///
/// `with me, nodes` stands for the variables that most nodes begin with: `me`, the number of this
/// node, and `nodes`, how many there are. `given name = value, …;` before the braces computes what
/// several variables start from.
macro_rules! node {
    (
        $(#[$about:meta])*
        $vis:vis struct $Node:ident of $setup:ident $(with $($own:ident),+)?
        $(given $($given:ident = $value:expr),+;)?
        {
            $($(#[$what:meta])* $seen:vis $field:ident: $Type:ty = $start:expr),+ $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        $vis struct $Node {
            $($($vis $own: $crate::contract::from_setup!(type of $own),)+)?
            $($(#[$what])* $seen $field: $Type),+
        }

        impl $Node {
            fn at_start($setup: &$crate::Setup<'_>) -> Self {
                $($(let $given = $value;)+)?
                Self {
                    $($($own: $crate::contract::from_setup!($setup, $own),)+)?
                    $($field: $start),+
                }
            }
        }
    };
}
pub(crate) use node;

/// What `node!` makes of `with me, nodes`.
macro_rules! from_setup {
    (type of me) => {
        $crate::NodeId
    };
    (type of nodes) => {
        u32
    };
    ($setup:ident, me) => {
        $setup.me
    };
    ($setup:ident, nodes) => {
        $setup.nodes()
    };
}
pub(crate) use from_setup;

/// Stands in the place of [`Algorithm::Message`] and [`Algorithm::new`] where `node!` made the type.
macro_rules! declared {
    ($Message:ty) => {
        type Message = $Message;

        fn new(setup: &$crate::Setup<'_>) -> Self {
            Self::at_start(setup)
        }
    };
}
pub(crate) use declared;
