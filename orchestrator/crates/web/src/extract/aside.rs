//! Lines by which a site speaks to its readers in the middle of a text: “subscribe to our newsletter”, “log in to
//! comment”, “Share: Facebook, Twitter”, “Views: 12”, “all rights reserved”. Told by words; the names of elements are
//! judged in `boilerplate`.

/// Characters of an appeal at most.
const APPEAL: usize = 240;
/// Characters that a line has at most when it says something of the page, such as its category.
const LABEL: usize = 120;
/// Characters of a word that names the page's category or the like, with its colon.
const NAME: usize = 28;

/// Words by which a reader is addressed.
const YOU: &[&str] = &[
    "you",
    "your",
    "please",
    "now",
    "du",
    "dich",
    "dir",
    "dein*",
    "ihr",
    "ihre*",
    "euch",
    "eure*",
    "sie",
    "bitte",
    "jetzt",
    "hier",
    "kostenlos*",
    "vous",
    "votre",
    "vos",
    "tu",
    "te",
    "tus",
    "su",
    "sus",
    "aquí",
    "gratis",
    "você",
    "seu",
    "sua",
    "tua",
    "je",
    "jouw",
    "uw",
    "swoj*",
    "вы",
    "вас",
    "ваш*",
];
/// Words by which a site speaks of itself.
const US: &[&str] = &[
    "us",
    "our",
    "my",
    "uns",
    "unser*",
    "meine*",
    "mir",
    "mich",
    "nous",
    "notre",
    "nos",
    "mon",
    "nuestr*",
    "mi",
    "noss*",
    "meu",
    "minha",
    "nostr*",
    "mio",
    "mia",
    "ons",
    "onze",
    "mijn",
    "nas",
    "nasz*",
    "нас",
    "наш*",
    "síguenos",
];
/// What may be subscribed to.
const LETTERS: &[&str] = &[
    "newsletter*",
    "inbox",
    "mailing",
    "subscription*",
    "subscriber*",
    "membership",
    "edition",
    "story",
    "stories",
    "updates",
    "alerts",
    "channel",
    "youtube",
    "email",
    "emails",
    "posteingang",
    "abo",
    "abonnement",
    "kanal",
    "weiterlesen",
    "weiterzulesen",
    "boletín",
    "boletim",
    "suscripción",
    "assinatura",
    "abbonamento",
    "nieuwsbrief*",
    "biuletyn*",
    "рассыл*",
    "канал*",
    "infolettre",
    "lettre",
];
const SUBSCRIBE: &[&str] = &[
    "subscribe",
    "subscribing",
    "sign",
    "register",
    "registering",
    "abonnier*",
    "abonnez",
    "abonner",
    "anmelden",
    "melde*",
    "registrier*",
    "inscri*",
    "suscrí*",
    "suscri*",
    "assine",
    "cadastre*",
    "iscriv*",
    "abbonati",
    "abonneer*",
    "schrijf",
    "zapisz",
    "subskryb*",
    "подпи*",
];
const FOLLOW: &[&str] = &[
    "follow",
    "like",
    "join",
    "find",
    "folg*",
    "besuch*",
    "suivez",
    "retrouvez",
    "rejoignez",
    "síg*",
    "sigue*",
    "siga",
    "curta",
    "segui*",
    "volg",
    "obserwuj",
    "polub",
    "подпи*",
];
const NETWORKS: &[&str] = &[
    "facebook",
    "twitter",
    "instagram",
    "telegram",
    "whatsapp",
    "youtube",
    "linkedin",
    "tiktok",
    "pinterest",
    "mastodon",
    "bluesky",
    "threads",
    "xing",
    "rss",
    "netzwerken",
    "google",
    "вконтакте",
];
const SUPPORT: &[&str] = &[
    "support",
    "supporting",
    "donate",
    "donation",
    "donating",
    "contribute",
    "contribution",
    "unterstütz*",
    "spende*",
    "spendier*",
    "soutenez",
    "soutenir",
    "apoya*",
    "apoie",
    "sostieni",
    "steun",
    "wesprzyj",
];
const WORK: &[&str] = &[
    "work",
    "journalism",
    "site",
    "website",
    "blog",
    "patreon",
    "paypal",
    "steady",
    "kaffeekasse",
    "arbeit",
    "seite",
    "journalismus",
    "redaktion",
    "form",
    "travail",
    "journal",
    "trabajo",
    "periodismo",
    "trabalho",
    "lavoro",
    "werk",
];
const SPEAK: &[&str] = &[
    "log",
    "login",
    "logged",
    "signed",
    "leave",
    "post",
    "write",
    "registered",
    "angemeldet",
    "eingeloggt",
    "einloggen",
    "anmelden",
    "registriert",
    "schreib*",
    "hinterlass*",
    "connecté*",
    "laissez",
    "connecter",
    "inicia*",
    "deja",
    "deixe",
    "lascia",
    "zaloguj*",
    "войдите",
    "ingelogd",
];
const COMMENTS: &[&str] = &[
    "comment",
    "comments",
    "commenting",
    "subscriber",
    "kommentar*",
    "kommentieren",
    "commentaire*",
    "comentar*",
    "commento",
    "commenti",
    "commentare",
    "komentarz*",
    "komentować",
    "комментар*",
    "reactie*",
];
const DOWNLOAD: &[&str] = &[
    "download",
    "get",
    "herunterladen",
    "laden",
    "lade",
    "descarga*",
    "téléchargez",
    "baixe",
    "scarica",
    "pobierz",
];
const APPS: &[&str] =
    &["app", "apps", "application", "aplicación", "aplicativo", "aplikacj*", "ios", "android"];
const USE: &[&str] = &[
    "use",
    "uses",
    "using",
    "verwende*",
    "nutz*",
    "benutz*",
    "setzen",
    "setzt",
    "utiliz*",
    "utilis*",
    "usa",
    "usamos",
    "gebruik*",
    "używa*",
    "использу*",
];
const COOKIES: &[&str] = &["cookie", "cookies", "kuki", "ciasteczek", "ciasteczka"];
const CONSENT: &[&str] = &[
    "accept",
    "agree",
    "consent",
    "continue",
    "experience",
    "settings",
    "opt",
    "zustimm*",
    "stimm*",
    "einverstanden",
    "akzeptier*",
    "erlebnis",
    "accepte*",
    "acceptez",
    "acept*",
    "aceit*",
    "accett*",
    "consenti",
    "akcept*",
    "ok",
];

/// What sites ask of their readers: to do what, with what, and the words of whom it is asked or who asks.
const APPEALS: &[[&[&str]; 3]] = &[
    [SUBSCRIBE, LETTERS, YOU],
    [SUBSCRIBE, LETTERS, US],
    [FOLLOW, NETWORKS, US],
    [SUPPORT, WORK, US],
    [SPEAK, COMMENTS, YOU],
    [DOWNLOAD, APPS, US],
    [USE, COOKIES, CONSENT],
];

/// Words between what is asked and with what, at most.
const CLOSE: usize = 10;

/// Words of buttons by which a text is passed on.
const SHARE: &[&str] = &[
    "share",
    "shares",
    "sharing",
    "tweet",
    "tweets",
    "pin",
    "likes",
    "gefällt",
    "teilen",
    "teile",
    "partager",
    "compartir",
    "compartilhar",
    "condividi",
    "udostępnij",
    "delen",
    "sociable",
    "drucken",
    "permalink",
];
/// Further words of such buttons and of the bars in which they stand.
const BUTTONS: &[&str] = &[
    "x",
    "reddit",
    "tumblr",
    "pocket",
    "flipboard",
    "messenger",
    "skype",
    "viber",
    "line",
    "vk",
    "email",
    "mail",
    "e",
    "feed",
    "print",
    "like",
    "mir",
    "be",
    "copy",
    "link",
    "imprimir",
    "imprimer",
    "stampa",
    "this",
    "on",
    "via",
    "auf",
    "mit",
    "save",
    "follow",
    "us",
    "folge",
    "uns",
    "comments",
    "comment",
    "post",
    "plus",
    "kommentare",
    "send",
    "enviar",
    "diesen",
    "den",
    "artikel",
    "article",
    "bei",
    "by",
    "to",
    "or",
    "and",
    "und",
    "per",
    "click",
    "here",
    "reply",
    "antworten",
    "pdf",
    "top",
    "the",
    "it",
];

/// Names of page metadata in lines of their own, before a colon.
const NAMES: &[&str] = &[
    "category",
    "categories",
    "tags",
    "tag",
    "tagged",
    "filed under",
    "posted in",
    "posted by",
    "posted on",
    "posted",
    "published by",
    "last updated",
    "updated",
    "views",
    "hits",
    "page views",
    "comments",
    "comments total",
    "news date",
    "release date",
    "reading time",
    "share",
    "share this",
    "kategorie",
    "kategorien",
    "schlagwörter",
    "schlagworte",
    "aufrufe",
    "kommentare",
    "kommentare insgesamt",
    "lesezeit",
    "hinzugefügt von",
    "teilen",
    "veröffentlicht in",
    "abgelegt unter",
    "catégorie",
    "catégories",
    "mots clés",
    "étiquettes",
    "publié dans",
    "categoría",
    "categorías",
    "etiquetas",
    "categoria",
    "categorie",
    "kategoria",
    "tagi",
    "gefällt mir",
];

/// How lines begin that say whose the page is.
const RIGHTS: &[&str] = &[
    "©",
    "copyright ",
    "(c) ",
    "all rights reserved",
    "alle rechte vorbehalten",
    "tous droits réservés",
    "todos los derechos reservados",
    "todos os direitos reservados",
    "tutti i diritti riservati",
    "wszelkie prawa zastrzeżone",
    "все права защищены",
];

/// Words of short lines that mark advertising.
const ADVERTISING: &[&str] = &[
    "anzeige",
    "werbung",
    "advertisement",
    "advertorial",
    "publicidad",
    "publicité",
    "pubblicità",
    "publicidade",
];

/// The same in scripts without spaces between words, in short lines.
const UNSPACED: &[&str] = &[
    "ログイン",
    "会員登録",
    "メルマガ",
    "フォローする",
    "シェアする",
    "ツイート",
    "コメントを",
    "关注我们",
    "公众号",
    "登录",
    "注册",
    "订阅",
    "分享到",
    "扫一扫",
    "로그인",
    "구독",
    "공유하기",
];
/// Characters of such a line.
const UNSPACED_LINE: usize = 24;

/// Whether a block of running text is such a line.
pub(super) fn is_aside(text: &str) -> bool {
    let length = text.chars().count();
    if length > APPEAL || text.starts_with(['"', '“', '„', '«', '»', '「']) {
        return false;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    is_buttons(&words)
        || is_appeal(&words)
        || (length <= LABEL && is_named(&lower))
        || RIGHTS.iter().any(|right| lower.starts_with(right))
        || (words.len() <= 6 && words.iter().any(|word| ADVERTISING.contains(word)))
        || (length <= UNSPACED_LINE && UNSPACED.iter().any(|phrase| lower.contains(phrase)))
        || is_clock(&words)
}

/// Asks the reader for something that the site offers.
fn is_appeal(words: &[&str]) -> bool {
    APPEALS.iter().any(|[asks, objects, persons]| {
        let places = |list: &'static [&str]| (0..words.len()).filter(move |at| has(list, words[*at]));
        let is_asked = |ask: usize| {
            places(objects).any(|object| object != ask && object.abs_diff(ask) <= CLOSE)
                && (ask == 0 || places(persons).any(|person| person != ask))
        };
        places(asks).any(is_asked)
    })
}

fn has(list: &[&str], word: &str) -> bool {
    list.iter().any(|entry| entry.strip_suffix('*').map_or(*entry == word, |begin| word.starts_with(begin)))
}

/// Consists of the labels of buttons.
fn is_buttons(words: &[&str]) -> bool {
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let is_button = |word: &&str| BUTTONS.contains(word) || SHARE.contains(word) || NETWORKS.contains(word);
    let strong = words.iter().filter(|word| SHARE.contains(word) || NETWORKS.contains(word)).count();
    let shares = words.iter().any(|word| SHARE.contains(word));
    (strong >= 2 || shares) && words.iter().all(|word| is_button(word) || is_number(word))
}

/// Begins with the name of what it tells of the page, and a colon.
fn is_named(lower: &str) -> bool {
    let lower = lower.trim_start_matches(['-', ' ', '|', '/']);
    let Some((name, _)) = lower.split_once([':', '：']) else { return false };
    name.chars().count() <= NAME && NAMES.contains(&name.trim())
}

/// Tells of an author: begins with the name, and goes on with what that person is or does.
pub(super) fn is_portrait(text: &str, authors: &[String]) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |author: &String| {
        let rest = text.strip_prefix(author.as_str())?;
        let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.next().map(|word| DOES.contains(&word))
    };
    text.chars().count() <= PORTRAIT && authors.iter().any(|author| begins(author) == Some(true))
}

/// Characters of a portrait at most.
const PORTRAIT: usize = 700;
/// With what a portrait goes on after the name.
const DOES: &[&str] = &[
    "is",
    "was",
    "has",
    "writes",
    "works",
    "teaches",
    "covers",
    "reports",
    "joined",
    "lives",
    "studied",
    "ist",
    "war",
    "hat",
    "schreibt",
    "arbeitet",
    "lehrt",
    "leitet",
    "lebt",
    "studierte",
    "est",
    "a",
    "travaille",
    "es",
    "ha",
    "escribe",
    "trabaja",
    "é",
    "escreve",
    "è",
    "scrive",
    "lavora",
    "jest",
    "pisze",
];

/// A time of the day.
fn is_clock(words: &[&str]) -> bool {
    (2..=4).contains(&words.len())
        && words.iter().all(|word| {
            (word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit()))
                || matches!(*word, "am" | "pm" | "uhr" | "h")
        })
        && words.iter().any(|word| matches!(*word, "am" | "pm" | "uhr"))
}
