//! Streamable HTTP on the loopback interface, for agents that share one server.
//!
//! The SDK checks `Host` against loopback names (DNS rebinding) and refuses
//! every browser origin but loopback ones: no web page can read the vault.

use std::net::Ipv4Addr;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::server::Server;

/// Serves until the process is ended; prints the address on standard error.
pub(crate) async fn serve(server: Server, port: u16) -> Result<(), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|error| format!("listen on 127.0.0.1:{port}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(["localhost", "127.0.0.1", "::1"])
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .enforce_origin_validation();
    let sessions = std::sync::Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    crate::note(&format!("serving http://{address}/mcp"));
    axum::serve(listener, router).await.map_err(|error| format!("serve: {error}"))
}
