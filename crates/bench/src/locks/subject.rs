//! What is compared: our members, and everything else that lets in one at a time.

use std::io;

use super::central::Central;
use super::contender::Lock;
use super::etcd::Session;
use super::file::FileLock;
use super::postgres::Advisory;
use super::redis::{Key, Token};

/// A lock that is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The least that a lock server over UDP can be.
    Central,
    RedisToken,
    RedisKey,
    Postgres,
    Etcd,
    File,
}

impl Peer {
    pub(super) const ALL: [Self; 6] = [
        Self::Central,
        Self::RedisToken,
        Self::RedisKey,
        Self::Postgres,
        Self::Etcd,
        Self::File,
    ];

    /// Its word in the arguments of a contender.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::RedisToken => "redis-token",
            Self::RedisKey => "redis-key",
            Self::Postgres => "postgres",
            Self::Etcd => "etcd",
            Self::File => "flock",
        }
    }

    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|peer| peer.word() == word)
    }

    /// What it is, as the table says it.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Central => "bare UDP lock server",
            Self::RedisToken => "Redis, BLPOP of a token",
            Self::RedisKey => "Redis, SET NX, again after 1 ms",
            Self::Postgres => "PostgreSQL, advisory lock",
            Self::Etcd => "etcd, lock service",
            Self::File => "flock",
        }
    }

    /// A client of it, at this address or path.
    pub(super) fn connect(self, at: &str, me: usize) -> io::Result<Box<dyn Lock>> {
        Ok(match self {
            Self::Central => Box::new(Central::connect(at)?),
            Self::RedisToken => Box::new(Token::connect(at)?),
            Self::RedisKey => Box::new(Key::connect(at, me)?),
            Self::Postgres => Box::new(Advisory::connect(at)?),
            Self::Etcd => Box::new(Session::connect(at)?),
            Self::File => Box::new(FileLock::open(at)?),
        })
    }
}
