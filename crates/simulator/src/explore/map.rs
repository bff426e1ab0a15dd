//! Every state of a very small world, with every step that can be taken in each: a map to walk on.

use algorithms::registry::AlgorithmInfo;
use algorithms::view::View;
use algorithms::{NodeId, Setting};

use super::graph::{Graph, Met};
use super::replay::{Beginning, ReplayError};
use super::schedule::Step;
use super::site::Phase;
use super::sites::SiteId;
use super::walk::{Next, UnderWay, Walk};
use super::world::World;
use super::{Kind, Options};

/// A world whose every step can be taken.
#[derive(Clone, Debug)]
pub struct WorldMap {
    /// The different conditions in which nodes are found.
    pub sites: Vec<MapSite>,
    /// The states; the first is where the world begins.
    pub states: Vec<MapState>,
    /// Whether those are all there are.
    pub complete: bool,
}

/// A node in some state of the world.
#[derive(Clone, Debug)]
pub struct MapSite {
    /// The algorithm's state in words; none once the node has crashed.
    pub state: Option<String>,
    /// How the node wants to be drawn.
    pub view: View,
    /// Whether its client waits.
    pub waiting: bool,
    /// Whether its client is inside.
    pub inside: bool,
    /// What is on its way to it: from whom, which kind, and in words.
    pub mail: Vec<(NodeId, &'static str, String)>,
}

/// A state of the world.
#[derive(Clone, Debug)]
pub struct MapState {
    /// For each node, its place among the sites.
    pub sites: Vec<u32>,
    /// What can happen.
    pub steps: Vec<MapStep>,
    /// What is wrong with the state, if anything.
    pub wrong: Option<(Kind, String)>,
}

/// Something that can happen in a state.
#[derive(Clone, Debug)]
pub struct MapStep {
    /// The step that is taken.
    pub step: Step,
    /// The state that it leads to.
    pub to: u32,
    /// What is wrong with it, if anything.
    pub wrong: Option<(Kind, String)>,
}

/// Draws the map of a world of at most so many states; of a larger one only the part that is nearest to
/// the beginning, in which some steps lead nowhere and are left out. Unlike a search it goes on behind
/// whatever is wrong.
pub fn map(
    info: &AlgorithmInfo,
    setting: &Setting,
    options: &Options,
    most: u32,
) -> Result<WorldMap, ReplayError> {
    let beginning = Beginning::of(info, setting, options)?;
    let (mut world, kinds) = (beginning.world, beginning.kinds);
    let mut graph = Graph::new(world.width());
    graph.meet(&beginning.state, 0, most);
    let mut states = Vec::new();
    let mut complete = true;
    let mut numbers: Vec<SiteId> = Vec::new();
    while states.len() < graph.len() {
        let from = states.len() as u32;
        let state = graph.state(from).to_vec();
        let found = look(&mut world, kinds, state.clone());
        let mut steps = Vec::new();
        for (step, mut next, wrong) in found {
            world.renumber(&mut next);
            match graph.meet(&next, from, most) {
                Met::New(to) | Met::Known(to) => steps.push(MapStep { step, to, wrong }),
                Met::NoRoom => complete = false,
            }
        }
        let nodes = world.nodes;
        let sites = state[..nodes].iter().map(|&site| {
            let known = numbers.iter().position(|number| number.0 == site);
            known.unwrap_or_else(|| {
                numbers.push(SiteId(site));
                numbers.len() - 1
            }) as u32
        });
        let sites = sites.collect();
        let wrong = world.fault(&state).or_else(|| {
            let stuck = world.is_stuck(&state);
            stuck.then(|| (Kind::Deadlock, world.deadlock(&state)))
        });
        states.push(MapState {
            sites,
            steps,
            wrong,
        });
    }
    let sites = numbers.iter().map(|&number| of_site(&world, number, kinds));
    Ok(WorldMap {
        sites: sites.collect(),
        states,
        complete,
    })
}

/// What can happen in a state, which knows no more than what is in it: of two messages on a link the one
/// that stands first counts as the older.
fn look(world: &mut World, kinds: &'static [&'static str], state: Vec<u32>) -> Vec<Next> {
    let nodes = world.nodes;
    let mut walk = Walk::new(world, kinds);
    for (to, &site) in state[..nodes].iter().enumerate() {
        let inbox = walk.world.sites.get(SiteId(site)).inbox.clone();
        for (from, mail) in inbox.iter().enumerate() {
            let message = |one: &super::mail::Mail| UnderWay {
                number: 0,
                message: one.message,
            };
            walk.mail[from * nodes + to] = mail.iter().map(message).collect();
        }
    }
    walk.state = state;
    walk.possible_next()
}

fn of_site(world: &World, number: SiteId, kinds: &'static [&'static str]) -> MapSite {
    let site = world.sites.get(number);
    let atlas = &world.sites.atlas;
    let senders = (0..).map(NodeId).zip(&site.inbox);
    let mail = senders.flat_map(|(from, mail)| {
        mail.iter().map(move |one| {
            let kind = kinds[atlas.kind(one.message)];
            (from, kind, atlas.describe(one.message))
        })
    });
    MapSite {
        state: site.state.map(|state| atlas.describe_state(state)),
        view: site
            .state
            .map(|state| atlas.view(state))
            .unwrap_or_default(),
        waiting: site.client.phase == Phase::Waiting,
        inside: site.client.phase == Phase::Inside,
        mail: mail.collect(),
    }
}
