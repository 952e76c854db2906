//! Real processes: this program is the worker too.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use lyra_worker::{
    Access, Confinement, Limits, Pool, PoolConfig, Talk, Talks, Turns, WorkerError, serve, serve_talks,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LIMITS: Limits =
    Limits { memory: 128 << 20, addresses: 4 << 30, cpu: Duration::from_secs(1), files: 32 };
const MOST: usize = 1 << 20;
/// Enough time for every job.
const TIME: Duration = Duration::from_mins(1);

fn main() {
    if std::env::args().nth(1).as_deref() == Some("__worker") {
        if std::env::args().nth(2).as_deref() == Some("talks") {
            serve_talks(&LIMITS, &Access::default(), MOST, talk).unwrap();
            return;
        }
        let files = |index: usize| std::env::args().nth(index).map(Into::into).into_iter().collect();
        serve(&LIMITS, &Access { read: files(2), write: files(3) }, MOST, work).unwrap();
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        jobs_are_answered_by_the_same_process_until_it_is_replaced().await;
        what_meets_a_limit_fails_alone_and_says_which().await;
        a_worker_has_nothing_that_it_does_not_need().await;
        #[cfg(target_os = "linux")]
        a_worker_reaches_its_files_and_nothing_else().await;
        a_job_that_nobody_waits_for_is_ended().await;
        a_worker_that_died_while_it_waited_is_replaced().await;
        what_is_too_large_or_cannot_start_is_said().await;
        a_job_takes_as_many_turns_as_it_needs().await;
        a_talk_ends_with_its_worker_and_its_worker_with_it().await;
    });
    figures(&runtime);
}

/// What a job says is done.
fn work(job: Vec<u8>) -> Vec<u8> {
    let job = String::from_utf8(job).unwrap();
    let (what, argument) = job.split_once(' ').unwrap_or((&job, ""));
    match what {
        "pid" => std::process::id().to_string().into_bytes(),
        "echo" => argument.as_bytes().to_vec(),
        "memory" => {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![1_u8; 1 << 20]);
            }
        }
        "spin" => loop {
            std::hint::spin_loop();
        },
        "panic" => panic!("a defect in the work"),
        "environment" => std::env::vars_os().count().to_string().into_bytes(),
        "write" => match std::fs::write(argument, "x") {
            Ok(()) => b"written".to_vec(),
            Err(error) => error.to_string().into_bytes(),
        },
        "read" => match std::fs::read_to_string(argument) {
            Ok(text) => text.into_bytes(),
            Err(error) => error.to_string().into_bytes(),
        },
        "overwrite" => match std::fs::OpenOptions::new().write(true).open(argument) {
            Ok(_) => b"opened".to_vec(),
            Err(error) => error.to_string().into_bytes(),
        },
        "connect" => match std::net::TcpStream::connect(argument) {
            Ok(_) => b"connected".to_vec(),
            Err(error) => error.to_string().into_bytes(),
        },
        "run" => match std::process::Command::new(argument).status() {
            Ok(_) => b"ran".to_vec(),
            Err(error) => error.to_string().into_bytes(),
        },
        "thread" => std::thread::spawn(|| b"ran".to_vec()).join().unwrap(),
        "open" => {
            let files: Vec<_> = (0..200).map(|_| std::io::pipe()).collect();
            files.iter().filter(|file| file.is_ok()).count().to_string().into_bytes()
        }
        "large" => vec![0; MOST + 1],
        other => panic!("{other}"),
    }
}

/// Adds up the numbers it receives until an empty one, and answers each with the sum so far; or does the other work.
fn talk(job: Vec<u8>, parent: &dyn Turns) -> Vec<u8> {
    if job != b"add" {
        return work(job);
    }
    let mut sum = 0;
    loop {
        let Ok(told) = parent.turn(format!("{sum}").as_bytes()) else { return Vec::new() };
        match String::from_utf8(told).unwrap().parse::<u32>() {
            Ok(number) => sum += number,
            Err(_) => return format!("{sum} in all").into_bytes(),
        }
    }
}

fn pool(workers: usize, jobs: u32) -> Pool {
    Pool::new(config(workers, jobs))
}

fn config(workers: usize, jobs: u32) -> PoolConfig {
    PoolConfig {
        program: std::env::current_exe().unwrap(),
        arguments: vec!["__worker".into()],
        limits: LIMITS,
        workers,
        wait: TIME,
        jobs,
        most_bytes: MOST,
    }
}

async fn say(pool: &Pool, job: &str) -> Result<String, WorkerError> {
    pool.run(job.as_bytes(), TIME).await.map(|answer| String::from_utf8(answer).unwrap())
}

async fn jobs_are_answered_by_the_same_process_until_it_is_replaced() {
    let pool = pool(1, 3);
    let mut workers = Vec::new();
    for _ in 0..6 {
        workers.push(say(&pool, "pid").await.unwrap());
    }
    assert!(workers[0] == workers[1] && workers[1] == workers[2], "{workers:?}");
    assert!(workers[3] == workers[4] && workers[4] == workers[5] && workers[3] != workers[0], "{workers:?}");
    let long = "x".repeat(500_000);
    assert_eq!(say(&pool, &format!("echo {long}")).await.unwrap(), long);
    assert_eq!(say(&pool, "echo ").await.unwrap(), "");
}

async fn what_meets_a_limit_fails_alone_and_says_which() {
    let pool = pool(2, 100);
    let started = Instant::now();
    let killed = pool.run(b"spin", Duration::from_millis(100)).await.unwrap_err();
    assert_eq!(killed, WorkerError::Deadline { limit: Duration::from_millis(100) });
    assert!(killed.to_string().contains("stopped after 100 ms"), "{killed}");
    assert!(started.elapsed() < TIME);
    let died = say(&pool, "panic").await.unwrap_err();
    assert!(matches!(&died, WorkerError::Died { how } if how.contains("101")), "{died}");
    #[cfg(target_os = "linux")]
    {
        let memory = say(&pool, "memory").await.unwrap_err();
        assert_eq!(memory, WorkerError::Memory { bytes: 128 << 20 });
        assert_eq!(memory.to_string(), "stopped for using more than 128 MB of memory");
    }
    #[cfg(unix)]
    assert_eq!(say(&pool, "spin").await.unwrap_err(), WorkerError::Cpu { seconds: 2 });
    let (spun, answered) =
        tokio::join!(pool.run(b"spin", Duration::from_millis(300)), pool.run(b"echo beside", TIME));
    assert!(spun.is_err());
    assert_eq!(answered.unwrap(), b"beside", "a job beside one that fails");
}

async fn a_worker_has_nothing_that_it_does_not_need() {
    let pool = pool(1, 100);
    assert_eq!(say(&pool, "environment").await.unwrap(), "0", "keys of services stand in the environment");
    let folder = std::env::temp_dir().join(format!("lyra-worker-{}", std::process::id()));
    let written = say(&pool, &format!("write {}", folder.display())).await;
    assert_ne!(written, Ok("written".to_owned()));
    assert!(std::fs::metadata(&folder).map_or(true, |file| file.len() == 0));
    let _ = std::fs::remove_file(&folder);
    #[cfg(target_os = "linux")]
    assert!(say(&pool, "open").await.unwrap().parse::<u64>().unwrap() < LIMITS.files);
}

#[cfg(target_os = "linux")]
async fn a_worker_reaches_its_files_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (to_read, to_write, closed) = (path("read"), path("write"), path("closed"));
    for file in [&to_read, &to_write, &closed] {
        std::fs::write(file, "its text").unwrap();
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let arguments = vec!["__worker".into(), to_read.clone().into(), to_write.clone().into()];
    let pool = Pool::new(PoolConfig { arguments, ..config(1, 100) });
    assert_eq!(say(&pool, "thread").await.unwrap(), "ran");
    let Confinement { files, calls } = pool.confinement().unwrap();
    if calls {
        for job in [format!("connect {address}"), "run /bin/true".to_owned()] {
            assert!(say(&pool, &job).await.unwrap().contains("not permitted"), "{job}");
        }
    } else {
        println!("skipped: this kernel has no filters of system calls");
    }
    if files {
        for file in [&to_read, &to_write] {
            assert_eq!(say(&pool, &format!("read {file}")).await.unwrap(), "its text");
        }
        assert_eq!(say(&pool, &format!("overwrite {to_write}")).await.unwrap(), "opened");
        let new = path("new");
        let refused = [
            format!("read {closed}"),
            format!("overwrite {to_read}"),
            format!("write {new}"),
            "read /etc/passwd".to_owned(),
        ];
        for job in refused {
            assert!(say(&pool, &job).await.unwrap().contains("denied"), "{job}");
        }
        assert!(!std::fs::exists(&new).unwrap());
    } else {
        println!("skipped: this kernel has no Landlock");
    }
}

#[cfg(target_os = "linux")]
fn lives(pid: &str) -> bool {
    // A process that ended and was not waited for yet is a zombie.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

async fn a_job_that_nobody_waits_for_is_ended() {
    let pool = pool(1, 100);
    let worker = say(&pool, "pid").await.unwrap();
    let given_up = tokio::time::timeout(Duration::from_millis(100), pool.run(b"spin", TIME)).await;
    assert!(given_up.is_err());
    #[cfg(target_os = "linux")]
    while lives(&worker) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_ne!(say(&pool, "pid").await.unwrap(), worker);
}

async fn a_worker_that_died_while_it_waited_is_replaced() {
    let pool = pool(1, 100);
    let worker = say(&pool, "pid").await.unwrap();
    #[cfg(target_os = "linux")]
    {
        let killed = std::process::Command::new("kill").args(["-KILL", &worker]).status().unwrap();
        assert!(killed.success());
        while lives(&worker) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_ne!(say(&pool, "pid").await.unwrap(), worker);
    }
}

async fn what_is_too_large_or_cannot_start_is_said() {
    let working = pool(1, 100);
    for job in ["large".to_owned(), format!("echo {}", "x".repeat(MOST))] {
        let refused = say(&working, &job).await.unwrap_err();
        assert!(matches!(refused, WorkerError::TooLarge { .. }), "{refused}");
    }
    assert_eq!(say(&working, "echo x").await.unwrap(), "x");
    let mut config = config(1, 1);
    config.wait = Duration::from_millis(50);
    let taken = Pool::new(config);
    let (spun, waited) =
        tokio::join!(taken.run(b"spin", Duration::from_millis(500)), taken.run(b"echo x", TIME));
    assert!(spun.is_err() && waited == Err(WorkerError::Busy), "{waited:?}");
    let missing = Pool::new(PoolConfig {
        program: "/nowhere/lyra".into(),
        arguments: Vec::new(),
        limits: LIMITS,
        workers: 1,
        wait: TIME,
        jobs: 1,
        most_bytes: MOST,
    });
    let refused = say(&missing, "echo x").await.unwrap_err();
    assert!(matches!(&refused, WorkerError::Start { why } if why.contains("/nowhere/lyra")), "{refused}");
}

fn talks(workers: usize) -> Talks {
    let arguments = vec!["__worker".into(), "talks".into()];
    let wait = Duration::from_millis(50);
    Talks::new(
        Some(Pool::new(PoolConfig { arguments, wait, ..config(workers, 1) })),
        Arc::new(talk),
        "adding",
    )
}

async fn told(talk: &mut Talk, message: &str) -> Result<String, WorkerError> {
    let answer = talk.say(message.as_bytes().to_vec(), TIME).await;
    answer.map(|answer| String::from_utf8(answer).unwrap())
}

async fn a_job_takes_as_many_turns_as_it_needs() {
    let nowhere = Pool::new(PoolConfig { program: "/nowhere/lyra".into(), ..config(1, 1) });
    for talks in [talks(1), Talks::here(Arc::new(talk)), Talks::new(Some(nowhere), Arc::new(talk), "adding")]
    {
        let mut talk = talks.begin().await.unwrap();
        for _ in 0..2 {
            for (message, answer) in [("add", "0"), ("3", "3"), ("4", "7"), ("", "7 in all"), ("echo x", "x")]
            {
                assert_eq!(told(&mut talk, message).await.unwrap(), answer);
            }
        }
    }
    let talks = talks(1);
    let first = talks.begin().await.unwrap();
    assert_eq!(talks.begin().await.unwrap_err(), WorkerError::Busy);
    drop(first);
    assert!(talks.begin().await.is_ok());
}

async fn a_talk_ends_with_its_worker_and_its_worker_with_it() {
    let talks = talks(2);
    let mut talk = talks.begin().await.unwrap();
    assert_eq!(told(&mut talk, "add").await.unwrap(), "0");
    assert_eq!(told(&mut talk, "x").await.unwrap(), "0 in all");
    let mut beside = talks.begin().await.unwrap();
    let died = told(&mut beside, "panic").await.unwrap_err();
    assert!(matches!(&died, WorkerError::Died { how } if how.contains("101")), "{died}");
    assert!(matches!(told(&mut beside, "echo x").await, Err(WorkerError::Died { .. })), "it stays ended");
    #[cfg(target_os = "linux")]
    {
        drop(beside);
        let mut third = talks.begin().await.unwrap();
        assert_eq!(told(&mut third, "memory").await, Err(WorkerError::Memory { bytes: LIMITS.memory }));
        let worker = told(&mut talk, "pid").await.unwrap();
        drop(talk);
        while lives(&worker) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let mut late = talks.begin().await.unwrap();
    let limit = Duration::from_millis(100);
    assert_eq!(late.say(b"spin".to_vec(), limit).await, Err(WorkerError::Deadline { limit }));
    // A thread of this process ends when it turns to somebody who is gone.
    let mut here = Talks::here(Arc::new(talk_until_gone)).begin().await.unwrap();
    let gone = told(&mut here, "add").await.unwrap();
    drop(here);
    while std::fs::exists(&gone).unwrap() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Names a file, and removes it once the parent no longer listens.
fn talk_until_gone(_: Vec<u8>, parent: &dyn Turns) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    while parent.turn(file.path().to_str().unwrap().as_bytes()).is_ok() {}
    assert!(parent.is_over());
    Vec::new()
}

/// With `LYRA_WORKER_FIGURES`: what a job costs beside its work.
fn figures(runtime: &tokio::runtime::Runtime) {
    let Some(n) = std::env::var("LYRA_WORKER_FIGURES").ok().and_then(|n| n.parse::<u32>().ok()) else {
        return;
    };
    let measure = |what: &str, mut times: Vec<Duration>| {
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!("{what}: n {}, median {:?}, 95th percentile {:?}", times.len(), at(0.5), at(0.95));
    };
    runtime.block_on(async {
        let warm = pool(1, u32::MAX);
        say(&warm, "echo x").await.unwrap();
        let (mut jobs, mut starts) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let started = Instant::now();
            say(&warm, "echo x").await.unwrap();
            jobs.push(started.elapsed());
            let started = Instant::now();
            say(&pool(1, 1), "echo x").await.unwrap();
            starts.push(started.elapsed());
        }
        measure("a job of a warm worker", jobs);
        measure("start of a worker with its first job", starts);
    });
}
