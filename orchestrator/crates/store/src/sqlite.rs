//! Calls into SQLite that sqlx has no words for: limits, the authorizer, a scalar function. The only unsafe code.
#![expect(unsafe_code, reason = "SQLite's C interface")]

use libsqlite3_sys as ffi;
use sqlx::SqliteConnection;
use sqlx::sqlite::LockedSqliteHandle;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Decides, while a statement is compiled, whether it may do something.
pub(crate) trait Authorizer: Send {
    /// `code` is one of SQLite's action codes, which determines the meaning of the names. `false` refuses the
    /// statement.
    fn allows(&mut self, code: i32, first: Option<&str>, second: Option<&str>) -> bool;
}

/// Defines `sqrt`, which the bundled SQLite is built without and the views need.
pub(crate) async fn add_functions(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;
    // SAFETY: the handle is valid while it is locked, the name is a C string, and `sqrt` has the signature and keeps
    // to the rules of a scalar function.
    let code = unsafe {
        ffi::sqlite3_create_function_v2(
            handle.as_raw_handle().as_ptr(),
            c"sqrt".as_ptr(),
            1,
            flags,
            ptr::null_mut(),
            Some(sqrt),
            None,
            None,
            None,
        )
    };
    if code == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(sqlx::Error::Protocol(format!("sqlite3_create_function: {code}")))
    }
}

/// Square root; null for anything but a number that has one.
unsafe extern "C" fn sqrt(
    context: *mut ffi::sqlite3_context,
    _count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: SQLite passes a valid context and, the function having been defined with one argument, one valid value.
    unsafe {
        let value = *arguments;
        let numeric =
            matches!(ffi::sqlite3_value_numeric_type(value), ffi::SQLITE_INTEGER | ffi::SQLITE_FLOAT);
        let number = ffi::sqlite3_value_double(value);
        if numeric && number >= 0.0 {
            ffi::sqlite3_result_double(context, number.sqrt());
        } else {
            ffi::sqlite3_result_null(context);
        }
    }
}

/// Lowers one of the connection's limits (`SQLITE_LIMIT_…`).
pub(crate) fn set_limit(handle: &mut LockedSqliteHandle<'_>, limit: i32, value: i32) {
    // SAFETY: the handle is valid while it is locked; an unknown limit is ignored by SQLite.
    unsafe { ffi::sqlite3_limit(handle.as_raw_handle().as_ptr(), limit, value) };
}

/// Bytes that SQLite has allocated in this process.
pub(crate) fn memory_used() -> i64 {
    // SAFETY: takes no argument and may be called from any thread.
    unsafe { ffi::sqlite3_memory_used() }
}

/// Sets the bytes that SQLite may allocate in this process.
pub(crate) fn set_heap_limit(bytes: i64) {
    // SAFETY: takes a number and may be called from any thread.
    unsafe { ffi::sqlite3_hard_heap_limit64(bytes) };
}

/// Asks this authorizer about everything that the connection compiles from now on. The connection owns it.
pub(crate) fn set_authorizer(
    handle: &mut LockedSqliteHandle<'_>,
    authorizer: Box<dyn Authorizer>,
) -> Result<(), sqlx::Error> {
    let data: *mut c_void = Box::into_raw(Box::new(authorizer)).cast();
    let database = handle.as_raw_handle().as_ptr();
    // SAFETY: the handle is valid while it is locked. `data` comes from `Box::into_raw` and is handed to the connection
    // as client data, which frees it with `free_authorizer` when the connection closes (or now, when this call fails):
    // the callback, which belongs to the same connection, cannot outlive it. SQLite calls it from one thread at a time.
    let code = unsafe {
        let kept =
            ffi::sqlite3_set_clientdata(database, c"lyra.authorizer".as_ptr(), data, Some(free_authorizer));
        if kept == ffi::SQLITE_OK {
            ffi::sqlite3_set_authorizer(database, Some(authorize), data)
        } else {
            kept
        }
    };
    if code == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(sqlx::Error::Protocol(format!("sqlite3_set_authorizer: {code}")))
    }
}

/// Asks no authorizer from now on.
pub(crate) fn remove_authorizer(handle: &mut LockedSqliteHandle<'_>) {
    // SAFETY: the handle is valid while it is locked. The data of the callback stays the connection's, which frees it.
    unsafe { ffi::sqlite3_set_authorizer(handle.as_raw_handle().as_ptr(), None, std::ptr::null_mut()) };
}

unsafe extern "C" fn free_authorizer(data: *mut c_void) {
    // SAFETY: `data` is the box made in `set_authorizer`, and SQLite calls its destructor once.
    drop(unsafe { Box::from_raw(data.cast::<Box<dyn Authorizer>>()) });
}

unsafe extern "C" fn authorize(
    data: *mut c_void,
    code: c_int,
    first: *const c_char,
    second: *const c_char,
    _database: *const c_char,
    _within: *const c_char,
) -> c_int {
    // SAFETY: `data` is the box made in `set_authorizer`, alive while the connection is and used by one thread at a
    // time; the names are null or C strings that live for the call.
    let (authorizer, first, second) =
        unsafe { (&mut *data.cast::<Box<dyn Authorizer>>(), name(first), name(second)) };
    // A panic must not unwind into C, and what panics is not allowed.
    let allowed = catch_unwind(AssertUnwindSafe(|| authorizer.allows(code, first, second)));
    if allowed.unwrap_or(false) { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}

/// # Safety
/// `text` is null or a C string that outlives `'a`.
unsafe fn name<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: by this function's contract.
    if text.is_null() { None } else { unsafe { CStr::from_ptr(text) }.to_str().ok() }
}
