//! All words of the language: how they are used, and what they mean.

/// A word, how it is used, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// How it is used; `[…]` may be left out.
    pub form: &'static str,
    /// What it means, and where that differs from netem's meaning.
    pub meaning: &'static str,
    /// A whole fault with it.
    pub example: &'static str,
}

/// All words, sorted by what they are about.
pub const GLOSSARY: [Word; 33] = [
    // Links.
    Word {
        word: "loss",
        form: "loss P% [CORRELATION%]",
        meaning: "Each packet is lost with this probability.",
        example: "loss 5% on all",
    },
    Word {
        word: "loss gemodel",
        form: "loss gemodel P% [R% [1-H% [1-K%]]]",
        meaning: "Losses in bursts, as netem does (Gilbert and Elliott): after each packet a good \
                  link turns bad with probability P and a bad one good with R (100% - P unless \
                  said); a packet is lost with 1-H (100% unless said) on a bad link and 1-K (0% \
                  unless said) on a good one. A link begins good. Bursts last 1/R packets.",
        example: "loss gemodel 1% 10% 70% 0.1% on 0->1",
    },
    Word {
        word: "loss every",
        form: "loss every N",
        meaning: "Every N-th packet is lost, counted on each link from when the fault began. Not in \
                  netem.",
        example: "loss every 7 on all",
    },
    Word {
        word: "delay",
        form: "delay TIME [JITTER] [CORRELATION%] [distribution NAME] [fifo|free]",
        meaning: "Each packet arrives later. NAME is uniform (TIME - JITTER to TIME + JITTER; unless \
                  said), normal (cut off at 0), pareto (netem's shape, 3) or lognormal, all with mean \
                  TIME and standard deviation JITTER, or exponential with mean TIME and no JITTER. \
                  Packets overtake each other as in netem (free), or wait for those sent earlier \
                  (fifo). Delays of several faults add up.",
        example: "delay 75ms 10ms 25% distribution normal on all",
    },
    Word {
        word: "delay empirical",
        form: "delay empirical FILE:COLUMN [CORRELATION%] [fifo|free]",
        meaning: "Delays as they were measured: a column of a CSV file, whose name ends in its unit \
                  (_ns, _us, _ms, _s). Stands for netem's distribution files.",
        example: "delay empirical pings.csv:rtt_ms on all",
    },
    Word {
        word: "delay matrix",
        form: "delay matrix FILE [CORRELATION%] [fifo|free]",
        meaning: "For each pair of sites a delay of its own. The file is CSV: the first line is \
                  site,NAME,NAME,… and each further line a site and the delays from it. Members \
                  are dealt to the sites in turn.",
        example: "delay matrix wan.csv on all",
    },
    Word {
        word: "correlation",
        form: "… P% CORRELATION%",
        meaning: "How much a decision or delay depends on that of the packet before: the rank \
                  correlation of neighbours. Unlike netem's it leaves probability and distribution \
                  as they are.",
        example: "duplicate 1% 30% on all",
    },
    Word {
        word: "duplicate",
        form: "duplicate P% [CORRELATION%]",
        meaning: "A second copy arrives, delayed and damaged on its own account. A packet that is \
                  lost is not duplicated (in netem it then arrives once).",
        example: "duplicate 1% on all",
    },
    Word {
        word: "reorder",
        form: "reorder P% [CORRELATION%] [gap N]",
        meaning: "A packet is sent at once with this probability while the others are delayed, as in \
                  netem; so it needs a delay or a rate on the same link. After one that was, at \
                  least N - 1 are delayed (1 unless said). Lost packets count as delayed.",
        example: "reorder 25% 50% gap 5 on all",
    },
    Word {
        word: "corrupt",
        form: "corrupt P% [CORRELATION%] [bits N]",
        meaning: "A bit of the packet is flipped, or N different ones.",
        example: "corrupt 0.1% on all",
    },
    Word {
        word: "truncate",
        form: "truncate P% [CORRELATION%] [to BYTES]",
        meaning: "Only the beginning of the packet arrives, cut at random or to so many bytes. Not in \
                  netem.",
        example: "truncate 1% to 20 on all",
    },
    Word {
        word: "rate",
        form: "rate RATE [limit PACKETS]",
        meaning: "Packets leave one after the other, so many bits per second (bit, kbit, mbit, gbit; \
                  headers not counted). One that finds PACKETS (1000 unless said) waiting or being \
                  sent is lost. netem's limit counts delayed packets too.",
        example: "rate 1mbit limit 100 on 3->all",
    },
    Word {
        word: "preset",
        form: "preset lan|wifi|dsl|3g|starlink|grid",
        meaning: "Several faults that together are like a network everybody knows.",
        example: "preset 3g on all",
    },
    Word {
        word: "on",
        form: "FAULT on LINKS",
        meaning: "The links that are bad: all (unless said), 3->4 (one way), 3-4 (both), 0,1|2,3 \
                  (from group to group), several with 'and'. Members: 3, 0,2,5..9 (both ends \
                  included), all.",
        example: "loss 5% on 0,1->all and 3-4",
    },
    // Cuts.
    Word {
        word: "cut",
        form: "cut LINKS|edges|N random edges [drop|hold|deliver]",
        meaning: "What is sent meanwhile is lost. What is under way when the cut begins is lost \
                  (drop, unless said), arrives when the cut is over (hold), or arrives as if \
                  nothing were (deliver).",
        example: "at 2s cut 3-4 for 1s",
    },
    Word {
        word: "partition",
        form: "partition GROUPS|halves|one|majority|ring|bridge [drop|hold|deliver]",
        meaning: "All links from group to group are cut; who is in no group still reaches everybody. \
                  halves: the first half and the second. one: a random member and the others. \
                  majority: a random smallest majority and the others. ring: everyone sees a \
                  majority and no two the same. bridge: two halves, and one in the middle that \
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
    // Processes.
    Word {
        word: "kill",
        form: "kill WHO",
        meaning: "The process dies at once.",
        example: "when enter 3 kill 3",
    },
    Word {
        word: "pause",
        form: "pause WHO",
        meaning: "The process stops, and goes on when the fault is over.",
        example: "at 4s pause 2 for 1s",
    },
    Word {
        word: "resume",
        form: "resume WHO",
        meaning: "A paused process goes on.",
        example: "at 5s resume 2",
    },
    Word {
        word: "restart",
        form: "restart WHO after TIME",
        meaning: "The process dies at once and is started anew after that time.",
        example: "at 3s restart 5 after 500ms",
    },
    Word {
        word: "WHO",
        form: "NUMBER|holder|token|random",
        meaning: "holder: the one inside, the first that entered if several are, the next to enter if \
                  nobody is. token: the one that last reported having it. random: one of the living.",
        example: "at 2s kill random",
    },
    // Messages of the algorithm.
    Word {
        word: "lose message",
        form: "lose message KIND [from A] [to B] [origin C] [#N|#all]",
        meaning: "That message of the algorithm never arrives: this is above the transport, which \
                  would send a lost packet again. N counts such messages of each sender (1 unless \
                  said, or all of them); origin is whose request it is about.",
        example: "lose message REPLY #1",
    },
    Word {
        word: "delay message",
        form: "delay message KIND [from A] [to B] [origin C] [#N|#all] by TIME|xT",
        meaning: "It arrives so much later; T is the bound on delays that the members are told.",
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
    // Times.
    Word {
        word: "at",
        form: "at TIME",
        meaning: "It begins then, counted from the start of the run; at 0s unless said.",
        example: "at 0s cut 4 random edges",
    },
    Word {
        word: "every",
        form: "[at FIRST] every TIME",
        meaning: "It begins again and again; for the first time after TIME unless said.",
        example: "every 2s for 100ms loss 30% on all",
    },
    Word {
        word: "for",
        form: "for TIME",
        meaning: "It lasts so long, each time; to the end of the run unless said.",
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
        meaning: "It begins, once, when that happens (for the N-th time), before the member goes on.",
        example: "when message TOKEN from 2 #5 kill 2",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultSpec;

    #[test]
    fn every_example_can_be_read_and_contains_its_word() {
        for word in GLOSSARY {
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
