//! A network between a client and a server that can be slow, refuse everything, or be cut.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Everything passes.
    Fair,
    /// Requests to the server are delayed by this long.
    Slow(Duration),
    /// Every request is answered with 429 and `Retry-After: 1`.
    Busy,
    /// Connections break as soon as they are established.
    Cut,
}

/// The network. Ends with the value.
pub struct Proxy {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Leads from a free port to `target`.
    ///
    /// # Errors
    /// No free port is available.
    pub async fn start(target: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (weather, seen) = watch::channel(Weather::Fair);
        let task = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((client, _)) => {
                        let mut seen = seen.clone();
                        let now = *seen.borrow_and_update();
                        tokio::spawn(async move {
                            // A change of weather breaks what stands, so that it holds for the next request.
                            tokio::select! {
                                _ = serve(client, target, now) => {}
                                _ = seen.changed() => {}
                            }
                        });
                    }
                    Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                    Err(_) => return,
                }
            }
        });
        Ok(Self { address, weather, task })
    }

    /// Where clients go.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as a base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the weather; connections that stand break.
    pub fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut client: TcpStream, target: SocketAddr, weather: Weather) -> std::io::Result<()> {
    match weather {
        Weather::Cut => Ok(()),
        Weather::Busy => refuse(client).await,
        Weather::Fair => {
            let mut server = TcpStream::connect(target).await?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await?;
            Ok(())
        }
        Weather::Slow(pause) => {
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = TcpStream::connect(target).await?.into_split();
            let there = async {
                let mut bytes = vec![0; 1 << 20];
                loop {
                    let read = from_client.read(&mut bytes).await?;
                    if read == 0 {
                        return Ok::<_, std::io::Error>(());
                    }
                    tokio::time::sleep(pause).await;
                    to_server.write_all(&bytes[..read]).await?;
                }
            };
            tokio::select! {
                done = there => done,
                done = tokio::io::copy(&mut from_server, &mut to_client) => done.map(|_| ()),
            }
        }
    }
}

/// Answers one request and reads what is left of it, so that the answer is not lost with a broken connection.
async fn refuse(mut client: TcpStream) -> std::io::Result<()> {
    const BODY: &str =
        r#"{"error":"too many requests in work","error_type":"overloaded","error_id":"chaos"}"#;
    let mut bytes = vec![0; 1 << 20];
    if client.read(&mut bytes).await? == 0 {
        return Ok(());
    }
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    client.write_all(answer.as_bytes()).await?;
    while let Ok(Ok(read)) = tokio::time::timeout(Duration::from_millis(200), client.read(&mut bytes)).await {
        if read == 0 {
            break;
        }
    }
    Ok(())
}
