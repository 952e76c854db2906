//! The pages, one file each.

mod calibration;
mod claim;
mod corpora;
mod explore;
mod home;
mod login;
mod operations;
mod prisma;
mod reader;
mod screening;
mod sources;
mod task;

use axum::Router;
use axum::routing::get;
use lyra_usecases::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(home::show))
        .route("/login", get(login::show))
        .route("/tasks/{task}", get(task::show))
        .route("/tasks/{task}/screening", get(screening::show))
        .route("/tasks/{task}/screening/{file}", get(screening::file))
        .route("/tasks/{task}/prisma", get(prisma::show))
        .route("/tasks/{task}/prisma.svg", get(prisma::file))
        .route("/claims/{claim}", get(claim::show))
        .route("/pages/{page}", get(reader::show))
        .route("/corpora", get(corpora::show))
        .route("/corpora/{name}", get(corpora::one::show))
        .route("/corpora/{name}/documents/{document}", get(corpora::document::show))
        .route("/sources", get(sources::show))
        .route("/explore", get(explore::show))
        .route("/calibration", get(calibration::show))
        .route("/operations", get(operations::show))
}
