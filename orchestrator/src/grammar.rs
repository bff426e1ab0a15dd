//! The pages about files name every key that the program takes, and no other.

use std::collections::BTreeSet;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor, value};
use serde::forward_to_deserialize_any;

use crate::claims::{ClaimKeys, FileKeys, PublishedKeys, TestKeys};
use crate::commands::explore::WorldSpec;
use crate::sweep::{Curve, Plot, PublishedLine, SweepKeys};

/// Takes the keys that a type asks for, and gives it nothing.
struct Asked<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, value::Error> {
        Err(value::Error::custom("not a table"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, value::Error> {
        self.0.extend(keys);
        Err(value::Error::custom("nothing to give"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn keys<T: DeserializeOwned>() -> BTreeSet<&'static str> {
    let mut keys = Vec::new();
    // It always fails: only what was asked for is wanted.
    let _ = T::deserialize(Asked(&mut keys));
    keys.into_iter().collect()
}

/// The keys in the first table below a heading.
fn documented<'a>(page: &'a str, heading: &str) -> BTreeSet<&'a str> {
    let (_, below) = page
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no '{heading}'"));
    let lines = below.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|'));
    let keys = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    keys.collect()
}

const SWEEPS: &str = include_str!("../../docs/sweeps.md");
const CLAIMS: &str = include_str!("../../docs/claims.md");

#[test]
fn every_key_of_sweep_and_claims_files_is_documented() {
    for (page, heading, keys) in [
        (SWEEPS, "### Keys at the top", keys::<SweepKeys>()),
        (SWEEPS, "### Keys of `[plot]`", keys::<Plot>()),
        (SWEEPS, "### Keys of `[[plot.curve]]`", keys::<Curve>()),
        (
            SWEEPS,
            "### Keys of `[[plot.published]]`",
            keys::<PublishedLine>(),
        ),
        (CLAIMS, "### Keys at the top", keys::<FileKeys>()),
        (CLAIMS, "### Keys of `[[claim]]`", keys::<ClaimKeys>()),
        (CLAIMS, "### Keys of `[[claim.test]]`", keys::<TestKeys>()),
        (CLAIMS, "### Keys of `explore`", keys::<WorldSpec>()),
        (CLAIMS, "### Keys of `published`", keys::<PublishedKeys>()),
    ] {
        assert!(keys.len() > 1, "{heading}");
        assert_eq!(documented(page, heading), keys, "{heading}");
    }
}
