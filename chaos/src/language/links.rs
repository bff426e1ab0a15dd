//! Faults on links, in netem's words.

use std::num::{NonZeroU32, NonZeroU64};

use super::cursor::{Cursor, Token};
use super::error::FaultError;
use super::spec::{DelayLaw, LinkFault};
use crate::chance::Chance;
use crate::fault::corrupt::MOST_BITS;
use crate::fault::rate::{DEFAULT_LIMIT, RATE_UNITS};
use crate::fault::{
    AnyFault, Burst, Corrupt, Duplicate, EveryNth, Late, Law, Loss, PacketOrder, Rate, Reorder,
    Truncate,
};
use crate::percent::Percent;
use crate::preset;
use crate::sample::Source;

impl Cursor<'_> {
    /// A fault on links, after its word; nothing if there is none of that word.
    pub fn link_fault(&mut self, word: &str) -> Result<Option<LinkFault>, FaultError> {
        let fault = match word {
            "delay" => return self.late().map(Some),
            "preset" => return self.preset().map(Some),
            "loss" => self.loss()?,
            "duplicate" => AnyFault::Duplicate(Duplicate {
                chance: self.chance()?,
            }),
            "truncate" => AnyFault::Truncate(Truncate {
                chance: self.chance()?,
                to: self.truncate_to()?,
            }),
            "corrupt" => AnyFault::Corrupt(Corrupt {
                chance: self.chance()?,
                bits: self.corrupt_bits()?,
            }),
            "rate" => AnyFault::Rate(self.rate()?),
            "reorder" => AnyFault::Reorder(Reorder {
                chance: self.chance()?,
                gap: self.count_after("gap", "the gap", NonZeroU32::MIN)?,
            }),
            _ => return Ok(None),
        };
        Ok(Some(LinkFault::Model(fault)))
    }

    fn chance(&mut self) -> Result<Chance, FaultError> {
        Ok(Chance {
            percent: self.percent()?,
            correlation: self.maybe_percent()?.unwrap_or(Percent::ZERO),
        })
    }

    fn loss(&mut self) -> Result<AnyFault, FaultError> {
        if self.takes("gemodel") {
            let worsens = self.percent()?;
            return Ok(AnyFault::Burst(Burst {
                worsens,
                recovers: self.maybe_percent()?.unwrap_or(worsens.rest()),
                bad_loss: self.maybe_percent()?.unwrap_or(Percent::ALL),
                good_loss: self.maybe_percent()?.unwrap_or(Percent::ZERO),
            }));
        }
        if self.takes("every") {
            let nth = NonZeroU64::from(self.count("every how-manieth packet is lost")?);
            return Ok(AnyFault::EveryNth(EveryNth { nth }));
        }
        self.takes("random");
        let Token::Number(..) = self.peek() else {
            let right = "write a share such as 5%, gemodel and its shares, or every and a number";
            return Err(self.unfit(right));
        };
        Ok(AnyFault::Loss(Loss {
            chance: self.chance()?,
        }))
    }

    fn late(&mut self) -> Result<LinkFault, FaultError> {
        let from_a_file = if self.takes("empirical") {
            Some(DelayLaw::Empirical(self.source()?))
        } else if self.takes("matrix") {
            let file = self.path("write the name of the file with the delays, such as wan.csv")?;
            Some(DelayLaw::Matrix(file.to_owned()))
        } else {
            None
        };
        if let Some(law) = from_a_file {
            return Ok(LinkFault::Delay {
                law,
                correlation: self.maybe_percent()?.unwrap_or(Percent::ZERO),
                order: self.order(),
            });
        }
        let (delay, correlation) = self.delay()?;
        Ok(LinkFault::Model(AnyFault::Late(Late {
            law: Law::Formula(delay),
            correlation,
            order: self.order(),
        })))
    }

    fn source(&mut self) -> Result<Source, FaultError> {
        const RIGHT: &str = "write FILE:COLUMN, such as pings.csv:rtt_ms";
        let place = self.place();
        let path = self.path(RIGHT)?;
        match path.rsplit_once(':') {
            Some((file, column)) if !file.is_empty() && !column.is_empty() => Ok(Source {
                file: file.to_owned(),
                column: column.to_owned(),
            }),
            _ => {
                let place = self.since(place.start);
                Err(self.error(place, format!("'{path}' names no column"), RIGHT))
            }
        }
    }

    fn order(&mut self) -> PacketOrder {
        if self.takes("fifo") {
            PacketOrder::Fifo
        } else {
            self.takes("free");
            PacketOrder::Free
        }
    }

    fn rate(&mut self) -> Result<Rate, FaultError> {
        const RIGHT: &str =
            "write a rate above 0 in bit, kbit, mbit or gbit per second, such as 1mbit";
        let start = self.place();
        let rate = self.amount(&RATE_UNITS, RIGHT)?;
        let Some(bits_per_second) = NonZeroU64::new(rate) else {
            return Err(self.error(start, "nothing would ever pass", RIGHT));
        };
        let limit = self.count_after("limit", "how many packets may wait", DEFAULT_LIMIT)?;
        Ok(Rate {
            bits_per_second,
            limit,
        })
    }

    fn truncate_to(&mut self) -> Result<Option<u32>, FaultError> {
        if !self.takes("to") {
            return Ok(None);
        }
        let bytes = match self.peek() {
            Token::Number(number, "") => number.parse().ok(),
            _ => None,
        };
        let bytes: u32 = bytes.ok_or_else(|| self.unfit("write how many bytes are left"))?;
        self.take();
        Ok(Some(bytes))
    }

    fn corrupt_bits(&mut self) -> Result<u32, FaultError> {
        let before = self.clone();
        let bits = self
            .count_after("bits", "how many bits are flipped", NonZeroU32::MIN)?
            .get();
        if bits > MOST_BITS {
            let place = before.place().start..self.since(0).end;
            let wrong = format!("{bits} bits are too many");
            return Err(self.error(place, wrong, format!("write at most {MOST_BITS}")));
        }
        Ok(bits)
    }

    fn count_after(
        &mut self,
        word: &str,
        what: &str,
        default: NonZeroU32,
    ) -> Result<NonZeroU32, FaultError> {
        if self.takes(word) {
            self.count(what)
        } else {
            Ok(default)
        }
    }

    fn preset(&mut self) -> Result<LinkFault, FaultError> {
        let place = self.place();
        match preset::find(&self.text[place]) {
            Some(preset) => {
                self.take();
                Ok(LinkFault::Preset(preset.name.to_owned()))
            }
            None => {
                let names = preset::PRESETS.map(|preset| preset.name);
                Err(self.unfit(format!("write one of {}", names.join(", "))))
            }
        }
    }
}
