//! One small page for each rule on what is main text.

use super::*;
use proptest::prelude::*;

const LEAD: &str =
    "The town council of Lower Quay has decided to keep its old tram, after a debate of nine hours.";
const FIRST: &str = "The line was built in 1911, and carried miners to the harbor, who paid two pence for the ride. \
    Since the mine closed, it has carried pupils, tourists and, on market days, goats.";
const SECOND: &str = "Repairs will cost less than was feared, the engineers said, because the rails were laid deep, in \
    gravel that does not freeze. The work begins in spring, when the school is closed, and ends before the first fair.";

fn text_of(body: &str) -> String {
    let html = format!("<html lang=en><head><title>The tram stays</title></head><body>{body}</body></html>");
    Extracted::from_html(&html, &Url::parse("https://paper.example/2020/tram").unwrap()).text
}

/// An article with something in it, after its first paragraph.
fn article_with(part: &str) -> String {
    text_of(&format!(
        "<main><article><h1>The tram stays</h1><p>{FIRST}</p>{part}<p>{SECOND}</p><p>{LEAD}</p></article></main>"
    ))
}

fn single(text: &str) -> String {
    crate::dom::single_spaces(text)
}

#[track_caller]
fn assert_article(text: &str) {
    for part in [FIRST, SECOND, LEAD] {
        assert!(single(text).contains(&single(part)), "lost {part:?} of {text}");
    }
}

#[test]
fn what_stands_beside_the_text_is_cleared() {
    for (part, word) in [
        (
            "<div class='cookie-banner'><p>We use biscuits, and so do others, to know you.</p></div>",
            "biscuits",
        ),
        ("<div id=gdprConsent><p>I agree that biscuits are kept for a year.</p></div>", "biscuits"),
        (
            "<div class='author-box'><p>Ann Lee has written on trams since 1999, and lives by the sea.</p></div>",
            "Ann Lee",
        ),
        (
            "<div class='newsletterSignup'><p>Our best stories, each Friday, in your mailbox.</p></div>",
            "Friday",
        ),
        (
            "<form action=/x><p>Write to us, we will answer.</p><input name=mail><button>Send</button></form>",
            "Write to us",
        ),
        ("<ul class='share-bar'><li>Post this</li><li>Pin this</li></ul>", "Pin this"),
        (
            "<section class='related-posts'><p>Buses, too, are old in Lower Quay, says a report.</p></section>",
            "Buses",
        ),
        ("<div class=comments><p>I rode it when I was six, and it was cold.</p></div>", "I rode it"),
        (
            "<div class='entry-meta'><p>Filed under transport, by the desk, on Monday.</p></div>",
            "Filed under",
        ),
        ("<div>Reading time 4 min</div>", "Reading time"),
        ("<figure><img src=a.jpg alt=''><figcaption>A tram. Photo: Ann Lee</figcaption></figure>", "Photo"),
        ("<div class='wrap'><a href='/a'>Harbor</a> <a href='/b'>Weather and tides</a></div>", "Weather"),
        ("<p><a href='/2019/bus'>Council sells the last bus</a></p>", "last bus"),
        (
            "<ul><li><a href='/a'>Goats on the line</a></li><li><a href='/b'>The mine in pictures</a></li></ul>",
            "Goats on",
        ),
        ("<p aria-hidden=true>Not to be seen by anyone at all.</p>", "Not to be seen"),
    ] {
        let text = article_with(part);
        assert!(!text.contains(word), "{part}: {text}");
        assert_article(&text);
    }
}

#[test]
fn what_belongs_to_the_text_stays() {
    for (part, words) in [
        ("<p class='no-sidebar has-ads'>No one will have to walk, said the mayor.</p>", "No one will"),
        (
            "<div class='category-newsletter tag-cookies'><p>No one will have to walk, said the mayor.</p></div>",
            "No one will",
        ),
        (
            "<div id='sharing-the-line-with-the-buses'><p>No one will have to walk, said the mayor.</p></div>",
            "No one will",
        ),
        (
            "<p><span class=dateline>Lower Quay</span> No one will have to walk, said the mayor.</p>",
            "Lower Quay No one",
        ),
        ("<pre><code><span class='token comment'>// the tram</span>\nrun();</code></pre>", "// the tram"),
        (
            "<ul><li>Rails of steel, forty tons in all</li><li>Sleepers of oak, from the old mine</li></ul>",
            "- Rails of steel",
        ),
        (
            "<table><tr><th>Year</th><th>Riders</th></tr><tr><td>1911</td><td>4000</td></tr></table>",
            "1911 | 4000",
        ),
        (
            "<p>The council has put all its papers on the decision on these pages of its own:</p>
             <ul><li><a href='/a'>The minutes of the debate</a></li><li><a href='/b'>The report</a></li></ul>",
            "The minutes",
        ),
        (
            "<ul><li><a href='https://rail.example/a'>Lee 2019, Trams</a></li>
             <li><a href='https://mine.example/b'>Ek 2018, Mines</a></li></ul>",
            "Ek 2018",
        ),
        (
            "<figure><img src=a.jpg alt=''><figcaption>Figure 2. Riders per year</figcaption></figure>",
            "Figure 2",
        ),
        (
            "<h2>Related work</h2><p>Other towns have kept their trams, and none has come to regret it so far.</p>",
            "Other towns",
        ),
    ] {
        let text = article_with(part);
        assert!(text.contains(words), "{part}: {text}");
        assert_article(&text);
    }
}

#[test]
fn nothing_follows_the_end_of_an_article() {
    for part in [
        "<h3>You may also like</h3><ul><li>Five trams that run at night</li><li>A bus with wings</li></ul>",
        "<h3>Lesen Sie auch</h3><p>Five trams that run at night</p>",
        "<p>関連記事</p><p>Five trams that run at night</p>",
    ] {
        let text = text_of(&format!(
            "<article><h1>The tram stays</h1><p>{FIRST}</p><p>{SECOND}</p><p>{LEAD}</p>{part}</article>"
        ));
        assert!(!text.contains("Five trams"), "{text}");
        assert_article(&text);
    }
    // The next section of the same level is part of the article again.
    let text = text_of(&format!(
        "<article><p>{FIRST}</p><p>{SECOND}</p><p>{LEAD}</p><h2>See also</h2><p>Goats</p><h2>Notes</h2><ol><li>Lee, Trams \
         of the \
         coast, 1987, page 11</li></ol></article>"
    ));
    assert!(!text.contains("Goats") && text.contains("1987"), "{text}");
}

#[test]
fn a_short_article_with_a_long_menu() {
    let item = "<li><a href='/office'>Department of parks, with all of its offices and their hours</a></li>";
    let menu = item.repeat(60);
    let short = "The pool is closed on Monday, because its water is changed, and opens at noon on Tuesday.";
    for element in ["article", "div class=entry-content", "div itemprop=articleBody", "main"] {
        let name = element.split(' ').next().unwrap();
        let text = text_of(&format!(
            "<div><ul>{menu}</ul></div><{element}>{short}</{name}><div><ul>{menu}</ul></div>"
        ));
        assert!(text.contains(short) && !text.contains("Department"), "{element}: {text}");
    }
}

#[test]
fn the_choices_of_a_field_are_no_text() {
    let months = "<option>Month 7 of the archive</option>".repeat(300);
    let text = text_of(&format!(
        "<div><h1>The tram stays</h1><p>{LEAD}</p><p>{SECOND}</p><select name=month>{months}</select></div>"
    ));
    assert!(text.contains("nine hours") && !text.contains("Month 7"), "{text}");
}

#[test]
fn leads_and_lists_that_the_rules_leave_out_are_put_back() {
    let text = text_of(&format!(
        "<article><header class=top><h1>The tram stays</h1><div class=standfirst><p>{LEAD}</p></div></header>
         <div class='article-body'><p>{FIRST}</p><p>{SECOND}</p><p>{FIRST}</p></div></article>"
    ));
    assert_article(&text);
    assert!(text.find("nine hours") < text.find("1911"), "{text}");
}

#[test]
fn a_lead_that_the_description_repeats_is_put_before_the_text() {
    let page = |description: &str, before: &str, first: &str| {
        let html = format!(
            "<html lang=en><head><title>The tram stays</title><meta name=description content='{description}'></head><body>
             <div class=hero><h1>The tram stays</h1>{before}</div>
             <article>{first}<p>{FIRST}</p><p>{SECOND}</p><p>{FIRST}</p></article></body></html>"
        );
        Extracted::from_html(&html, &Url::parse("https://paper.example/2020/tram").unwrap())
    };
    let linked = LEAD.replace("old tram", "<a href='https://rail.example/'>old tram</a>");
    for lead in [format!("<div class=teaser><h2>{linked}</h2></div>"), format!("<div><p>{linked}</p></div>")]
    {
        let found = page(LEAD, &lead, "");
        assert!(
            found.text.starts_with(LEAD) && found.text.matches("nine hours").count() == 1,
            "{}",
            found.text
        );
        let link = &found.links[0];
        let words: String = found.text.chars().skip(link.start as usize).take(8).collect();
        assert_eq!((words.as_str(), link.block), ("old tram", 0));
        assert_article(&found.text);
    }
    let hero = format!("<div class=teaser><h2>{LEAD}</h2></div>");
    // What the text begins with is no lead of its own, and neither is what no reader sees or no description repeats.
    let once = page(LEAD, &hero, &format!("<p>{LEAD}</p>")).text;
    assert_eq!(once.matches("nine hours").count(), 1, "{once}");
    for (description, before) in [
        (LEAD, format!("<div style='display:none'><h2 data-lyra-at=9>{LEAD}</h2></div>")),
        ("All about trams, buses, and goats.", hero),
        (LEAD, String::new()),
    ] {
        assert!(!page(description, &before, "").text.contains("nine hours"), "{before}");
    }
}

#[test]
fn comments_that_are_the_text_stay() {
    let minute = |n| {
        format!("<div class='live-comment'><p>Minute {n}: the tram leaves, and a goat looks on.</p></div>")
    };
    let body = (0..12).map(minute).collect::<Vec<_>>().concat();
    let text =
        text_of(&format!("<main><h1>The last ride, live</h1><div class='live-comments'>{body}</div></main>"));
    assert!(text.contains("Minute 3") && text.contains("Minute 11"), "{text}");
}

#[test]
fn the_text_stands_under_the_title() {
    let title = "<div><h1>The tram stays</h1></div>";
    let voice = |n| {
        format!(
            "<p>Rider {n} writes that the tram is slow, cold, loud, late, and the best thing in town.</p>"
        )
    };
    let voices = (0..20).map(voice).collect::<String>();
    // Longer than the article, and not named as what they are.
    let text = text_of(&format!(
        "<div>{title}<div><p>{LEAD}</p><p>{FIRST}</p></div></div><h3>Comments</h3><div>{voices}</div>"
    ));
    assert!(text.contains("nine hours") && text.contains("1911") && !text.contains("Rider"), "{text}");
    // Before the title, and longer than the article.
    let banner = format!("<div><p>{SECOND}</p><p>{SECOND}</p></div>");
    let text = text_of(&format!("{banner}<div>{title}<div><p>{LEAD}</p><p>{FIRST}</p></div></div>"));
    assert!(text.contains("nine hours") && text.contains("1911"), "{text}");
    // A consent notice is not main text, however long.
    let consent =
        "<p>We use cookies to know you. You can refuse cookies, or accept all cookies of this page.</p>"
            .repeat(9);
    let text = text_of(&format!(
        "<div>{consent}</div><section>{title}<div><p>{LEAD}</p><p>{FIRST}</p></div></section>"
    ));
    assert!(text.contains("nine hours") && !text.contains("cookies"), "{text}");
}

#[test]
fn the_site_speaks_to_its_readers() {
    for line in [
        "Subscribe now to our newsletter.",
        "Abonnieren Sie jetzt unseren Newsletter!",
        "Inscrivez-vous gratuitement : notre newsletter, chaque matin.",
        "You must be logged in to post a comment.",
        "Du musst angemeldet sein, um einen Kommentar abzugeben.",
        "Follow us on Twitter and Facebook.",
        "If you enjoyed this, would you consider supporting our work?",
        "This site uses cookies to improve your experience.",
        "© 2020 The Lower Quay Paper. It may not be printed elsewhere without its leave.",
        "Category: Transport",
        "Facebook Twitter Pinterest",
    ] {
        let text = article_with(&format!("<p>{line}</p>"));
        assert!(!text.contains(line), "{line}: {text}");
        assert_article(&text);
    }
    for line in [
        "The council will support the work of the museum with 40,000 pounds a year.",
        "“Subscribe to our newsletter,” the mayor had said, and few did.",
        "Riders share the tram with goats and mail.",
        "Facebook and Twitter were asked for comment, and gave none.",
        "The cookies that are sold on board come from the bakery at the harbor.",
    ] {
        let text = article_with(&format!("<p>{line}</p>"));
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn an_author_is_told_apart_from_the_text() {
    let portrait = "Ann Lee is a reporter at the paper, and the owner of two goats.";
    let text = text_of(&format!(
        "<script type='application/ld+json'>{{\"@type\": \"NewsArticle\", \"author\": {{\"name\": \"Ann Lee\"}}}}</script>
         <article><h1>The tram stays</h1><p>{LEAD}</p><p>{FIRST}</p><p>{SECOND}</p><p>{portrait}</p></article>"
    ));
    assert!(!text.contains(portrait), "{text}");
    assert_article(&text);
}

#[test]
fn in_a_forum_comments_are_the_text() {
    let menu = "<li><a href='/forum'>Trams, buses and all that runs on rails</a></li>".repeat(30);
    let text = text_of(&format!(
        "<ul>{menu}</ul><h1>The tram stays</h1><div class=thread><div class=comment>{LEAD}</div></div><ul>{menu}</ul>"
    ));
    assert!(text.contains("nine hours") && !text.contains("buses"), "{text}");
}

#[test]
fn texts_that_only_scripts_would_show() {
    let body = format!("{FIRST}\n{SECOND}\n{LEAD}");
    let ld = serde_json::json!({ "@graph": [{ "@type": "NewsArticle", "articleBody": body }] });
    assert_article(&text_of(&format!(
        "<script type='application/ld+json'>{ld}</script><div id=app>Loading</div>"
    )));
    let template = format!("<p>{FIRST}</p><p>{SECOND}</p><p>{LEAD}</p>");
    assert_article(&text_of(&format!(
        "<div itemprop=articleBody><p>A tram.</p><script type='text/template'>{template}</script></div>"
    )));
    // A page that shows its text needs none of that.
    let text = text_of(&format!(
        "<script type='application/ld+json'>{{\"articleBody\": \"{}\"}}</script>
         <article><p>{FIRST}</p><p>{SECOND}</p></article>",
        "Something else. ".repeat(200)
    ));
    assert!(!text.contains("Something else"), "{text}");
}

#[test]
fn words_are_whole() {
    let text = article_with(
        "<p>Mit\u{ad}tel\u{ad}al\u{ad}ter, and <a href='https://b.example/'>rail\u{ad}way</a> tunnels too.</p>",
    );
    assert!(text.contains("Mittelalter, and railway tunnels too."), "{text}");
    let text = article_with("<p><ruby>眠<rp>(</rp><rt>ねむ</rt><rp>)</rp></ruby>りは大切です。</p>");
    assert!(text.contains("眠りは大切です。"), "{text}");
}

#[test]
fn many_lines_that_end_articles_take_no_time_of_their_own() {
    let lines = "<h2>Read more</h2><p>A tram goes by, and then another one.</p>".repeat(5_000);
    assert!(article_with(&lines).contains("1911"));
}

proptest! {
    #[test]
    fn any_page_gives_blocks_in_order_and_links_in_them(
        parts in prop::collection::vec(
            prop_oneof![
                "<(main|article|div|p|ul|li|h2|nav|aside|form|footer|figure|figcaption|table|tr|td|ruby|rt)>",
                "<(main|div|section|ul|p) (class|id|itemprop|role)='(entry-content|articleBody|comments|share|no-ads|x)'>",
                "</(main|article|div|p|ul|li|h2|nav|form|td|table)>",
                "(<a href='(/x|https://o.example/)'>|</a>|<input>)",
                "(Read more|Comments:|[A-Z][a-z昼寝é\u{ad} ]{1,40}[.:]? ?)",
                "<meta name=description content='The tram goes by, and all the goats look on from the hill.'>",
                "<h2>The tram goes by, and <a href=/goats>all the goats</a> look on from the hill.</h2>",
            ],
            0..80,
        )
    ) {
        let html = parts.concat();
        let found = Extracted::from_html(&html, &Url::parse("https://paper.example/").unwrap());
        let chars: Vec<char> = found.text.chars().collect();
        let mut at = 0;
        for (i, block) in found.blocks.iter().enumerate() {
            prop_assert_eq!(block.start, if i == 0 { 0 } else { at + 2 });
            prop_assert!(block.start < block.end && block.end as usize <= chars.len());
            at = block.end;
        }
        prop_assert_eq!(at as usize, chars.len());
        for link in &found.links {
            let block = &found.blocks[link.block];
            prop_assert!((block.start..block.end).contains(&link.start));
            prop_assert_eq!(Some(chars[link.start as usize]), link.text.chars().next());
        }
    }
}
