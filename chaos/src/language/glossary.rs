//! All words of the language: how they are used, and what they mean.

use crate::fault::WRITTEN;
use crate::preset;
use crate::process_fault;

/// A word, how it is used, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word of the fault language.
    pub word: &'static str,
    /// How it is used; `[…]` may be left out.
    pub form: &'static str,
    /// What it means, and where that differs from netem's meaning.
    pub meaning: &'static str,
    /// A whole fault with it.
    pub example: &'static str,
}

impl Word {
    /// A word that begins its own form: all before the first placeholder, which is not in small
    /// letters.
    pub(crate) const fn new(
        form: &'static str,
        example: &'static str,
        meaning: &'static str,
    ) -> Self {
        let bytes = form.as_bytes();
        let mut end = 0;
        while bytes[end].is_ascii_lowercase() || bytes[end] == b' ' {
            end += 1;
        }
        let (word, _) = form.split_at(end - 1);
        Self {
            word,
            form,
            meaning,
            example,
        }
    }

    /// The first of its words: `loss` of `loss every`.
    pub(crate) const fn first(&self) -> &'static str {
        let bytes = self.word.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b' ' {
            end += 1;
        }
        self.word.split_at(end).0
    }
}

/// All words, sorted by what they are about: links, cuts, processes, messages, times.
pub fn words() -> impl Iterator<Item = Word> {
    let links = WRITTEN.iter().flat_map(|(forms, also)| {
        let forms = forms.iter().map(|form| form.word);
        forms.chain(also.iter().copied())
    });
    let processes = process_fault::WORDS.iter().copied();
    let links = links.chain([preset::FORM.word]).chain(LINKS);
    links.chain(processes).chain(OTHERS)
}

/// What is written about links and cuts besides the faults of the model.
const LINKS: [Word; 6] = [
    Word {
        word: "on",
        form: "FAULT on LINKS",
        meaning: "The links that are bad: all (by default), 3->4 (one way), 3-4 (both), 0,1|2,3 \
                  (from group to group), several with 'and'. Members: 3, 0,2,5..9 (both ends \
                  included), all.",
        example: "loss 5% on 0,1->all and 3-4",
    },
    // How links are cut.
    Word {
        word: "cut",
        form: "cut LINKS|edges|N random edges [drop|hold|deliver]",
        meaning: "What is sent meanwhile is lost. What is under way when the cut begins is lost \
                  (drop, the default), arrives when the cut is over (hold), or arrives as if \
                  nothing had happened (deliver).",
        example: "at 2s cut 3-4 for 1s",
    },
    Word {
        word: "partition",
        form: "partition GROUPS|halves|one|majority|ring|bridge [drop|hold|deliver]",
        meaning: "All links from group to group are cut; a member in no group still reaches \
                  everybody. halves: the first half and the second. one: a random member and the \
                  others. majority: a random smallest majority and the others. ring: everyone sees \
                  a majority and no two the same. bridge: two halves, and one in the middle that \
                  sees both.",
        example: "at 1s partition 0,1|2,3,4 until 3s",
    },
    Word {
        word: "isolate",
        form: "isolate WHO [drop|hold|deliver]",
        meaning: "All links of one member are cut.",
        example: "at 1s isolate holder for 500ms",
    },
    Word {
        word: "heal",
        form: "heal [LINKS]",
        meaning: "Every cut, partition and outage that is in force ends, on all or on these links.",
        example: "at 3s heal",
    },
    Word {
        word: "churn",
        form: "churn LINKS|edges|N random edges fail TIME repair TIME [drop|hold|deliver]",
        meaning: "Edges fail and are repaired again and again, each on its own, both directions \
                  together; the times are exponential with these means, which make at least 1ms \
                  together.",
        example: "churn edges fail 5s repair 1s",
    },
];

/// What is written about members, messages of the algorithm, and times.
const OTHERS: [Word; 11] = [
    Word {
        word: "WHO",
        form: "NUMBER|holder|token|random",
        meaning: "holder: the one inside, the first that entered if several are, the next to enter \
                  if nobody is. token: the one that last reported having it. random: one of the \
                  living.",
        example: "at 2s kill random",
    },
    Word {
        word: "host",
        form: "kill|pause|resume|restart|isolate host HOST or partition hosts HOSTS|HOSTS",
        meaning: "It happens to every member of that host, by the name that --hosts gives it; several \
                  hosts are separated by commas. isolate: all links to other hosts are cut.",
        example: "at 1s kill host h2",
    },
    // Messages of the algorithm.
    Word {
        word: "lose message",
        form: "lose message KIND [from A] [to B] [origin C] [#N|#all]",
        meaning: "That message of the algorithm never arrives: this is above the transport, which \
                  would send a lost packet again. N counts such messages of each sender (by \
                  default 1; all of them with #all); origin is whose request it is about.",
        example: "lose message REPLY #1",
    },
    Word {
        word: "delay message",
        form: "delay message KIND [from A] [to B] [origin C] [#N|#all] by TIME|xT",
        meaning: "It arrives that much later; T is the bound on delays that the members are told.",
        example: "delay message REQ origin 3 by 4T",
    },
    Word {
        word: "duplicate message",
        form: "duplicate message KIND [from A] [to B] [origin C] [#N|#all]",
        meaning: "It arrives twice.",
        example: "duplicate message TOKEN from 2 #5",
    },
    Word {
        word: "hide",
        form: "hide down A from B",
        meaning: "B is never told that A is down.",
        example: "hide down 2 from 4",
    },
    // When faults happen.
    Word {
        word: "at",
        form: "at TIME",
        meaning: "It begins then, counted from the start of the run; by default at 0s.",
        example: "at 0s cut 4 random edges",
    },
    Word {
        word: "every",
        form: "[at FIRST] every TIME",
        meaning: "It begins again and again; by default for the first time after TIME.",
        example: "every 2s for 100ms loss 30% on all",
    },
    Word {
        word: "for",
        form: "for TIME",
        meaning: "It lasts this long, each time; by default to the end of the run.",
        example: "at 4s pause 2 for 1s",
    },
    Word {
        word: "until",
        form: "until TIME",
        meaning: "It is over then; with every, it does not begin again.",
        example: "every 2s for 100ms loss 30% until 10s",
    },
    Word {
        word: "when",
        form: "when enter|exit|request MEMBER [#N] or when message KIND [from A] [to B] [origin C] [#N]",
        meaning: "It begins, once, when that happens (for the N-th time), before the member goes \
                  on.",
        example: "when message TOKEN from 2 #5 kill 2",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultSpec;

    #[test]
    fn every_example_can_be_read_and_contains_its_word() {
        for word in words() {
            let spec: FaultSpec = word.example.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(spec.to_string().parse::<FaultSpec>(), Ok(spec));
            let special = ["WHO", "correlation"].contains(&word.word);
            assert!(
                special || word.example.contains(word.word),
                "{}",
                word.example
            );
        }
    }
}
