//! Access tokens for remote callers: shown once, stored as a hash.

use crate::rows::RowExt;
use crate::store::stamp;
use crate::{Result, Store, StoreError, private};
use lyra_domain::{hex, named_enum};
use serde::Serialize;
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteRow;
use std::path::Path;
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The prefix of every token, for secret scanners.
const PREFIX: &str = "lyra_";
/// Digits of the public part.
const ID_DIGITS: usize = 12;

named_enum! {
    /// What a token allows.
    pub enum Scope {
        /// Tools that change nothing, and GET requests.
        Read = "read",
        /// Everything.
        Full = "full",
    }
}

/// A stored token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// Public part, by which logs may name it.
    pub id: String,
    /// Its name: who or what it is for.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// When it was created, RFC 3339.
    pub created_at: String,
    /// When it expires.
    pub expires_at: Option<String>,
    /// When it was last let in, to the minute.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A new token with the one chance to see it.
#[derive(Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The stored token.
    pub token: Token,
    /// The token itself: a secret.
    pub text: String,
}

/// Why a token is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRefusal {
    /// It is unknown.
    Unknown,
    /// Its time is over.
    Expired,
    /// It was revoked.
    Revoked,
}

impl Store {
    /// Creates a token of 256 bits, of which 244 are random.
    ///
    /// # Errors
    /// [`StoreError::TokenExists`] when an active token has that name.
    pub async fn create_token(
        &self,
        name: &str,
        scope: Scope,
        expires_at: Option<jiff::Timestamp>,
    ) -> Result<NewToken> {
        let id = &Uuid::new_v4().simple().to_string()[..ID_DIGITS];
        let text = format!("{PREFIX}{id}_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut tx = self.write().await?;
        let taken: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM private.access_tokens WHERE name = ? AND revoked_at IS NULL)",
        )
        .bind(name)
        .fetch_one(&mut *tx)
        .await?;
        if taken {
            return Err(StoreError::TokenExists { name: name.to_owned() });
        }
        let row = sqlx::query(
            "INSERT INTO private.access_tokens (id, name, scope, token_hash, created_at, expires_at)
             VALUES (?, ?, ?, ?, ?, ?) RETURNING *",
        )
        .bind(id)
        .bind(name)
        .bind(scope.as_str())
        .bind(hash(&text))
        .bind(self.stamp())
        .bind(expires_at.map(stamp))
        .fetch_one(&mut *tx)
        .await?;
        let token = token(&row)?;
        drop(row);
        tx.commit().await?;
        Ok(NewToken { token, text })
    }

    /// All tokens, newest first, including revoked and expired ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn tokens(&self) -> Result<Vec<Token>> {
        let found = sqlx::query("SELECT * FROM private.access_tokens ORDER BY seq DESC")
            .fetch_all(self.reader())
            .await?;
        found.iter().map(token).collect()
    }

    /// Revokes an active token immediately, by id or name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when no active token has that id or name.
    pub async fn revoke_token(&self, name_or_id: &str) -> Result<Token> {
        let mut tx = self.write().await?;
        let row = sqlx::query(
            "UPDATE private.access_tokens SET revoked_at = ?2 WHERE (id = ?1 OR name = ?1) AND revoked_at IS NULL RETURNING *",
        )
        .bind(name_or_id)
        .bind(self.stamp())
        .fetch_optional(&mut *tx)
        .await?
        .ok_or_else(|| StoreError::not_found("active token", format_args!("`{name_or_id}`")))?;
        let token = token(&row)?;
        drop(row);
        tx.commit().await?;
        Ok(token)
    }

    /// Revokes the tokens that were revoked in other data, such as that which a restored backup replaces; `database` is the file
    /// of that data, whatever version of Lyra wrote it. Returns how many of them were active until now.
    ///
    /// # Errors
    /// When one of the two cannot be used.
    pub async fn carry_revocations(&self, database: &Path) -> Result<u64> {
        let mut carried = 0;
        let revoked = private::load_revoked(database).await?;
        let mut tx = self.write().await?;
        for (id, at) in revoked {
            let sql = "UPDATE private.access_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL";
            carried += sqlx::query(sql).bind(at).bind(id).execute(&mut *tx).await?.rows_affected();
        }
        tx.commit().await?;
        Ok(carried)
    }

    /// Looks up a token. The response time does not reveal how much of the secret is correct.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn authenticate(&self, text: &str) -> Result<Result<Token, TokenRefusal>> {
        let id = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).map_or("", |(id, _)| id);
        let row = sqlx::query("SELECT * FROM private.access_tokens WHERE id = ?")
            .bind(id)
            .fetch_optional(self.reader())
            .await?;
        let kept: String = row.as_ref().map(|row| row.value("token_hash")).transpose()?.unwrap_or_default();
        let same = bool::from(kept.as_bytes().ct_eq(hash(text).as_bytes()));
        let Some(row) = row.filter(|_| same) else { return Ok(Err(TokenRefusal::Unknown)) };
        let token = token(&row)?;
        Ok(if token.revoked_at.is_some() {
            Err(TokenRefusal::Revoked)
        } else if token.expires_at.as_ref().is_some_and(|end| *end <= self.stamp()) {
            Err(TokenRefusal::Expired)
        } else {
            Ok(token)
        })
    }

    /// Notes that a token was let in now.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn note_token_use(&self, id: &str) -> Result<()> {
        let mut tx = self.write().await?;
        sqlx::query("UPDATE private.access_tokens SET last_used_at = ? WHERE id = ?")
            .bind(self.stamp())
            .bind(id)
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }
}

/// A fast hash is enough: 2^244 secrets cannot be tried.
fn hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn token(row: &SqliteRow) -> Result<Token> {
    Ok(Token {
        id: row.value("id")?,
        name: row.value("name")?,
        scope: row.parsed("scope")?,
        created_at: row.value("created_at")?,
        expires_at: row.value("expires_at")?,
        last_used_at: row.value("last_used_at")?,
        revoked_at: row.value("revoked_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use std::time::Duration;

    #[tokio::test]
    async fn a_token_is_shown_once_and_kept_as_a_hash() {
        let bench = Bench::new().await;
        let made = bench.store.create_token("agent", Scope::Read, None).await.unwrap();
        assert_eq!(made.text.len(), PREFIX.len() + ID_DIGITS + 1 + 64);
        let secret = made.text.rsplit('_').next().unwrap();
        for file in std::fs::read_dir(bench.path().parent().unwrap()).unwrap() {
            let path = file.unwrap().path();
            let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            assert!(!bytes.windows(64).any(|part| part == secret.as_bytes()), "{}", path.display());
        }
        assert_eq!(bench.store.authenticate(&made.text).await.unwrap(), Ok(made.token.clone()));
        let again = bench.store.create_token("agent", Scope::Full, None).await;
        assert!(again.is_err_and(|error| error.to_string().contains("a token `agent` already")));
    }

    #[tokio::test]
    async fn only_the_whole_token_in_its_time_is_let_in() {
        let bench = Bench::new().await;
        let ends = bench.store.now() + Duration::from_mins(10);
        let made = bench.store.create_token("agent", Scope::Full, Some(ends)).await.unwrap();
        let refused = async |text: &str| bench.store.authenticate(text).await.unwrap().unwrap_err();
        let mut wrong = made.text.clone();
        wrong.replace_range(wrong.len() - 1.., if wrong.ends_with('0') { "1" } else { "0" });
        let other_id = made.text.replacen(&made.token.id, "000000000000", 1);
        for text in ["", "lyra_", "lyra__", &wrong, &other_id, &made.text[..made.text.len() - 1], "日本語"]
        {
            assert_eq!(refused(text).await, TokenRefusal::Unknown, "{text}");
        }
        bench.clock.advance(Duration::from_mins(10));
        assert_eq!(refused(&made.text).await, TokenRefusal::Expired);

        let made = bench.store.create_token("other", Scope::Full, None).await.unwrap();
        bench.store.note_token_use(&made.token.id).await.unwrap();
        assert!(bench.store.tokens().await.unwrap()[0].last_used_at.is_some());
        assert!(bench.store.revoke_token("other").await.unwrap().revoked_at.is_some());
        assert_eq!(refused(&made.text).await, TokenRefusal::Revoked);
        assert!(matches!(bench.store.revoke_token("other").await, Err(StoreError::NotFound { .. })));
        // The name is available again.
        bench.store.create_token("other", Scope::Read, None).await.unwrap();
    }
}
