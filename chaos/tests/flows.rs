//! Clients that nobody named: each has a flow of its own, for as long as something passes.
#![cfg(feature = "proxy")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use chaos::proxy::{Address, Command, Config, Control, FlowLimits, MemberConfig, Proxy, Reply};
use tokio::net::UdpSocket;

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Longer than anything here takes on the busiest machine.
const DEADLINE: Duration = Duration::from_secs(20);
const SECOND: u64 = 1_000_000_000;

/// A server, and a proxy in front of it that lets every client in.
struct Rig {
    server: UdpSocket,
    /// Where clients reach the server.
    alias: SocketAddr,
    control: Control,
}

impl Rig {
    /// A client asks, the server answers the address it saw, and the client hears its answer.
    async fn exchange(&self, client: &UdpSocket, question: &[u8]) -> SocketAddr {
        client.send_to(question, self.alias).await.expect("sent");
        let (asked, seen_as) = receive(&self.server).await;
        assert_eq!(asked, question);
        self.server.send_to(question, seen_as).await.expect("sent");
        let (answer, from) = receive(client).await;
        assert_eq!((answer.as_slice(), from), (question, self.alias));
        seen_as
    }

    /// A counter's value in the metrics.
    async fn metric(&self, name: &str) -> u64 {
        let reply = self.control.ask(Command::Metrics).await.expect("metrics");
        let Reply::Text(text) = reply else {
            panic!("metrics are text");
        };
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.unwrap_or_else(|| panic!("{name} is not in {text}"))
    }

    /// Has the proxy tidy up until the counter is there.
    async fn tidy_until(&self, name: &str, value: u64) {
        let waited = tokio::time::timeout(DEADLINE, async {
            while self.metric(name).await < value {
                let tidied = self.control.ask(Command::Tidy).await;
                tidied.expect("the proxy is tidy");
                tokio::task::yield_now().await;
            }
        });
        waited.await.expect("in time");
    }
}

async fn socket() -> UdpSocket {
    UdpSocket::bind((LOCALHOST, 0)).await.expect("a free port")
}

async fn receive(at: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut room = vec![0; 2_000];
    let received = tokio::time::timeout(DEADLINE, at.recv_from(&mut room)).await;
    let (length, source) = received.expect("in time").expect("a datagram");
    room.truncate(length);
    (room, source)
}

/// Runs a test with a server behind a proxy.
fn with_server(flows: FlowLimits, test: impl AsyncFnOnce(&Rig)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let server = socket().await;
        let member = |name: &str, address| MemberConfig {
            name: name.to_owned(),
            address,
            port: 0,
        };
        let address = Address::Fixed(server.local_addr().expect("an address"));
        let members = vec![member("server", address), member("client", Address::Any)];
        let proxy = Proxy::bind(Config {
            flows,
            ..Config::between(members)
        });
        let proxy = proxy.expect("free ports");
        let rig = Rig {
            server,
            alias: proxy.links().expect("addresses")[0].alias,
            control: proxy.control(),
        };
        tokio::select! {
            ended = proxy.run() => panic!("the proxy ended: {ended:?}"),
            () = test(&rig) => {}
        }
    });
}

#[test]
fn one_client_after_another_is_answered() {
    with_server(FlowLimits::default(), async |rig| {
        for turn in 0..3 {
            rig.exchange(&socket().await, &[turn]).await;
        }
        assert_eq!(rig.metric("chaos_flows_opened_total").await, 3);
        let line = "chaos_datagrams_received_total{from=\"client\",to=\"server\"}";
        assert_eq!(rig.metric(line).await, 3, "they are one member");
        assert_eq!(rig.metric("chaos_strays_total").await, 0);
    });
}

#[test]
fn clients_at_once_are_told_apart() {
    with_server(FlowLimits::default(), async |rig| {
        let clients = [socket().await, socket().await, socket().await];
        for (n, client) in clients.iter().enumerate() {
            client.send_to(&[n as u8], rig.alias).await.unwrap();
        }
        let mut seen = Vec::new();
        for _ in &clients {
            seen.push(receive(&rig.server).await);
        }
        // Answered in another order than they asked in.
        for (question, from) in seen.iter().rev() {
            let answer = [question[0], 99];
            rig.server.send_to(&answer, *from).await.unwrap();
        }
        for (n, client) in clients.iter().enumerate() {
            assert_eq!(receive(client).await, (vec![n as u8, 99], rig.alias));
        }
        let again = rig.exchange(&clients[1], b"again").await;
        let before = seen.iter().find(|(question, _)| question == &[1]);
        assert_eq!(before.map(|(_, from)| *from), Some(again), "the same flow");
    });
}

#[test]
fn a_fault_on_their_links_meets_all_of_them() {
    with_server(FlowLimits::default(), async |rig| {
        let clients = [socket().await, socket().await];
        rig.exchange(&clients[0], b"first").await;
        let cut = Command::Add("cut client->server".to_owned());
        rig.control.ask(cut).await.unwrap();
        for client in &clients {
            client.send_to(b"lost", rig.alias).await.unwrap();
        }
        let line = "chaos_datagrams_lost_total{from=\"client\",to=\"server\"}";
        rig.tidy_until(line, 2).await;
        rig.control.ask(Command::Heal(None)).await.unwrap();
        for client in &clients {
            rig.exchange(client, b"healed").await;
        }
    });
}

#[test]
fn idle_flows_are_closed_and_may_come_back() {
    let limits = FlowLimits {
        idle_ns: 50_000_000,
        ..FlowLimits::default()
    };
    with_server(limits, async |rig| {
        let clients = [socket().await, socket().await];
        rig.exchange(&clients[0], b"first").await;
        let second = rig.exchange(&clients[1], b"second").await;
        rig.tidy_until("chaos_flows_closed_total", 2).await;
        let gone = tokio::time::timeout(DEADLINE, async {
            // Its port is closed with it.
            while UdpSocket::bind(second).await.is_err() {
                tokio::task::yield_now().await;
            }
        });
        gone.await.expect("in time");
        rig.exchange(&clients[0], b"back").await;
        rig.exchange(&clients[1], b"back").await;
        assert_eq!(rig.metric("chaos_flows_opened_total").await, 4);
    });
}

#[test]
fn there_are_no_more_flows_than_may_be() {
    let limits = FlowLimits {
        most: 2,
        idle_ns: 3_600 * SECOND,
    };
    with_server(limits, async |rig| {
        let clients = [socket().await, socket().await];
        for client in &clients {
            rig.exchange(client, b"in").await;
        }
        // While both are used nobody makes room; the one that falls silent does, after a while.
        let late = socket().await;
        let waited = tokio::time::timeout(DEADLINE, async {
            while rig.metric("chaos_flows_opened_total").await < 3 {
                clients[0].send_to(b"busy", rig.alias).await.unwrap();
                late.send_to(b"late", rig.alias).await.unwrap();
            }
        });
        waited.await.expect("in time");
        assert_eq!(rig.metric("chaos_flows_closed_total").await, 1);
        let reply = rig.control.ask(Command::Links).await.unwrap();
        let Reply::Links(links) = reply else {
            panic!("{reply:?}");
        };
        assert_eq!((links[0].flows, links[1].flows), (0, 2));
    });
}

/// Nobody but a member gets through to a client, however it learnt of the client's port.
#[test]
fn strangers_do_not_reach_a_client() {
    with_server(FlowLimits::default(), async |rig| {
        let clients = [socket().await, socket().await];
        rig.exchange(&clients[0], b"first").await;
        let port = rig.exchange(&clients[1], b"second").await;
        socket().await.send_to(b"forged", port).await.unwrap();
        rig.tidy_until("chaos_strays_total", 1).await;
        rig.server.send_to(b"real", port).await.unwrap();
        assert_eq!(receive(&clients[1]).await.0, b"real");
    });
}
