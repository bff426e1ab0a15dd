//! Whether a link is up, and how two ends agree that it is again.
//!
//! Patient links have one session that never ends. Under the other contract a session ends at the
//! end that has waited too long for an answer, and a new one begins with a handshake:
//!
//! ```text
//!        A hears no answer                          B
//!   down ├── Open 4 ─────────────────────────────► ┤ down, unless it was
//!        ├ ◄───────────────────────────── Accept 4 ┤
//!     up ├── Ping 4, or a message of session 4 ──► ┤ up
//!        ├ ◄────────────────────────────── Carry 4 ┤
//! ```
//!
//! Numbers only grow, and the two ends propose numbers of different parity, so a number belongs to
//! one proposal. When both propose, the larger wins. An end that is not sure that the other end is up
//! repeats what it said: the proposer its Open, then its Ping; and an answerer that hears nothing
//! for as long as a silence lasts proposes in its turn. So some end always moves, and both see
//! down before up.
//!
//! Session 0 of two incarnations needs no handshake: each knows it from the start.

use crate::config::{Config, Contract};
use crate::frame::Rejected;
use crate::packet::Say;

/// One end's view of its link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    number: u32,
    phase: Phase,
    /// The remainder by 2 of the numbers this end proposes.
    parity: u32,
    /// What a frame is to say, if one is to leave now for that alone.
    pending: Option<Say>,
    /// Since when an answer is owed to us.
    owed_since: Option<u64>,
    /// When we call next, and how often we called without an answer.
    call_at: Option<u64>,
    calls: u32,
    /// Whether the member wants to know soon that the link is cut.
    watched: bool,
    /// Whether a patient link has been silent for too long.
    suspected: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Messages go both ways.
    Up,
    /// So they do, but this end proposed the session and has not heard from the other since.
    Unconfirmed,
    /// Down; this end proposes.
    Opening,
    /// Down; the other end proposed, and its first frame will do.
    Answering,
}

/// What a frame did to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The session goes on: the frame belongs to it.
    Same,
    /// The session is now up.
    Began,
    /// The session is now down.
    Ended,
    /// The session is not up yet: the frame is part of a handshake.
    Handshake,
}

/// What silence did to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// The session ended.
    Ended,
    /// The peer is suspected.
    Suspected,
}

impl Session {
    /// Session 0, from its start; `parity` differs at the two ends.
    pub(crate) fn first(parity: u32) -> Self {
        Self {
            number: 0,
            phase: Phase::Up,
            parity,
            pending: None,
            owed_since: None,
            call_at: None,
            calls: 0,
            watched: false,
            suspected: false,
        }
    }

    /// Session 0 with a new incarnation of the peer: up when it speaks.
    pub(crate) fn restarted(&mut self, now: u64, config: &Config) {
        let watched = self.watched;
        *self = Self {
            watched,
            ..Self::first(self.parity)
        };
        match config.contract {
            Contract::Patient { .. } => {}
            Contract::Sessions { silence_ns } => {
                self.phase = Phase::Answering;
                self.call_at = Some(now + silence_ns);
            }
        }
    }

    /// The peer is known to be dead: nothing of this session is believed any more, and nobody calls.
    pub(crate) fn peer_died(&mut self, config: &Config) {
        self.quiet();
        self.watched = false;
        match config.contract {
            Contract::Patient { .. } => {}
            Contract::Sessions { .. } => {
                self.number = self.number.saturating_add(1);
                self.phase = Phase::Answering;
            }
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn is_up(&self) -> bool {
        match self.phase {
            Phase::Up | Phase::Unconfirmed => true,
            Phase::Opening | Phase::Answering => false,
        }
    }

    /// What a frame is to say, if one is to leave now for that alone.
    pub(crate) fn pending(&self) -> Option<Say> {
        self.pending
    }

    /// Asks for heartbeats, or no longer.
    pub(crate) fn watch(&mut self, now: u64, watched: bool, config: &Config) {
        self.watched = watched;
        if self.phase == Phase::Up {
            self.call_at = self.heartbeat_at(now, config);
        }
    }

    /// The other end speaks to an earlier incarnation of ours: it should hear from this one.
    pub(crate) fn announce(&mut self) {
        self.pending = Some(match self.phase {
            Phase::Opening => Say::Open,
            Phase::Answering if self.number > 0 => Say::Accept,
            Phase::Answering | Phase::Up | Phase::Unconfirmed => Say::Ping,
        });
    }

    /// A frame leaves that says this; with segments it wants an answer in any case.
    pub(crate) fn sent(&mut self, now: u64, say: Say, segments: bool) {
        if self.pending == Some(say) {
            self.pending = None;
        }
        if self.is_up() && (segments || say == Say::Ping) {
            self.owed_since.get_or_insert(now);
        }
    }

    /// An authentic frame of this incarnation arrives.
    pub(crate) fn hear(
        &mut self,
        now: u64,
        number: u32,
        say: Say,
        config: &Config,
    ) -> Result<Turn, Rejected> {
        let turn = match (config.contract, say) {
            (Contract::Patient { .. }, Say::Open | Say::Accept) => return Err(Rejected::Malformed),
            (Contract::Sessions { silence_ns }, Say::Open) => {
                self.hear_open(now, number, silence_ns)?
            }
            (Contract::Sessions { .. }, Say::Accept) => self.hear_accept(now, number, config)?,
            (_, Say::Carry | Say::Ping) => self.hear_speech(number)?,
        };
        self.owed_since = None;
        if self.phase == Phase::Up {
            self.call_at = self.heartbeat_at(now, config);
            self.calls = 0;
        }
        Ok(turn)
    }

    /// Whether the peer was suspected until now.
    pub(crate) fn trust(&mut self) -> bool {
        std::mem::take(&mut self.suspected)
    }

    /// When something is to be done here.
    pub(crate) fn deadline(&self, config: &Config) -> Option<u64> {
        let silent_at = match (self.owed_since, config.contract.silence_ns()) {
            (Some(since), Some(silence_ns)) => Some(since + silence_ns),
            (None, _) | (_, None) => None,
        };
        [silent_at, self.call_at].into_iter().flatten().min()
    }

    /// Ends the session if the peer was silent for too long, and says so.
    pub(crate) fn tick(&mut self, now: u64, config: &Config) -> Option<Silence> {
        let silence_ns = config.contract.silence_ns()?;
        if self.owed_since.is_some_and(|at| at + silence_ns <= now) {
            self.owed_since = None;
            match config.contract {
                Contract::Patient { .. } => {
                    let before = std::mem::replace(&mut self.suspected, true);
                    return (!before).then_some(Silence::Suspected);
                }
                Contract::Sessions { .. } => {
                    self.propose(now, config);
                    return Some(Silence::Ended);
                }
            }
        }
        if self.call_at.is_some_and(|at| at <= now) {
            match self.phase {
                Phase::Up => {
                    self.pending = Some(Say::Ping);
                    self.call_at = self.heartbeat_at(now, config);
                }
                Phase::Unconfirmed => self.call(now, Say::Ping, config),
                Phase::Opening => self.call(now, Say::Open, config),
                Phase::Answering => self.propose(now, config),
            }
        }
        None
    }

    /// Proposes a session of a higher number than any before.
    fn propose(&mut self, now: u64, config: &Config) {
        self.quiet();
        // Nobody proposes four thousand million times; at the end of the numbers a link stays down.
        self.number = self.number.saturating_add(1);
        if self.number % 2 != self.parity {
            self.number = self.number.saturating_add(1);
        }
        self.phase = Phase::Opening;
        self.call(now, Say::Open, config);
    }

    fn hear_open(&mut self, now: u64, number: u32, silence_ns: u64) -> Result<Turn, Rejected> {
        let again = number == self.number && self.phase == Phase::Answering;
        if number <= self.number && !again {
            return Err(Rejected::OtherSession);
        }
        let was_up = self.is_up();
        self.quiet();
        self.number = number;
        self.phase = Phase::Answering;
        self.pending = Some(Say::Accept);
        self.call_at = Some(now + silence_ns);
        Ok(if was_up { Turn::Ended } else { Turn::Handshake })
    }

    fn hear_accept(&mut self, now: u64, number: u32, config: &Config) -> Result<Turn, Rejected> {
        if number != self.number {
            return Err(Rejected::OtherSession);
        }
        match self.phase {
            Phase::Opening => {
                self.quiet();
                self.phase = Phase::Unconfirmed;
                self.call(now, Say::Ping, config);
                Ok(Turn::Began)
            }
            Phase::Unconfirmed | Phase::Up => Ok(Turn::Handshake),
            Phase::Answering => Err(Rejected::OtherSession),
        }
    }

    fn hear_speech(&mut self, number: u32) -> Result<Turn, Rejected> {
        if number != self.number || self.phase == Phase::Opening {
            return Err(Rejected::OtherSession);
        }
        let began = self.phase == Phase::Answering;
        self.phase = Phase::Up;
        Ok(if began { Turn::Began } else { Turn::Same })
    }

    /// Says something that wants an answer, and will again, after pauses that double.
    fn call(&mut self, now: u64, say: Say, config: &Config) {
        let timing = &config.timing;
        let shortest = timing.floor_ns + timing.ack_delay_ns;
        let pause = shortest
            .saturating_mul(1 << self.calls.min(20))
            .min(timing.cap_ns);
        self.pending = Some(say);
        self.calls += 1;
        self.call_at = Some(now + pause);
    }

    fn quiet(&mut self) {
        self.pending = None;
        self.owed_since = None;
        self.call_at = None;
        self.calls = 0;
    }

    /// Several heartbeats fit into a silence, so that losing one does not make one.
    fn heartbeat_at(&self, now: u64, config: &Config) -> Option<u64> {
        let silence_ns = config.contract.silence_ns()?;
        self.watched.then(|| now + silence_ns / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timing;

    const MS: u64 = 1_000_000;
    const SILENCE: u64 = 400 * MS;

    const CONFIG: Config = Config {
        contract: Contract::Sessions {
            silence_ns: SILENCE,
        },
        timing: Timing {
            cap_ns: 100 * MS,
            ..Timing::LOOPBACK
        },
        ..Config::PATIENT
    };

    /// What this end has to say; afterwards it counts as sent.
    fn speak(end: &mut Session, now: u64) -> Option<(u32, Say)> {
        let say = end.pending()?;
        end.sent(now, say, false);
        Some((end.number(), say))
    }

    fn hear(end: &mut Session, now: u64, (number, say): (u32, Say)) -> Result<Turn, Rejected> {
        end.hear(now, number, say, &CONFIG)
    }

    /// One end says this, and the other hears it with that result.
    #[track_caller]
    fn pass(from: &mut Session, to: &mut Session, now: u64, said: (u32, Say), turn: Turn) {
        assert_eq!(speak(from, now), Some(said));
        assert_eq!(hear(to, now, said), Ok(turn));
    }

    /// An end that waited for an answer, heard none and proposes, and the other one, still up.
    fn after_silence() -> (Session, Session) {
        let (mut a, b) = (Session::first(0), Session::first(1));
        a.sent(0, Say::Carry, true);
        assert_eq!(a.tick(SILENCE - 1, &CONFIG), None);
        assert_eq!(a.tick(SILENCE, &CONFIG), Some(Silence::Ended));
        assert!(!a.is_up());
        (a, b)
    }

    #[test]
    fn three_steps_begin_a_session() {
        let (mut a, mut b) = after_silence();
        pass(&mut a, &mut b, SILENCE, (2, Say::Open), Turn::Ended);
        pass(&mut b, &mut a, SILENCE, (2, Say::Accept), Turn::Began);
        assert!(a.is_up() && !b.is_up());
        pass(&mut a, &mut b, SILENCE, (2, Say::Ping), Turn::Began);
        assert!(b.is_up());
        assert_eq!(hear(&mut a, SILENCE, (2, Say::Carry)), Ok(Turn::Same));
        assert_eq!((a.deadline(&CONFIG), b.deadline(&CONFIG)), (None, None));
    }

    #[test]
    fn each_step_that_is_lost_is_repeated_and_the_number_stays() {
        let (mut a, mut b) = after_silence();
        let mut now = SILENCE;
        let mut wait = |end: &mut Session| {
            now = end.deadline(&CONFIG).expect("it will call again");
            assert_eq!(end.tick(now, &CONFIG), None);
            now
        };
        // Open is lost.
        assert_eq!(speak(&mut a, SILENCE), Some((2, Say::Open)));
        let now = wait(&mut a);
        pass(&mut a, &mut b, now, (2, Say::Open), Turn::Ended);
        // Accept is lost.
        assert_eq!(speak(&mut b, now), Some((2, Say::Accept)));
        let now = wait(&mut a);
        pass(&mut a, &mut b, now, (2, Say::Open), Turn::Handshake);
        pass(&mut b, &mut a, now, (2, Say::Accept), Turn::Began);
        // Ping is lost.
        assert_eq!(speak(&mut a, now), Some((2, Say::Ping)));
        let now = wait(&mut a);
        pass(&mut a, &mut b, now, (2, Say::Ping), Turn::Began);
    }

    #[test]
    fn an_answerer_that_hears_no_more_proposes_in_its_turn() {
        let (mut a, mut b) = after_silence();
        assert_eq!(hear(&mut b, SILENCE, (2, Say::Open)), Ok(Turn::Ended));
        speak(&mut b, SILENCE);
        assert_eq!(b.deadline(&CONFIG), Some(2 * SILENCE));
        assert_eq!(b.tick(2 * SILENCE, &CONFIG), None);
        assert_eq!(speak(&mut b, 2 * SILENCE), Some((3, Say::Open)));
        // The larger number wins, and no end was told anything in between.
        assert_eq!(
            hear(&mut a, 2 * SILENCE, (3, Say::Open)),
            Ok(Turn::Handshake)
        );
        assert_eq!(speak(&mut a, 2 * SILENCE), Some((3, Say::Accept)));
    }

    #[test]
    fn a_smaller_proposal_is_refused_by_an_end_that_proposes_a_larger() {
        let (mut a, mut b) = after_silence();
        b.sent(0, Say::Carry, true);
        b.tick(SILENCE, &CONFIG);
        assert_eq!(speak(&mut a, SILENCE), Some((2, Say::Open)));
        assert_eq!(speak(&mut b, SILENCE), Some((1, Say::Open)));
        let refused = Err(Rejected::OtherSession);
        assert_eq!(hear(&mut a, SILENCE, (1, Say::Open)), refused);
        assert_eq!(hear(&mut b, SILENCE, (2, Say::Open)), Ok(Turn::Handshake));
    }

    #[test]
    fn nothing_but_its_next_step_moves_a_handshake() {
        use Say::{Accept, Carry, Open, Ping};
        let refused = Err(Rejected::OtherSession);
        let (mut a, mut b) = after_silence();
        for step in [(0, Carry), (2, Carry), (2, Ping), (4, Accept)] {
            assert_eq!(hear(&mut a, SILENCE, step), refused, "{step:?}");
        }
        hear(&mut b, SILENCE, (2, Open)).expect("a larger number is heard");
        for step in [(0, Carry), (0, Open), (2, Accept), (4, Ping)] {
            assert_eq!(hear(&mut b, SILENCE, step), refused, "{step:?}");
        }
    }

    #[test]
    fn a_proposer_that_is_not_confirmed_gives_up_too() {
        let (mut a, _) = after_silence();
        speak(&mut a, SILENCE);
        hear(&mut a, SILENCE, (2, Say::Accept)).expect("it was proposed");
        speak(&mut a, SILENCE);
        let mut now = SILENCE;
        while a.is_up() {
            now = a.deadline(&CONFIG).expect("silence will end it");
            a.tick(now, &CONFIG);
            speak(&mut a, now);
        }
        assert_eq!(now, 2 * SILENCE);
        assert_eq!(a.number(), 4);
    }

    #[test]
    fn patient_links_know_no_handshake() {
        let mut end = Session::first(0);
        for say in [Say::Open, Say::Accept] {
            let heard = end.hear(0, 0, say, &Config::PATIENT);
            assert_eq!(heard, Err(Rejected::Malformed));
        }
        let heard = end.hear(0, 1, Say::Carry, &Config::PATIENT);
        assert_eq!(heard, Err(Rejected::OtherSession));
    }
}
