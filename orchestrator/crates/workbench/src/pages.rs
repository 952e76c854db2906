//! The pages, one file each.

mod claim;
mod home;
mod login;
mod reader;
mod task;

use axum::Router;
use axum::routing::get;
use lyra_usecases::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(home::show))
        .route("/login", get(login::show))
        .route("/tasks/{task}", get(task::show))
        .route("/claims/{claim}", get(claim::show))
        .route("/pages/{page}", get(reader::show))
}
