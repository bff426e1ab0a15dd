//! Requests over HTTP from all who can reach the port, with bounds on what they may take.
//!
//! A connection carries one request, which has to be over in time. Of too many connections the oldest
//! is closed: a client that opens them and sends nothing keeps nobody else out.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// How many connections there may be at once.
const MOST_CONNECTIONS: usize = 64;
/// The head of a request has to be there after that time.
const HEAD_WITHIN: Duration = Duration::from_secs(3);
/// A connection is closed after that time.
const OVER_WITHIN: Duration = Duration::from_secs(5);
/// The head of a request is no longer, and hyper takes no less.
const LONGEST_HEAD: usize = 16 << 10;
/// How long to wait when the system has no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests until the runtime ends.
pub(super) async fn serve(listener: TcpListener, routes: Router) -> io::Result<()> {
    let mut connections = JoinSet::new();
    let mut oldest_first: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    if oldest_first.len() >= MOST_CONNECTIONS
                        && let Some(oldest) = oldest_first.pop_front()
                    {
                        oldest.abort();
                    }
                    let connection = converse(stream, routes.clone());
                    oldest_first.push_back(connections.spawn(connection));
                }
                // Somebody hung up, or the system has no room: others may still come.
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {
                oldest_first.retain(|connection| !connection.is_finished());
            }
        }
    }
}

/// Answers one request.
async fn converse(stream: TcpStream, routes: Router) {
    let service = TowerToHyperService::new(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .keep_alive(false)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    // A client that is too slow or sends nonsense has had its answer, or gets none.
    let _ = tokio::time::timeout(OVER_WITHIN, connection).await;
}
