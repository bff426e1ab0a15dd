//! The page over HTTP, to this machine only and to nobody who was not given its address.
//!
//! The printed address has a token that opens the page once, and leaves a cookie; without the one or the
//! other nothing is told and nothing changes. A request that names another host, or comes from a page of
//! another origin, is refused: no page elsewhere can use the person's browser for it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use chaos::proxy::Token;
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::act::Act;

/// The longest act, in bytes.
const LONGEST_ACT: usize = 4 << 10;
/// How long a page that is open has to hear how the run ended.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(2);

/// How many bytes of what was told are kept for who opens the page later.
const MOST_KEPT: usize = 64 << 20;

/// Where the session leaves what is new and finds what the person wants.
pub(super) struct Desk {
    acts: Mutex<Sender<Act>>,
    told: Mutex<Lines>,
    grown: watch::Sender<usize>,
    /// Whether somebody has opened the page.
    opened: AtomicBool,
    /// Whether nothing more will be told.
    over: AtomicBool,
}

impl Desk {
    pub(super) fn new(acts: Sender<Act>) -> Self {
        Self {
            acts: Mutex::new(acts),
            told: Mutex::default(),
            grown: watch::channel(0).0,
            opened: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// Tells everybody who has the page open, and who opens it later.
    pub(super) fn tell(&self, news: &Value) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.add(news.to_string().into(), MOST_KEPT);
        self.grown.send_replace(told.end());
    }

    /// The line of that number, or the next one that is still there; and its number.
    fn line(&self, number: usize) -> Option<(usize, Arc<str>)> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.at(number)
    }
}

/// What was told, as far as it is kept.
#[derive(Default)]
struct Lines {
    /// How many before these are forgotten.
    forgotten: usize,
    lines: VecDeque<Arc<str>>,
    bytes: usize,
}

impl Lines {
    /// Adds a line, and forgets the oldest ones until the rest is no longer than that.
    fn add(&mut self, line: Arc<str>, most_bytes: usize) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.bytes > most_bytes
            && self.lines.len() > 1
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.len();
            self.forgotten += 1;
        }
    }

    fn end(&self) -> usize {
        self.forgotten + self.lines.len()
    }

    fn at(&self, number: usize) -> Option<(usize, Arc<str>)> {
        let number = number.max(self.forgotten);
        let line = self.lines.get(number - self.forgotten)?;
        Some((number, Arc::clone(line)))
    }
}

/// A server on a thread of its own. It ends when this is dropped.
pub(super) struct Server {
    desk: Arc<Desk>,
    address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// What a request is answered from.
struct Shared {
    desk: Arc<Desk>,
    page: String,
    port: u16,
    token: Token,
    cookie: Token,
}

impl Server {
    /// Serves the page on this port of the loopback interface, or any free one if it is 0.
    pub(super) fn start(port: u16, page: String, desk: Arc<Desk>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let token = Token::fresh()?;
        let address = format!("http://127.0.0.1:{port}/?token={}", token.text());
        let shared = Arc::new(Shared {
            desk: Arc::clone(&desk),
            page,
            port,
            token,
            cookie: Token::fresh()?,
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                    return;
                };
                tokio::select! {
                    _ = axum::serve(listener, routes(shared)) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            desk,
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The address that opens the page, once.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Whether somebody has opened the page.
    pub(super) fn is_opened(&self) -> bool {
        self.desk.opened.load(Ordering::Acquire)
    }

    /// Tells the last news, and gives the page time to hear it.
    pub(super) fn finish(self, news: &Value) {
        self.desk.tell(&json!({"done": news}));
        self.desk.over.store(true, Ordering::Release);
        self.desk.grown.send_modify(|_| {});
        let begun = std::time::Instant::now();
        // Every open page holds a receiver until it has heard everything.
        while self.desk.grown.receiver_count() > 0 && begun.elapsed() < LAST_WORDS_WITHIN {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/events", get(events))
        .route("/act", post(act))
        .with_state(Arc::clone(&shared))
        .layer(DefaultBodyLimit::max(LONGEST_ACT))
        .layer(middleware::from_fn_with_state(shared, admit))
}

/// Refuses a request to another host, or for another page.
async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", shared.port));
    let host = text(header::HOST).unwrap_or_default();
    if !names.iter().any(|name| name == host) {
        return refused("this is not the host that you asked for");
    }
    let foreign = |origin: &str| !names.iter().any(|name| origin == format!("http://{name}"));
    if text(header::ORIGIN).is_some_and(foreign) {
        return refused("a page of another origin may not ask this");
    }
    next.run(request).await
}

fn refused(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, why).into_response()
}

#[derive(Deserialize)]
struct Opening {
    token: Option<String>,
}

/// The page: with the token once, then with the cookie.
async fn page(
    State(shared): State<Arc<Shared>>,
    Query(opening): Query<Opening>,
    headers: HeaderMap,
) -> Response {
    if let Some(token) = opening.token {
        let right = shared.token.is(&token);
        if !right || shared.desk.opened.swap(true, Ordering::AcqRel) {
            return refused("this address is wrong, or was opened before");
        }
        let cookie = format!(
            "turnstile={}; HttpOnly; SameSite=Strict; Path=/",
            shared.cookie.text()
        );
        return ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response();
    }
    if !shared.knows(&headers) {
        return refused("open the address that was printed");
    }
    Html(shared.page.clone()).into_response()
}

impl Shared {
    /// Whether a request has the cookie.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get(header::COOKIE);
        let cookies = cookies
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let mut given = cookies
            .split("; ")
            .filter_map(|one| one.strip_prefix("turnstile="));
        given.any(|given| self.cookie.is(given))
    }
}

/// Everything that happened so far, and then whatever is new.
async fn events(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if !shared.knows(&headers) {
        return refused("open the address that was printed");
    }
    // Who lost the connection goes on where they were.
    let heard = headers.get("last-event-id");
    let heard = heard.and_then(|value| value.to_str().ok()?.parse().ok());
    let news = news(Arc::clone(&shared.desk), heard.unwrap_or(0));
    Sse::new(news)
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// The lines from that number on, and each with the number of the one after it.
fn news(desk: Arc<Desk>, first: usize) -> impl Stream<Item = Result<Event, Infallible>> {
    let grown = desk.grown.subscribe();
    let start = (desk, grown, first);
    stream::unfold(start, |(desk, mut grown, number)| async move {
        loop {
            if let Some((found, line)) = desk.line(number) {
                // Who comes late is told that they are.
                if found > number {
                    let late = json!({"refused": "what was told first is no longer kept"});
                    let event = Event::default().data(late.to_string());
                    return Some((Ok(event), (desk, grown, found)));
                }
                let event = Event::default().id((number + 1).to_string());
                return Some((Ok(event.data(&*line)), (desk, grown, number + 1)));
            }
            if desk.over.load(Ordering::Acquire) || grown.changed().await.is_err() {
                return None;
            }
        }
    })
}

/// What the person wants. That it was heard is all that is answered; what comes of it is news.
async fn act(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    if !shared.knows(&headers) {
        return refused("open the address that was printed");
    }
    let act = match serde_json::from_slice::<Act>(&body) {
        Ok(act) => act,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let acts = shared
        .desk
        .acts
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match acts.send(act) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(_) => (StatusCode::GONE, "the run is over").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lost_the_connection_is_not_told_the_same_again() {
        let (acts, _) = std::sync::mpsc::channel();
        let desk = Arc::new(Desk::new(acts));
        for number in 0..3 {
            desk.tell(&json!(number));
        }
        desk.over.store(true, Ordering::Release);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let told = |first| {
            let told = news(Arc::clone(&desk), first);
            runtime.block_on(futures_util::StreamExt::count(told))
        };
        assert_eq!([0, 2, 3, 9].map(told), [3, 1, 0, 0]);
    }

    #[test]
    fn of_what_was_told_the_oldest_is_forgotten_first() {
        let mut lines = Lines::default();
        for text in ["one", "two", "three", "four"] {
            lines.add(text.into(), 10);
        }
        let at = |number| {
            lines
                .at(number)
                .map(|(found, line)| (found, line.to_string()))
        };
        assert_eq!(at(0), Some((2, "three".to_owned())));
        assert_eq!(at(3), Some((3, "four".to_owned())));
        assert_eq!((at(4), lines.end()), (None, 4));
        // What is too long by itself is told all the same.
        lines.add("a line of its own".into(), 10);
        assert_eq!(lines.at(0).map(|(found, _)| found), Some(4));
    }
}
