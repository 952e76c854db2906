//! Streams of events.

use super::*;
use axum::body::BodyDataStream;
use lyra_serve::connections;
use lyra_store::StopMode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The fields of one event.
#[derive(Debug, Default, PartialEq)]
struct Sent {
    id: String,
    event: String,
    data: String,
}

/// Reads a stream event by event.
struct Reader {
    pieces: BodyDataStream,
    text: String,
}

impl Reader {
    /// The next event that is no comment; `None` at the end.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let mut sent = Sent::default();
                for line in event.lines() {
                    match line.split_once(": ") {
                        Some(("id", id)) => id.clone_into(&mut sent.id),
                        Some(("event", event)) => event.clone_into(&mut sent.event),
                        Some(("data", data)) => data.clone_into(&mut sent.data),
                        _ => {}
                    }
                }
                self.text = rest.to_owned();
                if !sent.event.is_empty() {
                    return Some(sent);
                }
            }
            let piece = self.pieces.next().await?.expect("a piece");
            self.text.push_str(std::str::from_utf8(&piece).expect("text"));
        }
    }

    /// The next event of this name.
    async fn named(&mut self, name: &str) -> Sent {
        loop {
            let sent = self.next().await.expect("the stream goes on");
            if sent.event == name {
                return sent;
            }
        }
    }
}

async fn listen(server: &Server, query: &str, headers: &[(&str, &str)]) -> Reader {
    let response = server.raw("GET", &format!("{BASE}/events{query}"), headers, Body::empty()).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-store");
    Reader { pieces: response.into_body().into_data_stream(), text: String::new() }
}

#[tokio::test]
async fn events_arrive_are_resumed_and_reset() {
    let server = Server::start(false).await;
    let mut first = listen(&server, "", &[]).await;
    let ready = first.next().await.expect("the first event");
    assert_eq!((ready.event.as_str(), ready.data.as_str()), ("ready", "{}"));
    let task = server.task().await;
    let created = first.named("task").await;
    let data: Value = serde_json::from_str(&created.data).expect("JSON");
    assert_eq!(data, json!({"task_id": task, "change": "created"}));
    drop(first);
    let id = task.parse().expect("an id");
    server.app.stop_task(&id, "enough", StopMode::Graceful).await.expect("stopped");
    let mut again = listen(&server, "", &[("last-event-id", &created.id)]).await;
    let stopped = again.named("task").await;
    assert!(stopped.data.contains("stopped") && stopped.id != created.id, "{stopped:?}");
    // What a page says it knows counts only until the browser has heard more.
    let known = format!("?after={}", created.id);
    assert_eq!(listen(&server, &known, &[]).await.named("task").await, stopped);
    let older = format!("?after={}", ready.id);
    let mut wins = listen(&server, &older, &[("last-event-id", &created.id)]).await;
    assert_eq!(wins.named("task").await, stopped);
    for id in ["0123456789ab-1", "nonsense", ""] {
        let mut other = listen(&server, "", &[("last-event-id", id)]).await;
        let reset = other.next().await.expect("an event");
        assert_eq!((reset.event.as_str(), reset.data.as_str()), ("reset", "{}"), "{id}");
        assert_eq!(reset.id, stopped.id, "{id}");
    }
    let wrong = server.get("/events?task_id=claim_1").await;
    assert!(wrong.status == 400 && is_problem(&wrong), "{wrong:?}");
    drop(again);
    server.close().await;
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let server = Server::start(false).await;
    let mut open = listen(&server, "", &[]).await;
    open.named("ready").await;
    server.stop.cancel();
    assert_eq!(open.next().await, None);
    drop(open);
    server.close().await;
}

#[tokio::test]
async fn an_open_stream_does_not_keep_the_server_from_stopping() {
    let server = Server::start(false).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let served = connections::serve(listener, server.router.clone(), 8, server.stop.clone());
    let served = tokio::spawn(served);
    let mut client = TcpStream::connect(address).await.expect("connected");
    let request = format!("GET {BASE}/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.write_all(request.as_bytes()).await.expect("sent");
    let mut text = String::new();
    while !text.contains("event: ready") {
        let mut piece = [0; 1024];
        let count = client.read(&mut piece).await.expect("a piece");
        assert!(count > 0, "the stream ended: {text}");
        text.push_str(std::str::from_utf8(&piece[..count]).expect("text"));
    }
    server.stop.cancel();
    tokio::time::timeout(Duration::from_secs(20), served).await.expect("it stops").expect("without a panic");
    server.close().await;
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let server = Server::start(true).await;
    let token = server.token("page", Scope::Read).await;
    let mut open = listen(&server, "", &[("authorization", &token)]).await;
    open.named("ready").await;
    server.app.revoke_token("page").await.expect("revoked");
    // The database needs real time, so the clock only skips to the next check.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    while let Some(sent) = open.next().await {
        assert_eq!(sent.event, "stale", "{sent:?}");
    }
    server.close().await;
}

#[tokio::test]
async fn streams_are_counted() {
    let server = Server::start(false).await;
    let mut open = Vec::new();
    for _ in 0..super::super::STREAMS {
        open.push(listen(&server, "", &[]).await);
    }
    let refused = server.get("/events").await;
    assert!(
        refused.status == 503 && is_problem(&refused) && refused.header("retry-after") == "30",
        "{refused:?}"
    );
    open.pop();
    open.push(listen(&server, "", &[]).await);
    drop(open);
    server.close().await;
}
