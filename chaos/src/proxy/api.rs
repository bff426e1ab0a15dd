//! Control over HTTP, for people and scripts.
//!
//! ```text
//! GET    /links              the members and their aliases
//! GET    /faults             the faults, and what each did
//! POST   /faults             {"fault": "loss 5% on a->b"}   adds one; its times count from now
//! PUT    /faults/{id}        {"fault": "loss 9% on a->b"}   changes one
//! DELETE /faults/{id}        ends one
//! POST   /partition          {"groups": "a|b"}   or a name: halves, ring, …
//! POST   /heal               {"links": "a-b"}    or nothing, for all
//! POST   /reset              ends everything
//! GET    /metrics            counters for Prometheus
//! ```
//!
//! Every request needs `Authorization: Bearer TOKEN`, the token that was printed at the start; without
//! it nothing is told and nothing changes. What cannot be done is answered with `{"error": "…"}`.

use std::io;
use std::net::SocketAddr;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

use super::control::{Command, Control, Refusal, Reply};

/// A word that nobody can guess.
#[derive(Clone, Debug)]
pub struct Token(String);

impl Token {
    /// One that was never used.
    pub fn fresh() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// The word.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a request says it. The time this takes does not tell how much of it was right.
    fn is_said_by(&self, request: &Request) -> bool {
        let said = request.headers().get(header::AUTHORIZATION);
        let said = said.and_then(|value| value.to_str().ok());
        let said = said.and_then(|value| value.strip_prefix("Bearer "));
        said.is_some_and(|said| {
            let differ = said
                .bytes()
                .zip(self.0.bytes())
                .fold(0, |all, (a, b)| all | (a ^ b));
            said.len() == self.0.len() && differ == 0
        })
    }
}

/// Answers requests on a port of this machine until the runtime ends. The address must be a loopback
/// one.
pub async fn serve(listener: TcpListener, control: Control, token: Token) -> io::Result<()> {
    let routes = Router::new()
        .route("/links", get(links))
        .route("/faults", get(faults).post(add))
        .route("/faults/{id}", put(change).delete(remove))
        .route("/partition", post(partition))
        .route("/heal", post(heal))
        .route("/reset", post(reset))
        .route("/metrics", get(metrics))
        .fallback(|| async { error(StatusCode::NOT_FOUND, "there is no such place") })
        .with_state(control)
        .layer(middleware::from_fn_with_state(token, admit));
    axum::serve(listener, routes).await
}

/// Binds the port that [`serve`] answers on, if that is out of others' reach.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        let why = format!("{address} can be reached from outside; use a loopback address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    TcpListener::bind(address).await
}

/// Lets only those in who know the token.
async fn admit(State(token): State<Token>, request: Request, next: Next) -> Response {
    if token.is_said_by(&request) {
        next.run(request).await
    } else {
        let why = "say Authorization: Bearer and the token that was printed at the start";
        let mut refused = error(StatusCode::UNAUTHORIZED, why);
        let how = header::HeaderValue::from_static("Bearer");
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, how);
        refused
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    fault: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    groups: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Links {
    links: Option<String>,
}

/// A request's body, or why it is none.
type Body<T> = Result<Json<T>, JsonRejection>;

async fn links(State(control): State<Control>) -> Response {
    told(control.ask(Command::Links).await)
}

async fn faults(State(control): State<Control>) -> Response {
    told(control.ask(Command::Faults).await)
}

async fn add(State(control): State<Control>, body: Body<Fault>) -> Response {
    match body {
        Ok(Json(Fault { fault })) => told(control.ask(Command::Add(fault)).await),
        Err(why) => error(StatusCode::BAD_REQUEST, &why.body_text()),
    }
}

async fn change(
    State(control): State<Control>,
    Path(id): Path<u64>,
    body: Body<Fault>,
) -> Response {
    match body {
        Ok(Json(Fault { fault })) => told(control.ask(Command::Change(id, fault)).await),
        Err(why) => error(StatusCode::BAD_REQUEST, &why.body_text()),
    }
}

async fn remove(State(control): State<Control>, Path(id): Path<u64>) -> Response {
    told(control.ask(Command::Remove(id)).await)
}

async fn partition(State(control): State<Control>, body: Body<Groups>) -> Response {
    match body {
        Ok(Json(Groups { groups })) => told(
            control
                .ask(Command::Add(format!("partition {groups}")))
                .await,
        ),
        Err(why) => error(StatusCode::BAD_REQUEST, &why.body_text()),
    }
}

async fn heal(State(control): State<Control>, body: axum::body::Bytes) -> Response {
    let links = match body.is_empty() {
        true => Ok(Links::default()),
        false => serde_json::from_slice(&body),
    };
    match links {
        Ok(Links { links }) => told(control.ask(Command::Heal(links)).await),
        Err(why) => error(StatusCode::BAD_REQUEST, &why.to_string()),
    }
}

async fn reset(State(control): State<Control>) -> Response {
    told(control.ask(Command::Reset).await)
}

async fn metrics(State(control): State<Control>) -> Response {
    told(control.ask(Command::Metrics).await)
}

fn told(reply: Result<Reply, Refusal>) -> Response {
    match reply {
        Ok(Reply::Done) => Json(json!({ "done": true })).into_response(),
        Ok(Reply::Text(text)) => text.into_response(),
        Ok(reply) => Json(reply).into_response(),
        Err(why) => {
            let status = match why {
                Refusal::NoSuchFault(_) => StatusCode::NOT_FOUND,
                Refusal::Misread(_) => StatusCode::BAD_REQUEST,
                Refusal::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
                Refusal::Stopped => StatusCode::SERVICE_UNAVAILABLE,
            };
            error(status, &why.to_string())
        }
    }
}

fn error(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}
