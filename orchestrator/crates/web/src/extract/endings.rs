//! How the lines begin under which pages put what follows an article: comments, further articles, the author, forms.

/// Beginnings in lower case. Not `related` alone: papers have a section on related work.
const ENDINGS: &[&str] = &[
    // English
    "related articles", "related posts", "related stories", "related content", "related news", "related links", "related topics",
    "related coverage", "related reading", "read more", "read also", "read next", "also read", "see also", "more from",
    "more stories", "more news", "more articles", "more posts", "you may also", "you might also", "recommended for you",
    "recommended articles", "recommended reading", "recommended stories", "leave a comment", "leave a reply", "post a comment",
    "write a comment", "comments", "share this", "share on", "about the author", "sign up for", "subscribe to", "newsletter",
    "most read", "most popular", "trending", "latest news", "advertisement",
    // German
    "auch interessant", "das könnte", "mehr zum thema", "weitere artikel", "weitere beiträge", "weitere themen", "weitere news",
    "ähnliche artikel", "ähnliche beiträge", "verwandte artikel", "verwandte beiträge", "lesen sie auch", "lesen sie mehr",
    "mehr lesen", "kommentare", "kommentar schreiben", "kommentar verfassen", "schreibe einen kommentar",
    "hinterlasse einen kommentar", "über den autor", "über die autorin", "artikel teilen", "diesen artikel teilen", "teilen mit",
    "meistgelesen", "neueste artikel", "neueste beiträge",
    // French
    "à lire aussi", "lire aussi", "lire la suite", "sur le même sujet", "articles similaires", "articles liés", "commentaires",
    "laisser un commentaire", "à propos de l’auteur", "à propos de l'auteur", "partager", "les plus lus",
    // Spanish
    "te puede interesar", "también te puede", "lea también", "lee también", "leer más", "noticias relacionadas",
    "artículos relacionados", "comentarios", "deja un comentario", "dejá tu comentario", "compartir", "más noticias", "lo más leído",
    // Italian
    "leggi anche", "articoli correlati", "potrebbe interessarti", "commenti", "lascia un commento", "condividi",
    // Portuguese
    "leia também", "leia mais", "veja também", "notícias relacionadas", "artigos relacionados", "comentários",
    "deixe um comentário", "compartilhe", "mais lidas",
    // Dutch
    "lees ook", "lees meer", "gerelateerde", "reacties", "deel dit",
    // Polish
    "czytaj także", "czytaj też", "czytaj więcej", "zobacz także", "zobacz też", "powiązane artykuły", "komentarze",
    "udostępnij",
    // Japanese and Chinese
    "関連記事", "コメント", "おすすめ記事", "相关阅读", "相关文章", "相关新闻", "推荐阅读", "评论",
];

/// Whether a line begins as those do under which no more of the article stands.
pub(super) fn ends_article(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    ENDINGS.iter().any(|ending| {
        line.strip_prefix(ending).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}
