//! Control over HTTP, for people and scripts: [`HELP`] says what can be asked.

use std::io;
use std::net::SocketAddr;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::net::TcpListener;

use super::control::{Command, Control, Refusal, Reply};
use super::{Token, http};

/// What can be asked, as `GET /` and `--help` show it.
pub const HELP: &str = "\
GET    /links          the members, their aliases, and how many clients each has
GET    /faults         the faults: in-force, waiting or over, and what each did
POST   /faults         {\"fault\": \"loss 5% on a->b\"}  adds one; its times count from now
PUT    /faults/ID      {\"fault\": \"loss 9% on a->b\"}  puts another in its place
DELETE /faults/ID      ends one
POST   /partition      {\"groups\": \"a|b\"}  or halves, one, majority, ring, bridge
POST   /heal           {\"links\": \"a-b\"}  ends cuts and partitions; all without a body
POST   /reset          ends everything, and drops what is under way
GET    /metrics        counters for Prometheus
GET    /               this text; needs no token

Every request needs the header 'Authorization: Bearer TOKEN'. Bodies are JSON, whatever the content
type. What cannot be done is answered with {\"error\": \"…\"}: 400 bad request, 401 no token, 404 no such
fault or place, 405 wrong method, 413 body too long.
";

/// The length of the longest body that is read, in bytes.
const LONGEST_BODY: usize = 64 << 10;

/// What a request needs to be answered.
#[derive(Clone)]
pub struct Access {
    /// The token that a request must carry.
    pub token: Token,
    /// The metrics are told to everybody who can reach the port.
    pub open_metrics: bool,
}

/// Answers requests on a port of this machine until the runtime ends.
pub async fn serve(listener: TcpListener, control: Control, access: Access) -> io::Result<()> {
    let routes = Router::new()
        .route("/", get(|| async { HELP }))
        .route("/links", get(links))
        .route("/faults", get(faults).post(add))
        .route("/faults/{id}", put(change).delete(remove))
        .route("/partition", post(partition))
        .route("/heal", post(heal))
        .route("/reset", post(reset))
        .route("/metrics", get(metrics))
        .fallback(|| async { error(StatusCode::NOT_FOUND, "there is no such place; see GET /") })
        .method_not_allowed_fallback(|| async {
            let why = "this place knows no such method; see GET /";
            error(StatusCode::METHOD_NOT_ALLOWED, why)
        })
        .with_state(control)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(access, admit));
    http::serve(listener, routes).await
}

/// Binds the port that [`serve`] answers on, if that is out of others' reach.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        let why = format!("{address} can be reached from outside; use a loopback address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    TcpListener::bind(address).await
}

/// Lets only those in who know the token, but where anybody may look.
async fn admit(State(access): State<Access>, request: Request, next: Next) -> Response {
    let is_open = match request.uri().path() {
        "/" => true,
        "/metrics" => access.open_metrics,
        _ => false,
    };
    if is_open || access.token.is_said_in(request.headers()) {
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

/// A request's body as it came.
type Body = Result<Bytes, BytesRejection>;

async fn links(State(control): State<Control>) -> Response {
    told(control.ask(Command::Links).await)
}

async fn faults(State(control): State<Control>) -> Response {
    told(control.ask(Command::Faults).await)
}

async fn add(State(control): State<Control>, body: Body) -> Response {
    match read(body) {
        Ok(Fault { fault }) => told(control.ask(Command::Add(fault)).await),
        Err(refused) => *refused,
    }
}

async fn change(State(control): State<Control>, Path(id): Path<String>, body: Body) -> Response {
    match (number(&id), read(body)) {
        (Ok(id), Ok(Fault { fault })) => told(control.ask(Command::Change(id, fault)).await),
        (Err(refused), _) | (_, Err(refused)) => *refused,
    }
}

async fn remove(State(control): State<Control>, Path(id): Path<String>) -> Response {
    match number(&id) {
        Ok(id) => told(control.ask(Command::Remove(id)).await),
        Err(refused) => *refused,
    }
}

async fn partition(State(control): State<Control>, body: Body) -> Response {
    match read(body) {
        Ok(Groups { groups }) => {
            let fault = format!("partition {groups}");
            told(control.ask(Command::Add(fault)).await)
        }
        Err(refused) => *refused,
    }
}

async fn heal(State(control): State<Control>, body: Body) -> Response {
    let links = match body {
        Ok(bytes) if bytes.is_empty() => Ok(Links::default()),
        body => read(body),
    };
    match links {
        Ok(Links { links }) => told(control.ask(Command::Heal(links)).await),
        Err(refused) => *refused,
    }
}

async fn reset(State(control): State<Control>) -> Response {
    told(control.ask(Command::Reset).await)
}

async fn metrics(State(control): State<Control>) -> Response {
    told(control.ask(Command::Metrics).await)
}

/// What the body says, or the answer that it says nothing of that sort.
fn read<T: DeserializeOwned>(body: Body) -> Result<T, Box<Response>> {
    let bytes = body.map_err(|why| error(why.status(), &why.body_text()))?;
    serde_json::from_slice(&bytes).map_err(|why| {
        let why = format!("the body is not what is expected here: {why}; see GET /");
        Box::new(error(StatusCode::BAD_REQUEST, &why))
    })
}

/// The number of a fault, or the answer that there is no such number.
fn number(id: &str) -> Result<u64, Box<Response>> {
    id.parse().map_err(|_| {
        let why = "a fault is named by its number, as GET /faults shows it";
        Box::new(error(StatusCode::BAD_REQUEST, why))
    })
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
