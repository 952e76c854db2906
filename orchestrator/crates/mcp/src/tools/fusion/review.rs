//! Reading: peeks, snippets, publications.

use super::given::{CharsInput, chars, id_types};
use super::tidy;
use crate::reply::CONTENT_NOTICE;
use crate::tools::{Call, Effect, Failure, Tool};
use lyra_corpus::backend::IdType;
use lyra_usecases::fusion::{DocumentsRequest, PeekRequest};
use lyra_wire::fusion::{Documents, PeekView};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first documents of a run.
pub(in crate::tools) struct PeekSnippets;
/// Parts of documents.
pub(in crate::tools) struct GetSnippets;
/// Whole documents.
pub(in crate::tools) struct GetPublication;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct PeekSnippetsInput {
    /// Run of a lane or a fusion.
    #[schemars(length(min = 1, max = 100))]
    run_id: String,
    /// Documents to skip, default 0; continue with `next_offset`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    offset: usize,
    /// Most documents, 1 to 100, default 12.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Fields to show, default `title`, `abst` and `claim`. Also `desc`, `app_doc_id`, `app_id`, `pub_id`, `exam_id`,
    /// `app_date`, `pub_date`, `country`, `lang`, `applicants`, `cross_en_applicants`, `ipc_codes`, `cpc_codes`, `fi_codes`,
    /// `ft_codes`, `uspc_codes`, `locarno_codes`, `inventors`, `authors`, `priority_date`, `priorities`, `family_id`,
    /// `references`, `legal_status`, `legal_events`, `doi`, `venue`, `volume`, `pages`, `type`, `publisher`, `isbn`.
    #[serde(default)]
    #[schemars(length(max = 40))]
    fields: Vec<String>,
    /// Most characters of each field, default 80 for the title and 320 for the others.
    #[serde(default)]
    per_field_chars: CharsInput,
    /// Most bytes of the whole answer as JSON, 512 to 55000, default 12288.
    #[schemars(range(min = 512, max = 55_000))]
    budget_bytes: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct SnippetsInput {
    /// Document ids, 1 to 50.
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 500)))]
    ids: Vec<String>,
    /// Fields to show, default title, abst, claim and desc; as in `peek_snippets`.
    #[serde(default)]
    #[schemars(length(max = 40))]
    fields: Vec<String>,
    /// Most characters of each field, default 200 for the title, 600 for abst, 1000 for claim, 1200 for desc.
    #[serde(default)]
    per_field_chars: CharsInput,
    /// Run whose queries are highlighted in the texts; it also determines the corpus.
    #[schemars(length(min = 1, max = 100))]
    run_id: Option<String>,
    /// Query to highlight in the texts.
    #[schemars(length(min = 1, max = 20_000))]
    query: Option<String>,
    /// Corpus of the documents. Default: that of the run, else the only corpus.
    #[schemars(length(min = 1, max = 100))]
    corpus: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct PublicationInput {
    /// Numbers of documents, 1 to 10.
    #[schemars(length(min = 1, max = 10), inner(length(min = 1, max = 500)))]
    ids: Vec<String>,
    /// Kind of these numbers.
    #[serde(default)]
    #[schemars(schema_with = "id_types")]
    id_type: Option<IdType>,
    /// Fields to show, default all; as in `peek_snippets`.
    #[serde(default)]
    #[schemars(length(max = 40))]
    fields: Vec<String>,
    /// Most characters of each field, default 500 for the title, 4000 for abst, 16000 for claim, 30000 for desc. Texts
    /// that are too large together are truncated further, and the result says so.
    #[serde(default)]
    per_field_chars: CharsInput,
    /// Corpus of the documents. Default: the only corpus.
    #[schemars(length(min = 1, max = 100))]
    corpus: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct DocumentsOutput {
    #[serde(flatten)]
    documents: Documents,
    /// How to treat the fields named in `untrusted_fields`.
    content_notice: &'static str,
}

impl Tool for PeekSnippets {
    const NAME: &'static str = "peek_snippets";
    const TITLE: &'static str = "Peek at a run";
    const DESCRIPTION: &'static str = "Shows the beginnings of a run's documents, as many as fit a byte budget. \
        Continue with `next_offset`, and read promising documents with get_snippets.";
    const EFFECT: Effect = Effect::Reads;
    type Input = PeekSnippetsInput;
    type Output = PeekView;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
        tidy::texts(arguments);
    }

    async fn call(call: &Call, input: PeekSnippetsInput) -> Result<PeekView, Failure> {
        let usual = PeekRequest::default();
        let request = PeekRequest {
            run_id: input.run_id,
            offset: input.offset,
            limit: input.limit.unwrap_or(usual.limit),
            fields: input.fields,
            per_field_chars: chars(input.per_field_chars),
            budget_bytes: input.budget_bytes.unwrap_or(usual.budget_bytes),
        };
        Ok(call.app.fusion().peek(request).await?)
    }
}

impl Tool for GetSnippets {
    const NAME: &'static str = "get_snippets";
    const TITLE: &'static str = "Read snippets";
    const DESCRIPTION: &'static str = "Shows longer beginnings of a few documents' fields, with the passages that \
        match a run's queries or a given one, marked with **. Unknown ids are listed.";
    const EFFECT: Effect = Effect::Reads;
    type Input = SnippetsInput;
    type Output = DocumentsOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
        tidy::texts(arguments);
    }

    async fn call(call: &Call, input: SnippetsInput) -> Result<DocumentsOutput, Failure> {
        let request = DocumentsRequest {
            ids: input.ids,
            corpus: input.corpus,
            fields: input.fields,
            per_field_chars: chars(input.per_field_chars),
            run_id: input.run_id,
            query: input.query,
            ..DocumentsRequest::default()
        };
        let documents = call.app.fusion().snippets(request).await?;
        Ok(DocumentsOutput { documents, content_notice: CONTENT_NOTICE })
    }
}

impl Tool for GetPublication {
    const NAME: &'static str = "get_publication";
    const TITLE: &'static str = "Read a publication";
    const DESCRIPTION: &'static str = "Returns whole documents by any of their numbers: texts, numbers, dates, \
        applicants, codes. `cut` lists the fields that are truncated.";
    const EFFECT: Effect = Effect::Reads;
    type Input = PublicationInput;
    type Output = DocumentsOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
        tidy::texts(arguments);
    }

    async fn call(call: &Call, input: PublicationInput) -> Result<DocumentsOutput, Failure> {
        let request = DocumentsRequest {
            ids: input.ids,
            id_type: input.id_type.unwrap_or_default(),
            corpus: input.corpus,
            fields: input.fields,
            per_field_chars: chars(input.per_field_chars),
            ..DocumentsRequest::default()
        };
        let documents = call.app.fusion().publication(request).await?;
        Ok(DocumentsOutput { documents, content_notice: CONTENT_NOTICE })
    }
}
