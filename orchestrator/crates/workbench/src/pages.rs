//! The pages, one file each.

mod calibration;
mod claim;
mod corpora;
mod explore;
mod fusion;
mod graph;
mod home;
mod login;
mod matrix;
mod operations;
mod prisma;
mod reader;
mod screening;
mod sources;
mod task;
mod timeline;

use axum::Router;
use axum::routing::get;
use lyra_usecases::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(home::show))
        .route("/login", get(login::show))
        .route("/tasks/{task}", get(task::show))
        .route("/tasks/{task}/report", get(task::export::page))
        .route("/tasks/{task}/files/{ending}", get(task::export::file))
        .route("/tasks/{task}/selection/{ending}", get(task::select::file))
        .route("/tasks/{task}/timeline", get(timeline::show))
        .route("/tasks/{task}/matrix", get(matrix::show))
        .route("/tasks/{task}/matrix.csv", get(matrix::export))
        .route("/tasks/{task}/graph", get(graph::show))
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
        .route("/fusion", get(fusion::show))
        .route("/fusion/blend", get(fusion::blend::show))
        .route("/fusion/runs/{run}", get(fusion::run::show))
        .route("/fusion/runs/{run}/change", get(fusion::blend::change))
        .route("/calibration", get(calibration::show))
        .route("/operations", get(operations::show))
}
