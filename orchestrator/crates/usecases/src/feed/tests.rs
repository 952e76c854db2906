use super::*;
use crate::config::Config;
use crate::{NewTask, testing};
use lyra_store::StopMode;
use lyra_wire::Stale;
use std::time::Duration;

async fn app(folder: &std::path::Path) -> App {
    testing::open(Config { data_dir: Some(folder.to_owned()), ..Config::default() }).await
}

fn job(number: u64) -> Happened {
    Happened::Job(JobEvent { kind: "search".to_owned(), end: "completed".to_owned(), milliseconds: number })
}

/// The numbers of the jobs that a listener hears, up to `last`.
async fn jobs(listener: &mut Listener, last: u64) -> Vec<u64> {
    let mut heard = Vec::new();
    while heard.last() != Some(&last) {
        if let Heard::Event(_, event) = listener.next().await
            && let Happened::Job(job) = &*event
        {
            heard.push(job.milliseconds);
        }
    }
    heard
}

#[tokio::test]
async fn a_listener_that_returns_hears_what_it_missed() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let mut first = app.events(None, None);
    app.inner.feed.publish(job(1));
    assert_eq!(jobs(&mut first, 1).await, [1]);
    let position = first.position();
    drop(first);
    app.inner.feed.publish(job(2));
    app.inner.feed.publish(job(3));
    let mut again = app.events(Some(&position), None);
    assert_eq!(jobs(&mut again, 3).await, [2, 3]);
    drop(again);
    app.close().await;
}

#[tokio::test]
async fn ids_of_another_start_too_old_or_not_yet_given_reset() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let start = app.events(None, None).position();
    for number in 0..=KEPT as u64 {
        app.inner.feed.publish(job(number));
    }
    let epoch = &app.inner.feed.epoch;
    let ahead = format!("{epoch}-999999999");
    for id in [start.as_str(), "other-5", "", "nonsense", &ahead, &format!("{epoch}-"), &format!("{epoch}-x")]
    {
        let mut listener = app.events(Some(id), None);
        assert!(matches!(listener.next().await, Heard::Reset(_)), "{id}");
        app.inner.feed.publish(job(7));
        assert_eq!(jobs(&mut listener, 7).await, [7], "{id}");
    }
    app.close().await;
}

#[tokio::test]
async fn a_slow_listener_is_reset_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let mut slow = app.events(None, None);
    for number in 0..3 * KEPT as u64 {
        app.inner.feed.publish(job(number));
    }
    assert_eq!(lock(&app.inner.feed.ring).events.len(), KEPT);
    assert!(matches!(slow.next().await, Heard::Reset(_)));
    app.inner.feed.publish(job(1));
    assert_eq!(jobs(&mut slow, 1).await, [1]);
    drop(slow);
    app.close().await;
}

fn question(query: &str) -> NewTask {
    NewTask {
        query: query.to_owned(),
        config: lyra_domain::TaskConfig { sources: vec!["openalex".to_owned()], ..Default::default() },
        ..NewTask::default()
    }
}

/// The next change of a task, whatever else happens.
async fn change(listener: &mut Listener) -> (String, TaskChange) {
    loop {
        if let Heard::Event(_, event) = listener.next().await
            && let Happened::Task(event) = &*event
        {
            return (event.task_id.clone(), event.change);
        }
    }
}

#[tokio::test]
async fn a_listener_of_a_task_hears_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path()).await;
    let one = app.create_task(question("Do naps help?")).await.unwrap().id;
    let other = app.create_task(question("Does coffee help?")).await.unwrap().id;
    let mut listener = app.events(None, Some(one.clone()));
    app.stop_task(&other, "enough", StopMode::Graceful).await.unwrap();
    app.inner.feed.publish(job(1));
    app.stop_task(&one, "enough", StopMode::Graceful).await.unwrap();
    assert_eq!(change(&mut listener).await, (one.to_string(), TaskChange::Stopped));
    drop(listener);
    app.close().await;
}

#[tokio::test]
async fn changes_of_another_process_arrive_and_the_watcher_ends_with_the_last_listener() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (app(folder.path()).await, app(folder.path()).await);
    let task = there.create_task(question("Do naps help?")).await.unwrap().id;
    let (mut all, mut one) = (here.events(None, None), here.events(None, Some(task.clone())));
    // What the watcher compares with must be what was there before.
    while lock(&here.inner.feed.listeners).stamp.is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let second = there.create_task(question("Does coffee help?")).await.unwrap().id;
    there.stop_task(&task, "enough", StopMode::Graceful).await.unwrap();
    assert_eq!(change(&mut one).await, (task.to_string(), TaskChange::Changed));
    let mut heard = Vec::new();
    while !heard.contains(&(second.to_string(), TaskChange::Created)) {
        heard.push(change(&mut all).await);
    }
    loop {
        if let Heard::Event(_, event) = one.next().await
            && *event == Happened::Stale(Stale::default())
        {
            break;
        }
    }
    drop((all, one));
    while lock(&here.inner.feed.listeners).watched {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    here.close().await;
    there.close().await;
}
