//! What can be written, what it means, and what is said about what cannot.

use std::num::{NonZeroU32, NonZeroU64};

use chaos::chance::Chance;
use chaos::churn::{Churn, SHORTEST_CYCLE_NS};
use chaos::fault::{
    Burst, Corrupt, Duplicate, EveryNth, InFlight, Late, Law, Loss, PacketOrder, Rate, Reorder,
    Truncate,
};
use chaos::language::{
    Action, By, Choice, DelayLaw, LinkFault, MessageFault, PartitionGroups, Schedule, Scope,
    Selector, Start, Trigger, Who,
};
use chaos::partition::NAMED;
use chaos::process_fault::{AnyProcessFault, Kill, Pause, Restart, Resume};
use chaos::reach::{Members, Pair};
use chaos::sample::Source;
use chaos::{AnyFault, Delay, FaultSpec, Percent, Reach};
use proptest::prelude::*;

/// The examples of the design and of netem's manual.
const GOOD: &[&str] = &[
    "at 2s cut 3-4 for 1s",
    "at 0s cut 4 random edges",
    "at 1s partition 0,1|2,3,4 until 3s",
    "at 1s partition halves until 3s",
    "at 1s partition ring",
    "at 1s isolate holder for 500ms",
    "when enter 3 kill 3",
    "at 4s pause 2 for 1s",
    "every 2s for 100ms loss 30% on all",
    "at 3s restart 5 after 500ms",
    "churn edges fail 5s repair 1s",
    "lose message REPLY #1",
    "delay message REQ origin 3 by 40ms",
    "delay message REQ origin 3 by 4T",
    "delay message REQ origin 3 #all by 3T",
    "duplicate message REL-ACK from 1 to 2",
    "hide down 2 from 4",
    "when exit 3 heal",
    "when request 2 isolate random hold for 1s",
    "when message TOKEN from 2 #5 kill token",
    "delay 75ms 10ms 25% distribution normal",
    "loss 1%",
    "loss random 1% 25%",
    "loss gemodel 1% 10% 70% 0.1%",
    "duplicate 1%",
    "reorder 25% 50% gap 5",
    "corrupt 0.1%",
    "truncate 5% to 20",
    "rate 1mbit limit 100",
    "delay 5ms distribution exponential fifo on 3->4",
    "delay empirical \"my pings.csv:rtt_ms\" 10%",
    "delay matrix grid",
    "preset 3g on 0..4|5..9",
    "cut 3->4 and 5-6",
    "cut 3->all hold",
    "resume 2",
    "at 3s heal 3-4",
];

#[test]
fn the_examples_can_be_read() {
    let shown = GOOD.iter().map(|text| {
        let spec: FaultSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
        format!("{text}\n  = {spec}\n")
    });
    insta::assert_snapshot!(shown.collect::<String>());
}

/// Each with what is wrong about it; read in a group of five without a token whose messages are REQ
/// and REPLY.
const BAD: &[&str] = &[
    "",
    "at 2s",
    "at 2 cut 3-4",
    "at 2 s cut 3-4",
    "at soon cut 3-4",
    "losss 5%",
    "loss",
    "loss 5",
    "loss 150%",
    "loss gemodel",
    "loss every 0",
    "loss 5% on",
    "loss 5% on 3",
    "loss 5% on 3~4",
    "loss 5% on 3-3",
    "loss 5% on 3-9",
    "loss 5% on 4..2-1",
    "loss 5% on all on 3-4",
    "cut 3-4 on all",
    "cut",
    "cut 4 random",
    "cut 11 random edges",
    "delay",
    "delay 10ms 25%",
    "delay 10ms 20ms",
    "delay 10ms 20ms distribution gaussian",
    "delay 10ms distribution normal",
    "delay 10ms 1ms distribution exponential",
    "delay 999999999h",
    "delay empirical pings.csv",
    "delay matrix",
    "delay matrix \"wan.csv",
    "rate 1mbps",
    "rate 0kbit",
    "rate 1mbit limit 0",
    "reorder 25% gap",
    "corrupt 1% bits 1000",
    "truncate 1% to half",
    "preset 9g",
    "partition",
    "partition quarters",
    "partition 3-4",
    "partition 0,1|1,2",
    "isolate",
    "isolate everybody",
    "isolate token",
    "churn edges",
    "churn edges fail 5s",
    "churn edges fail 0s repair 1s",
    "churn all fail 1ns repair 1ns",
    "churn edges fail 500us repair 499us",
    "every 5s churn edges fail 5s repair 1s",
    "kill",
    "kill 7",
    "kill 3 for 1s",
    "heal until 3s",
    "restart 3",
    "pause 2 for 0s",
    "every 2s loss 5%",
    "every 2s for 3s loss 5%",
    "at 1s at 2s loss 5%",
    "at 3s loss 5% until 2s",
    "at 1s loss 5% for 1s until 5s",
    "when loss 5%",
    "when enter holder kill 3",
    "when enter 3 at 2s kill 3",
    "when message TOKEN kill 3",
    "when message REQ #0 kill 3",
    "lose REPLY",
    "lose message REPLY from 1 from 2",
    "at 2s lose message REPLY",
    "delay message REQ",
    "delay message REQ by 0T",
    "hide 2 from 4",
    "hide down 2 from 2",
    "kill 3 please",
    "at 2s cut 3-4 für 1s",
];

#[test]
fn what_cannot_be_read_is_pointed_at() {
    let scope = Scope {
        nodes: Some(5),
        names: &[],
        kinds: Some(&["REQ", "REPLY"]),
        edges: Some(10),
        token: Some(false),
        links_only: false,
    };
    let shown = BAD.iter().map(|text| match FaultSpec::parse(text, &scope) {
        Ok(spec) => panic!("'{text}' was read as '{spec}'"),
        Err(error) => format!("{error}\n\n"),
    });
    insta::assert_snapshot!(shown.collect::<String>());
}

/// A scope of as many members as there are names.
fn named(names: &[String]) -> Scope<'_> {
    Scope {
        nodes: Some(names.len() as u32),
        names,
        ..Scope::default()
    }
}

#[test]
fn members_may_have_names() {
    let names = ["alice".to_owned(), "bob".to_owned()];
    let scope = named(&names);
    let read = |text| FaultSpec::parse(text, &scope).map(|spec| spec.to_string());
    assert_eq!(read("loss 5% on alice->bob").unwrap(), "loss 5% on 0->1");
    assert_eq!(read("partition alice|bob").unwrap(), "partition 0|1");
    assert_eq!(read("isolate bob").unwrap(), "isolate 1");
    assert_eq!(read("heal alice-bob").unwrap(), "heal 0-1");
    assert!(read("isolate carol").is_err());
}

/// What a proxy that stands alone is asked for, and what it says of it.
#[test]
fn a_proxy_refuses_by_name_what_needs_an_orchestrator() {
    let names = ["alice".to_owned(), "bob".to_owned()];
    let scope = Scope {
        links_only: true,
        ..named(&names)
    };
    let shown = [
        "kill alice",
        "at 2s pause bob for 1s",
        "resume 0",
        "restart bob after 1s",
        "lose message X",
        "hide down 0 from 1",
        "delay message X by 1s",
        "duplicate message X",
        "isolate holder",
        "isolate token",
        "isolate carol",
        "when enter 1 cut alice-bob",
        "loss 5% on alice->carol",
        "partition carol|bob",
        "losss 5%",
    ];
    let shown = shown.map(|text| match FaultSpec::parse(text, &scope) {
        Ok(spec) => panic!("'{text}' was read as '{spec}'"),
        Err(error) => format!("{error}\n\n"),
    });
    insta::assert_snapshot!(shown.concat());
    for text in ["delay 5ms on alice->bob", "duplicate 5%", "isolate random"] {
        assert!(FaultSpec::parse(text, &scope).is_ok(), "{text}");
    }
}

#[test]
fn a_file_may_say_it_as_a_text_or_in_parts() {
    #[derive(serde::Deserialize)]
    struct File {
        faults: Vec<FaultSpec>,
    }
    let file: File = toml::from_str(
        r#"faults = [
            "at 2s cut 3-4 for 1s",
            { at = "2s", for = "1s", fault = "cut 3-4" },
            { when = "enter 3", fault = "kill 3" },
        ]"#,
    )
    .unwrap();
    assert_eq!(file.faults[0], file.faults[1]);
    assert_eq!(file.faults[2].to_string(), "when enter 3 kill 3");
    let wrong = toml::from_str::<File>(r#"faults = [{ at = "2s", fautl = "cut 3-4" }]"#);
    let wrong = wrong.err().unwrap().to_string();
    assert!(wrong.contains("a table with fault and at"), "{wrong}");
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same(spec in specs()) {
        let text = spec.to_string();
        let back: FaultSpec = text.parse().map_err(|error| TestCaseError::fail(format!("{error}")))?;
        prop_assert_eq!(&back, &spec, "{}", text);
        let json = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<FaultSpec>(&json).unwrap(), spec);
    }

    #[test]
    fn a_check_says_what_reading_for_that_group_would_say(
        spec in specs(),
        nodes in prop::option::of(prop::sample::select(vec![0, 1, 2, 7, u32::MAX / 2])),
        edges in prop::option::of(0..100_u64),
        token in any::<Option<bool>>(),
        names_kinds in any::<bool>(),
        links_only in any::<bool>(),
    ) {
        let kinds = names_kinds.then_some(&["TOKEN"][..]);
        let scope = Scope { nodes, names: &[], kinds, edges, token, links_only };
        let read = FaultSpec::parse(&spec.to_string(), &scope).map(drop);
        prop_assert_eq!(spec.check(&scope), read);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        let _ = text.parse::<FaultSpec>();
    }

    #[test]
    fn no_heap_of_words_makes_the_reader_panic(
        words in prop::collection::vec(prop::sample::select(WORDS_AND_SIGNS), 0..12),
        nodes in prop::option::of(0..6_u32),
    ) {
        let scope = Scope { nodes, ..Scope::default() };
        if let Err(error) = FaultSpec::parse(&words.join(" "), &scope) {
            prop_assert!(error.place.end <= error.text.len());
            prop_assert_eq!(error.to_string().lines().count(), 4);
        }
    }
}

const WORDS_AND_SIGNS: &[&str] = &[
    "at",
    "every",
    "for",
    "until",
    "when",
    "on",
    "2s",
    "10ms",
    "5%",
    "3",
    "4",
    "0",
    "1mbit",
    "4T",
    "-",
    "->",
    "|",
    ",",
    "..",
    "#",
    "all",
    "loss",
    "gemodel",
    "delay",
    "distribution",
    "normal",
    "pareto",
    "fifo",
    "matrix",
    "empirical",
    "x.csv:a_ms",
    "\"",
    "duplicate",
    "reorder",
    "gap",
    "corrupt",
    "bits",
    "truncate",
    "to",
    "rate",
    "limit",
    "preset",
    "3g",
    "cut",
    "random",
    "edges",
    "partition",
    "halves",
    "ring",
    "isolate",
    "holder",
    "token",
    "heal",
    "churn",
    "fail",
    "repair",
    "kill",
    "pause",
    "resume",
    "restart",
    "after",
    "lose",
    "message",
    "REQ",
    "from",
    "origin",
    "by",
    "hide",
    "down",
    "hold",
    "and",
    "enter",
    "exit",
    "request",
    "µ",
    "~",
];

fn specs() -> impl Strategy<Value = FaultSpec> {
    actions().prop_flat_map(|action| {
        let schedule = match (action.is_timeless(), action.lasts(), &action) {
            (true, ..) => Just(timeless()).boxed(),
            (false, true, Action::Churn { .. }) => prop_oneof![at(), lasting_when()].boxed(),
            (false, true, _) => prop_oneof![at(), lasting_when(), pulse()].boxed(),
            (false, false, _) => prop_oneof![instant(), instant_when()].boxed(),
        };
        (schedule, Just(action)).prop_map(|(schedule, action)| FaultSpec { schedule, action })
    })
}

fn timeless() -> Schedule {
    Schedule {
        start: Start::At(0),
        for_ns: None,
        until_ns: None,
    }
}

/// No fault that somebody has to carry out comes more often.
const LEAST_PERIOD_NS: u64 = 1_000_000;

fn times() -> impl Strategy<Value = u64> {
    prop_oneof![1..1_000_000_u64, 1..10_u64.pow(16)]
}

fn at() -> BoxedStrategy<Schedule> {
    (times(), prop::option::of(times()), any::<bool>())
        .prop_map(|(at_ns, length, as_length)| Schedule {
            start: Start::At(at_ns),
            for_ns: length.filter(|_| as_length),
            until_ns: length.filter(|_| !as_length).map(|length| at_ns + length),
        })
        .boxed()
}

fn lasting_when() -> BoxedStrategy<Schedule> {
    (events(), prop::option::of(times()), any::<bool>())
        .prop_map(|(event, length, as_length)| Schedule {
            start: Start::When(event),
            for_ns: length.filter(|_| as_length),
            until_ns: length.filter(|_| !as_length),
        })
        .boxed()
}

fn pulse() -> BoxedStrategy<Schedule> {
    (
        times(),
        times(),
        times(),
        prop::option::of(times()),
        any::<bool>(),
    )
        .prop_map(|(first_ns, length, pause, over, usual)| {
            let period_ns = length + pause + LEAST_PERIOD_NS;
            let first_ns = if usual { period_ns } else { first_ns };
            Schedule {
                start: Start::Every {
                    first_ns,
                    period_ns,
                },
                for_ns: Some(length),
                until_ns: over.map(|over| first_ns + over),
            }
        })
        .boxed()
}

fn instant() -> BoxedStrategy<Schedule> {
    (
        times(),
        prop::option::of((times(), prop::option::of(times()))),
    )
        .prop_map(|(first_ns, again)| match again {
            None => Schedule {
                start: Start::At(first_ns),
                ..timeless()
            },
            Some((pause, over)) => Schedule {
                start: Start::Every {
                    first_ns,
                    period_ns: pause + LEAST_PERIOD_NS,
                },
                for_ns: None,
                until_ns: over.map(|over| first_ns + over),
            },
        })
        .boxed()
}

fn instant_when() -> BoxedStrategy<Schedule> {
    let when = |event| Schedule {
        start: Start::When(event),
        ..timeless()
    };
    events().prop_map(when).boxed()
}

fn counts() -> impl Strategy<Value = NonZeroU32> {
    (1..u32::MAX).prop_map(|count| NonZeroU32::new(count).expect("not 0"))
}

fn percents() -> impl Strategy<Value = Percent> {
    prop_oneof![(0..=100_u32).prop_map(f64::from), 0.0..=100.0]
        .prop_map(|p| Percent::new(p).expect("a share"))
}

fn chances() -> impl Strategy<Value = Chance> {
    (percents(), percents()).prop_map(|(percent, correlation)| Chance {
        percent,
        correlation,
    })
}

fn selectors() -> impl Strategy<Value = Selector> {
    let who = || prop::option::of(any::<u32>());
    (
        "[A-Za-z_][A-Za-z0-9_]{0,8}(-[A-Za-z_][a-z0-9]{0,4}){0,2}",
        who(),
        who(),
        who(),
        counts(),
    )
        .prop_map(|(kind, from, to, origin, nth)| Selector {
            kind,
            from,
            to,
            origin,
            nth,
            all: false,
        })
}

fn events() -> impl Strategy<Value = Trigger> {
    prop_oneof![
        (any::<u32>(), counts()).prop_map(|(who, nth)| Trigger::Enter(who, nth)),
        (any::<u32>(), counts()).prop_map(|(who, nth)| Trigger::Exit(who, nth)),
        (any::<u32>(), counts()).prop_map(|(who, nth)| Trigger::Request(who, nth)),
        selectors().prop_map(Trigger::Message),
    ]
}

fn whos() -> impl Strategy<Value = Who> {
    prop_oneof![
        any::<u32>().prop_map(Who::Member),
        Just(Who::Holder),
        Just(Who::Token),
        Just(Who::Random),
    ]
}

fn in_flights() -> impl Strategy<Value = InFlight> {
    prop::sample::select(vec![InFlight::Drop, InFlight::Hold, InFlight::Deliver])
}

fn members() -> impl Strategy<Value = Members> {
    prop_oneof![
        Just(Members::All),
        prop::collection::vec((0..50_u32, 0..5_u32), 1..4).prop_map(|runs| {
            Members::runs(
                runs.into_iter()
                    .map(|(first, more)| (first, first + more))
                    .collect(),
            )
        }),
    ]
}

fn pairs() -> impl Strategy<Value = Pair> {
    let one = |members: &Members| matches!(members, Members::Listed(runs) if matches!(runs[..], [(a, b)] if a == b));
    (members(), members(), any::<bool>())
        .prop_filter("nobody has a link to itself", move |(a, b, _)| {
            !(one(a) && a == b)
        })
        .prop_map(|(from, to, both)| Pair { from, to, both })
}

fn groups() -> impl Strategy<Value = Reach> {
    prop::collection::vec(0..5_u32, 2..20)
        .prop_filter("at least two groups", |of| {
            of.iter().any(|group| *group != of[0])
        })
        .prop_map(|of| {
            let group = |wanted: u32| {
                let ours = of
                    .iter()
                    .enumerate()
                    .filter(move |(_, group)| **group == wanted);
                ours.map(|(member, _)| member as u32).collect::<Vec<_>>()
            };
            let groups = (0..5).map(group).filter(|group| !group.is_empty());
            Reach::Across(groups.map(Members::these).collect())
        })
}

fn reaches() -> impl Strategy<Value = Reach> {
    prop_oneof![
        Just(Reach::All),
        prop::collection::vec(pairs(), 1..3).prop_map(Reach::Between),
        groups(),
    ]
}

fn choices() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Edges),
        (1..100_u32).prop_map(Choice::Random),
        reaches().prop_map(Choice::Links),
    ]
}

fn delays() -> impl Strategy<Value = Delay> {
    let pair = || (times(), times()).prop_map(|(a, b)| (a.max(b), a.min(b)));
    prop_oneof![
        (0..10_u64.pow(16)).prop_map(|ns| Delay::Constant { ns }),
        pair().prop_map(|(mean_ns, jitter_ns)| Delay::Uniform { mean_ns, jitter_ns }),
        pair().prop_map(|(mean_ns, jitter_ns)| Delay::Normal { mean_ns, jitter_ns }),
        pair().prop_map(|(mean_ns, jitter_ns)| Delay::Pareto { mean_ns, jitter_ns }),
        pair().prop_map(|(mean_ns, jitter_ns)| Delay::Lognormal { mean_ns, jitter_ns }),
        times().prop_map(|mean_ns| Delay::Exponential { mean_ns }),
    ]
}

fn orders() -> impl Strategy<Value = PacketOrder> {
    prop::sample::select(vec![PacketOrder::Free, PacketOrder::Fifo])
}

fn link_faults() -> impl Strategy<Value = LinkFault> {
    let laws = prop_oneof![
        "[a-z/ .]{1,9}x:[a-z]{1,5}_ms".prop_map(|text| {
            let (file, column) = text.rsplit_once(':').expect("a colon");
            DelayLaw::Empirical(Source {
                file: file.to_owned(),
                column: column.to_owned(),
            })
        }),
        "x[a-z/ .0-9]{0,9}".prop_map(DelayLaw::Matrix),
    ];
    let model = prop_oneof![
        chances().prop_map(|chance| AnyFault::Loss(Loss { chance })),
        (percents(), percents(), percents(), percents()).prop_map(|(p, r, h, k)| {
            AnyFault::Burst(Burst {
                worsens: p,
                recovers: r,
                bad_loss: h,
                good_loss: k,
            })
        }),
        counts().prop_map(|nth| AnyFault::EveryNth(EveryNth {
            nth: NonZeroU64::from(nth)
        })),
        chances().prop_map(|chance| AnyFault::Duplicate(Duplicate { chance })),
        (chances(), prop::option::of(any::<u32>()))
            .prop_map(|(chance, to)| AnyFault::Truncate(Truncate { chance, to })),
        (chances(), 1..65_u32)
            .prop_map(|(chance, bits)| AnyFault::Corrupt(Corrupt { chance, bits })),
        (1..u64::MAX, counts()).prop_map(|(rate, limit)| AnyFault::Rate(Rate {
            bits_per_second: NonZeroU64::new(rate).expect("not 0"),
            limit,
        })),
        (chances(), counts()).prop_map(|(chance, gap)| AnyFault::Reorder(Reorder { chance, gap })),
        (delays(), percents(), orders()).prop_map(|(delay, correlation, order)| {
            let constant = delay.constant_ns().is_some();
            AnyFault::Late(Late {
                law: Law::Formula(delay),
                correlation: if constant { Percent::ZERO } else { correlation },
                order,
            })
        }),
    ];
    prop_oneof![
        8 => model.prop_map(LinkFault::Model),
        1 => (laws, percents(), orders()).prop_map(|(law, correlation, order)| LinkFault::Delay {
            law,
            correlation,
            order,
        }),
        1 => prop::sample::select(&chaos::preset::PRESETS[..])
            .prop_map(|preset| LinkFault::Preset(preset.name.to_owned())),
    ]
}

fn process_faults() -> impl Strategy<Value = AnyProcessFault> {
    prop_oneof![
        Just(Kill.into()),
        Just(Pause.into()),
        Just(Resume.into()),
        (0..10_u64.pow(16)).prop_map(|after_ns| Restart { after_ns }.into()),
    ]
}

fn message_faults() -> impl Strategy<Value = MessageFault> {
    let by = prop_oneof![times().prop_map(By::Ns), (0.001..1e6).prop_map(By::Bounds)];
    prop_oneof![
        selectors().prop_map(MessageFault::Lose),
        (selectors(), by).prop_map(|(selector, by)| MessageFault::Delay(selector, by)),
        selectors().prop_map(MessageFault::Duplicate),
        (any::<u32>(), any::<u32>())
            .prop_filter("somebody else", |(of, from)| of != from)
            .prop_map(|(of, from)| MessageFault::HideDown { of, from }),
    ]
}

fn actions() -> impl Strategy<Value = Action> {
    let partings = prop_oneof![
        prop::sample::select(NAMED.map(|(_, named)| named).to_vec())
            .prop_map(PartitionGroups::Named),
        groups().prop_map(PartitionGroups::Groups),
    ];
    let churns = (times(), times())
        .prop_map(|(fail_ns, repair_ns)| Churn { fail_ns, repair_ns })
        .prop_filter("not too often", |churn| {
            churn.cycle_ns() >= SHORTEST_CYCLE_NS
        });
    prop_oneof![
        4 => (link_faults(), reaches()).prop_map(|(fault, reach)| Action::Links { fault, reach }),
        1 => (choices(), in_flights())
            .prop_map(|(choice, in_flight)| Action::Cut { choice, in_flight }),
        1 => (partings, in_flights())
            .prop_map(|(groups, in_flight)| Action::Partition { groups, in_flight }),
        1 => (whos(), in_flights()).prop_map(|(who, in_flight)| Action::Isolate { who, in_flight }),
        1 => reaches().prop_map(|reach| Action::Heal { reach }),
        1 => (choices(), churns, in_flights())
            .prop_map(|(choice, churn, in_flight)| Action::Churn { choice, churn, in_flight }),
        4 => (process_faults(), whos()).prop_map(|(fault, who)| Action::Process { fault, who }),
        2 => message_faults().prop_map(Action::Message),
    ]
}
