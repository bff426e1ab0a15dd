//! The schema of the line protocol and the program agree: whatever is asked and answered fits the schema, and an
//! answer is taken if and only if it does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use algorithms::erased::{Group, Input};
use algorithms::external::{Declaration, Limits, Program};
use algorithms::topology::Shape;
use algorithms::{Effect, NodeId, Request, Setting};
use common::Place;
use external::protocol::{Answer, Change, Init, Parameter, Question};
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A JSON Schema, or as much of one as ours needs; a word that is not known here is not passed over.
struct Schema(Value);

impl Schema {
    fn read() -> Self {
        let text = fs::read_to_string(root().join("docs/protocol.schema.json")).unwrap();
        Self(serde_json::from_str(&text).unwrap())
    }

    /// Whether the value fits the definition of this name.
    fn takes(&self, name: &str, value: &Value) -> bool {
        self.fits(&self.0["$defs"][name], value)
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(takes_all) => *takes_all,
            Value::Object(words) => words
                .iter()
                .all(|(word, given)| self.word(schema, word, given, value)),
            other => panic!("no schema: {other}"),
        }
    }

    fn word(&self, schema: &Value, word: &str, given: &Value, value: &Value) -> bool {
        let at_least = |many: Option<usize>| many.is_none_or(|many| many as u64 >= number(given));
        let at_most = |many: Option<usize>| many.is_none_or(|many| many as u64 <= number(given));
        let letters = value.as_str().map(|text| text.chars().count());
        let keys = value.as_object().map(serde_json::Map::len);
        let list = value.as_array();
        match word {
            "$ref" => self.takes(
                given.as_str().unwrap().strip_prefix("#/$defs/").unwrap(),
                value,
            ),
            "anyOf" => given
                .as_array()
                .unwrap()
                .iter()
                .any(|one| self.fits(one, value)),
            "enum" => given.as_array().unwrap().contains(value),
            "const" => given == value,
            "type" => match given {
                Value::Array(types) => types.iter().any(|one| is_a(one, value)),
                one => is_a(one, value),
            },
            "required" => value.as_object().is_none_or(|object| {
                let mut needed = given.as_array().unwrap().iter();
                needed.all(|key| object.contains_key(key.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|object| {
                let mut known = object
                    .iter()
                    .filter_map(|(key, value)| Some((given.get(key)?, value)));
                known.all(|(schema, value)| self.fits(schema, value))
            }),
            "additionalProperties" => value.as_object().is_none_or(|object| {
                let named = |key: &str| schema["properties"].get(key).is_some();
                let mut others = object.iter().filter(|(key, _)| !named(key));
                others.all(|(_, value)| self.fits(given, value))
            }),
            "items" => list.is_none_or(|list| list.iter().all(|one| self.fits(given, one))),
            "uniqueItems" => list.is_none_or(|list| {
                let different = list.iter().map(Value::to_string).collect::<BTreeSet<_>>();
                different.len() == list.len()
            }),
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= given.as_f64().unwrap()),
            "maximum" => value
                .as_f64()
                .is_none_or(|number| number <= given.as_f64().unwrap()),
            "minLength" => at_least(letters),
            "maxLength" => at_most(letters),
            "maxItems" => at_most(list.map(Vec::len)),
            "minProperties" => at_least(keys),
            "maxProperties" => at_most(keys),
            "pattern" => {
                assert_eq!(
                    given, "^[A-Za-z0-9_-]{1,64}$",
                    "another pattern is not known here"
                );
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                let named = |text: &str| (1..=64).contains(&text.len()) && text.chars().all(plain);
                value.as_str().is_none_or(named)
            }
            "title" | "description" => true,
            other => panic!("'{other}' in the schema is not known here"),
        }
    }
}

fn number(given: &Value) -> u64 {
    given.as_u64().unwrap()
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // 3.0 is an integer, as the specification has it.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("'{other}' is no type"),
    }
}

/// Every question there is.
#[test]
fn the_schema_takes_every_question() {
    let schema = Schema::read();
    let raw = RawValue::from_string("[1,{\"kind\":\"A\"}]".to_owned()).unwrap();
    let init = Init {
        protocol: external::protocol::VERSION,
        me: 1,
        nodes: 3,
        neighbours: vec![0, 2],
        holder: 0,
        towards_holder: Some(0),
        bound_ms: 1.5,
        params: [
            ("k".to_owned(), Parameter::from("2")),
            ("how".to_owned(), Parameter::from("well")),
        ]
        .into(),
    };
    let (node, change) = (2, Change::Down);
    let questions = [
        Question::Init(&init),
        Question::Request { priority: 7 },
        Question::Release {},
        Question::Receive {
            from: 2,
            message: &raw,
        },
        Question::Timer {
            name: "again",
            tag: u64::MAX,
        },
        Question::Peer { node, change },
        Question::Link {
            node,
            change: Change::Up,
        },
        Question::Save {},
        Question::Load { state: &raw },
    ];
    let mut seen = BTreeSet::new();
    for question in questions {
        let value: Value = serde_json::from_slice(&question.line()).unwrap();
        assert!(schema.takes("question", &value), "{value}");
        assert!(!schema.takes("answer", &value), "{value}");
        seen.extend(value.as_object().unwrap().keys().cloned());
    }
    let described = schema.0["$defs"]["question"]["properties"]
        .as_object()
        .unwrap();
    assert!(seen.iter().eq(described.keys()), "{seen:?}");
    for wrong in [
        json!({}),
        json!({"request": {}}),
        json!({"peer": {"node": 1, "change": "gone"}}),
        json!({"save": {}, "release": {}}),
        json!({"init": {"protocol": 2}}),
    ] {
        assert!(!schema.takes("question", &wrong), "{wrong}");
    }
}

/// Which of these a member takes as its answer to an event. Each is said by a program of its own.
fn are_taken(answers: &[Value]) -> Vec<bool> {
    /// Addressees are among the first members, and nobody here is one of them.
    const FIRST: u32 = 3;
    const AT_ONCE: usize = 40;
    let says = "read -r q; echo '{\"do\":[]}'; me=${q#*'\"me\":'}; me=${me%%,*}; \
                read -r q; sed -n \"${me}p\" \"$1\"; read -r q";
    let place = Place::new();
    let mut taken = Vec::new();
    for answers in answers.chunks(AT_ONCE) {
        let nodes = FIRST + answers.len() as u32;
        // Line n is what member n says.
        let lines = answers.iter().map(|answer| format!("{answer}\n"));
        let lines = "\n".repeat(FIRST as usize - 1) + &lines.collect::<String>();
        let path = place.file("answers", &lines).display().to_string();
        let program = Program {
            command: ["sh", "-c", says, "sh", &path].map(str::to_owned).into(),
            directory: "/".to_owned(),
            answer_within_ns: 60_000_000_000,
            limits: Limits::default(),
            declares: Declaration::default(),
        };
        let info = algorithms::external::info(program, &[]);
        let topology = Shape::default_for(info.graph, nodes).build(nodes, 0);
        let repaired = algorithms::printed::Printed::repaired();
        let bound = Duration::from_millis(1);
        let defaults = info.defaults();
        let setting = Setting::new(topology.unwrap(), NodeId(0), defaults, repaired, bound);
        let machine = info.machine(&setting.params, &setting.printed);
        let mut group: Box<dyn Group> = machine.group(&setting, FIRST..nodes);
        for member in FIRST..nodes {
            let mut effects = Vec::new();
            let request = Input::Request(Request { priority: 0 });
            group.handle(NodeId(member), request, &mut effects);
            let failed = |effect: &Effect<_>| matches!(effect, Effect::Fail { .. });
            taken.push(!effects.iter().any(failed));
        }
    }
    taken
}

/// Which of these are taken as answers to `init`.
fn are_begun(answers: &[Value]) -> Vec<bool> {
    let is_begun = |answer: &Value| {
        let text = answer.to_string();
        let read = serde_json::from_str::<Answer<'_>>(&text);
        let declares = read.map(|answer| answer.declares.unwrap_or_default());
        answer.is_object() && declares.is_ok_and(|declares| declares.check().is_ok())
    };
    answers.iter().map(is_begun).collect()
}

/// The value with one thing in it changed, in every way there is here.
fn changed(value: &Value, others: &[Value]) -> Vec<Value> {
    let mut all = others.to_vec();
    all.push(json!([value]));
    match value {
        Value::Object(fields) => {
            all.push(fields.values().cloned().collect());
            let with = |key: &str, value: Option<Value>| {
                let mut fields = fields.clone();
                match value {
                    Some(value) => fields.insert(key.to_owned(), value),
                    None => fields.remove(key),
                };
                Value::Object(fields)
            };
            all.push(with("colour", Some(json!("red"))));
            for (key, field) in fields {
                all.push(with(key, None));
                all.extend(
                    changed(field, others)
                        .into_iter()
                        .map(|field| with(key, Some(field))),
                );
            }
        }
        Value::Array(list) => {
            for (place, one) in list.iter().enumerate() {
                all.extend(changed(one, others).into_iter().map(|one| {
                    let mut list = list.clone();
                    list[place] = one;
                    Value::Array(list)
                }));
            }
        }
        _ => {}
    }
    all
}

/// Tries answers and everything that is like them; says how many were refused and how many were taken.
fn agrees(answers: &[Value], others: &[Value], are_taken: fn(&[Value]) -> Vec<bool>) -> [usize; 2] {
    let schema = Schema::read();
    let all = answers.iter().flat_map(|answer| changed(answer, others));
    let mut all = all.chain(answers.iter().cloned()).collect::<Vec<_>>();
    let mut tried = BTreeSet::new();
    all.retain(|answer| tried.insert(answer.to_string()));
    let mut counts = [0; 2];
    for (answer, is_taken) in all.iter().zip(are_taken(&all)) {
        let fits = schema.takes("answer", answer);
        assert_eq!(is_taken, fits, "the schema takes it: {fits}\n{answer}");
        assert!(fits || !answers.contains(answer), "{answer}");
        counts[usize::from(fits)] += 1;
    }
    counts
}

#[test]
fn an_answer_is_taken_if_and_only_if_the_schema_takes_it() {
    external::drive(None);
    let long = "x".repeat(65);
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(2.0),
        json!(2e12),
        json!(""),
        json!("x"),
        json!(long),
        json!([]),
        json!({}),
    ];
    let answers = [
        json!({"do": []}),
        json!({"do": [{"enter": {}}, {"enter": {"fence": 7}}], "state": {"clock": 1}}),
        json!({"do": [{"send": {"to": 2, "message": {"kind": "A"}, "for": 1}}]}),
        json!({"do": [{"set_timer": {"name": "retry", "tag": 1, "after_ms": 50}}]}),
        json!({"do": [{"cancel_timer": {"name": "retry", "tag": 1}}]}),
        json!({"do": [{"note": {"name": "hops", "value": 3, "for": 2}}]}),
        json!({"do": [{"error": {"why": "a reply that nobody waits for"}}]}),
    ];
    let [refused, taken] = agrees(&answers, &others, are_taken);
    assert!(
        refused > 150 && taken > 40,
        "{refused} refused, {taken} taken"
    );
}

#[test]
fn a_declaration_is_taken_if_and_only_if_the_schema_takes_it() {
    // Numbers with a point are left out: in a declaration nobody computes.
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(5_000_000_000_u64),
        json!(""),
        json!("x"),
        json!("a b"),
        json!([]),
        json!({}),
    ];
    let answers = [json!({"do": [], "declares": {
        "title": "A lock", "kinds": ["A", "B"], "graph": "tree", "order": "any", "links": "sessions", "k": 2,
        "crashes": 1, "wants": ["peer", "link"], "retries": true, "least_nodes": 2, "notes": {"hops": "how far"},
        "messages_per_entry": {"at_most": "3*nodes"}, "saves": true,
    }})];
    let [refused, taken] = agrees(&answers, &others, are_begun);
    assert!(
        refused > 100 && taken > 30,
        "{refused} refused, {taken} taken"
    );
    let schema = Schema::read();
    let declares = &schema.0["$defs"]["declaration"]["properties"];
    let known = serde_json::to_value(Declaration::default()).unwrap();
    let known = known.as_object().unwrap().keys().collect::<BTreeSet<_>>();
    assert_eq!(
        known,
        declares
            .as_object()
            .unwrap()
            .keys()
            .collect::<BTreeSet<_>>()
    );
}

/// What goes to and fro in runs, in a search and in a check, with every question and every effect but a complaint.
#[test]
fn what_is_asked_and_answered_fits_the_schema() {
    let place = Place::new();
    let record = place.path().join("record");
    fs::create_dir(&record).unwrap();
    let programs = root().join("orchestrator/tests/programs");
    let recorder = format!(
        "python3 {}/recorder.py {}",
        programs.display(),
        record.display()
    );
    let everything = format!("python3 {}/everything.py", programs.display());
    let example = |name: &str| format!("python3 {}/examples/{name}", root().display());
    for (line, program) in [
        (
            "run external -n 3 --engine sim --seed 1 --entries 3 --fault 'at 5ms cut 0-1 for 30ms'",
            &everything,
        ),
        ("external --check", &everything),
        (
            "run external -n 3 --engine sim --seed 1 --entries 3 --fault 'at 10ms kill 2'",
            &example("tutorial/survivor.py"),
        ),
        (
            "run external -n 3 --entries 2",
            &example("suzuki_kasami.py"),
        ),
        ("explore external -n 2", &example("ricart_agrawala.py")),
        (
            "run external -n 4 --engine sim --seed 1 --entries 2",
            &example("tutorial/raymond.py"),
        ),
    ] {
        place
            .line(&format!("{line} -- {recorder} {program}"))
            .expect(0);
    }
    let seen = fitting(&record);
    for word in [
        "init",
        "request",
        "release",
        "receive",
        "timer",
        "peer",
        "link",
        "save",
        "load",
        "send",
        "enter",
        "set_timer",
        "cancel_timer",
        "note",
    ] {
        assert!(seen.contains(word), "no '{word}' went to or fro: {seen:?}");
    }
}

/// Checks all that was recorded, and says which questions and effects there were.
fn fitting(record: &Path) -> BTreeSet<String> {
    let schema = Schema::read();
    let mut seen = BTreeSet::new();
    for file in fs::read_dir(record).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let lines = text.lines().map(serde_json::from_str::<Value>);
        let lines = lines.collect::<Result<Vec<_>, _>>().unwrap();
        for pair in lines.chunks_exact(2) {
            let [question, answer] = pair else {
                unreachable!("a pair is two")
            };
            // A check adds a field that later versions might have; it belongs to no program.
            assert!(schema.takes("question", question), "{question}");
            let (event, _) = question.as_object().unwrap().iter().next().unwrap();
            let kind = if event == "save" { "saved" } else { "answer" };
            assert!(schema.takes(kind, answer), "{question}\n{answer}");
            seen.insert(event.clone());
            let effects = answer.get("do").and_then(Value::as_array);
            let effects = effects.into_iter().flatten().filter_map(Value::as_object);
            seen.extend(effects.flat_map(|effect| effect.keys().cloned()));
        }
    }
    seen
}
