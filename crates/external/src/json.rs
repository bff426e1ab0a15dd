//! Answers are read as the schema has them: an object is one in braces, and a number is a whole one.
//!
//! What serde derives is kinder: it would take a list for an object, the fields in their order, and then complain of
//! Rust's types where it does complain.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::protocol::Wish;

/// An object with the fields of `T`.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_map(InBraces(PhantomData))
}

struct InBraces<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InBraces<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// An object with the fields of `T`, or `null`.
pub(crate) fn maybe_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Object<T>(T);

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            object(deserializer).map(Object)
        }
    }

    let object: Option<Object<T>> = Option::deserialize(deserializer)?;
    Ok(object.map(|Object(object)| object))
}

/// A list of effects.
pub(crate) fn effects<'de: 'a, 'a, D>(deserializer: D) -> Result<Vec<Wish<'a>>, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_seq(Effects(PhantomData))
}

struct Effects<'a>(PhantomData<Wish<'a>>);

impl<'de: 'a, 'a> Visitor<'de> for Effects<'a> {
    type Value = Vec<Wish<'a>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of effects, such as [{\"enter\":{}}]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut effects = Vec::new();
        while let Some(OneEffect(effect)) = list.next_element()? {
            effects.push(effect);
        }
        Ok(effects)
    }
}

struct OneEffect<'a>(Wish<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for OneEffect<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneKey<'a>(PhantomData<Wish<'a>>);

        impl<'de: 'a, 'a> Visitor<'de> for OneKey<'a> {
            type Value = OneEffect<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an effect, such as {\"enter\":{}}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let effect = Wish::deserialize(MapAccessDeserializer::new(&mut fields))?;
                match fields.next_key::<IgnoredAny>()? {
                    None => Ok(OneEffect(effect)),
                    Some(_) => Err(A::Error::custom("one effect in each pair of braces")),
                }
            }
        }

        deserializer.deserialize_map(OneKey(PhantomData))
    }
}

/// A number without a fraction that is not negative; `3.0` is 3, as many languages write it.
struct Whole<T>(T);

impl<'de, T: TryFrom<u64>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<T>(PhantomData<T>);

        impl<T: TryFrom<u64>> Visitor<'_> for Number<T> {
            type Value = Whole<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                let whole = T::try_from(number).map(Whole);
                whole.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                match u64::try_from(number) {
                    Ok(number) => self.visit_u64(number),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
                }
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                /// From here on not every whole number can be told from its neighbours.
                const TOO_LARGE: f64 = 9_007_199_254_740_992.0;
                match number.fract() == 0.0 && (0.0..TOO_LARGE).contains(&number) {
                    true => self.visit_u64(number as u64),
                    false => Err(E::invalid_value(Unexpected::Float(number), &self)),
                }
            }
        }

        deserializer.deserialize_u64(Number(PhantomData))
    }
}

/// A whole number.
pub(crate) fn whole<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    Whole::deserialize(deserializer).map(|Whole(number)| number)
}

/// A whole number, or `null`.
pub(crate) fn maybe_whole<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let number: Option<Whole<T>> = Option::deserialize(deserializer)?;
    Ok(number.map(|Whole(number)| number))
}
