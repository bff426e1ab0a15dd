//! One HTML page that needs nothing else: sections, tables, pictures.
//!
//! ```text
//! let mut page = Page::new("raymond", "10 nodes, simulated");
//! page.banner(Tone::Good, "holds", &[]);
//! let numbers = page.section("Numbers");
//! numbers.say("Messages are counted where they are sent.");
//! numbers.table(&Table::new(["kind", "sent"]).rows([vec![Cell::text("REQUEST"), Cell::number("12")]]));
//! numbers.figure(&svg, "Wait over time.");
//! fs::write("report.html", page.html())
//! ```
//!
//! All text is escaped where it is added; what is inlined as SVG must have been drawn by us. There is
//! no script and no address of another host on the page, and its colours follow the reader's.

use std::fmt::Write;

use crate::pictures::palette;

/// A page: what it is about, what came out, and the sections.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    title: String,
    about: String,
    banner: String,
    sections: Vec<Section>,
    provenance: Section,
}

/// Whether a text is good news or bad, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    Unsure,
    Plain,
}

/// A heading and what stands under it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    heading: String,
    body: String,
}

/// A table, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    class: &'static str,
    leads_to: Option<String>,
}

/// How the pages look, in the light, in the dark and in print.
const STYLE: &str = include_str!("page.css");

/// A cell of no more letters is not wrapped.
const SHORT: usize = 24;

/// A page needs nothing but its own styles: whatever else somebody has smuggled into a plot that is
/// shown in it does nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// With more sections than this a page begins with a list of them.
const FEW_SECTIONS: usize = 3;

impl Page {
    /// A page with this title, and a line that says what it is about.
    pub(crate) fn new(title: &str, about: &str) -> Self {
        Self {
            title: title.to_owned(),
            about: about.to_owned(),
            banner: String::new(),
            sections: Vec::new(),
            provenance: Section::new("Where this comes from"),
        }
    }

    /// What came out, above everything else, with a sentence for each reason.
    pub(crate) fn banner(&mut self, tone: Tone, words: &str, reasons: &[String]) {
        let mut list = Section::new("");
        list.list(reasons);
        self.banner = format!(
            "<div class=\"banner {}\"><strong>{}</strong>{}</div>\n",
            tone.class(),
            escaped(words),
            list.body
        );
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, heading: &str) -> &mut Section {
        self.sections.push(Section::new(heading));
        self.sections.last_mut().expect("it was just added")
    }

    /// The box at the end, for everything that differs each time the page is made: machine, time,
    /// command.
    pub(crate) fn provenance(&mut self) -> &mut Section {
        &mut self.provenance
    }

    /// The whole page.
    pub(crate) fn html(&self) -> String {
        let (title, about) = (escaped(&self.title), escaped(&self.about));
        let figures = palette::style();
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}{figures}</style>\n</head>\n<body>\n\
             <h1>{title}</h1>\n<p class=\"about\">{about}</p>\n{}",
            self.banner
        );
        if self.sections.len() > FEW_SECTIONS {
            html.push_str("<nav>");
            for (number, section) in self.sections.iter().enumerate() {
                let heading = escaped(&section.heading);
                put(
                    &mut html,
                    format_args!("<a href=\"#part-{number}\">{heading}</a> "),
                );
            }
            html.push_str("</nav>\n");
        }
        for (number, Section { heading, body }) in self.sections.iter().enumerate() {
            let heading = escaped(heading);
            let section = format_args!(
                "<section id=\"part-{number}\">\n<h2>{heading}</h2>\n{body}</section>\n"
            );
            put(&mut html, section);
        }
        let Section { heading, body } = &self.provenance;
        if !body.is_empty() {
            let heading = escaped(heading);
            put(
                &mut html,
                format_args!("<aside>\n<h2>{heading}</h2>\n{body}</aside>\n"),
            );
        }
        html + "</body>\n</html>\n"
    }
}

impl Section {
    fn new(heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            body: String::new(),
        }
    }

    /// Adds a paragraph of text.
    pub(crate) fn say(&mut self, text: &str) {
        put(&mut self.body, format_args!("<p>{}</p>\n", escaped(text)));
    }

    /// Adds a list with a point for each of these; nothing if there are none.
    pub(crate) fn list(&mut self, points: &[String]) {
        let points = points
            .iter()
            .map(|point| format!("<li>{}</li>", escaped(point)));
        let points = points.collect::<String>();
        if !points.is_empty() {
            put(&mut self.body, format_args!("<ul>{points}</ul>\n"));
        }
    }

    /// Adds a list of names and their values.
    pub(crate) fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.body.push_str("<dl>");
        for (name, value) in facts {
            let (name, value) = (escaped(name), escaped(value));
            put(
                &mut self.body,
                format_args!("<dt>{name}</dt><dd>{value}</dd>"),
            );
        }
        self.body.push_str("</dl>\n");
    }

    /// Adds a command line.
    pub(crate) fn command(&mut self, line: &str) {
        put(
            &mut self.body,
            format_args!("<pre>{}</pre>\n", escaped(line)),
        );
    }

    /// A table; a wide one can be moved sideways. Headings that say nothing are left out.
    pub(crate) fn table(&mut self, table: &Table) {
        self.body.push_str("<div class=\"wide\"><table>\n");
        if table.headings.iter().any(|heading| !heading.is_empty()) {
            let headings = table.headings.iter().enumerate().map(|(column, heading)| {
                let mut below = table.rows.iter().filter_map(|row| row.get(column));
                let numbers =
                    !table.rows.is_empty() && below.all(|cell| cell.class == Cell::NUMBER);
                let class = of(if numbers { Cell::NUMBER } else { "" });
                format!("<th{class}>{}</th>", escaped(heading))
            });
            let headings = headings.collect::<String>();
            put(&mut self.body, format_args!("<tr>{headings}</tr>\n"));
        }
        for row in &table.rows {
            let cells = row.iter().map(Cell::html).collect::<String>();
            put(&mut self.body, format_args!("<tr>{cells}</tr>\n"));
        }
        self.body.push_str("</table></div>\n");
    }

    /// A picture that we have drawn, as SVG, and what it shows.
    pub(crate) fn figure(&mut self, svg: &str, caption: &str) {
        // Inside a page neither the declaration nor a size in pixels is of use.
        let svg = svg.find("<svg").map_or("", |start| &svg[start..]);
        let caption = escaped(caption);
        put(
            &mut self.body,
            format_args!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n"),
        );
    }
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            headings: headings.into_iter().map(str::to_owned).collect(),
            rows: Vec::new(),
        }
    }

    /// The same table with these rows at its end.
    pub(crate) fn rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.rows.extend(rows);
        self
    }
}

impl Cell {
    const NUMBER: &'static str = "number";

    /// A cell with text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::toned(text, Tone::Plain)
    }

    /// A cell with a number, aligned to the right.
    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            class: Self::NUMBER,
            leads_to: None,
        }
    }

    /// A cell with a verdict, coloured by its tone.
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            class: tone.class(),
            leads_to: None,
        }
    }

    /// The same cell, leading to a file beside the page.
    pub(crate) fn leading_to(self, file: &str) -> Self {
        Self {
            leads_to: Some(file.to_owned()),
            ..self
        }
    }

    fn html(&self) -> String {
        let class = match self.class {
            "" if self.text.chars().count() <= SHORT => "short",
            class => class,
        };
        let (class, text) = (of(class), escaped(&self.text));
        match &self.leads_to {
            None => format!("<td{class}>{text}</td>"),
            Some(file) => format!("<td{class}><a href=\"{}\">{text}</a></td>", escaped(file)),
        }
    }
}

impl Tone {
    /// The tone of a verdict about a run: `holds`, `violated`, `inconclusive`, `not exercised`.
    pub(crate) fn of_run(verdict: &str) -> Self {
        match verdict {
            "holds" => Tone::Good,
            "violated" => Tone::Bad,
            "inconclusive" => Tone::Unsure,
            _ => Tone::Plain,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Unsure => "unsure",
            Tone::Plain => "",
        }
    }
}

fn of(class: &str) -> String {
    match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    }
}

fn put(html: &mut String, what: std::fmt::Arguments<'_>) {
    html.write_fmt(what).expect("a text takes every letter");
}

/// The text without anything that HTML would take for more than text.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "<script>alert('1')</script>&\"";

    #[test]
    fn whatever_is_said_stays_text() {
        let mut page = Page::new(EVIL, EVIL);
        page.banner(Tone::Bad, EVIL, &[EVIL.to_owned()]);
        let section = page.section(EVIL);
        section.say(EVIL);
        section.list(&[EVIL.to_owned()]);
        section.facts([(EVIL, EVIL)]);
        section.command(EVIL);
        let rows = [
            vec![Cell::text(EVIL).leading_to(EVIL)],
            vec![Cell::number(EVIL)],
        ];
        section.table(&Table::new([EVIL]).rows(rows));
        section.figure("<?xml?><svg></svg>", EVIL);
        page.provenance().say(EVIL);
        let html = page.html();
        assert!(!html.contains("<script"), "{html}");
        assert!(!html.contains("&\""), "{html}");
        assert_eq!(html.matches("alert(&#39;1&#39;)").count(), 17, "{html}");
        assert!(html.contains("<figure><svg>"), "{html}");
    }

    #[test]
    fn a_page_needs_nothing_else() {
        let html = Page::new("title", "about").html();
        for word in ["http:", "https:", "<script", "<link", "@import", "url("] {
            assert!(!html.contains(word), "{word} in {html}");
        }
        assert!(html.contains("prefers-color-scheme: dark"));
        for colour in crate::pictures::COLOURS {
            for drawn in ["fill", "stroke"] {
                assert!(
                    html.contains(&format!("[{drawn}=\"{colour}\"]")),
                    "{colour}"
                );
            }
        }
    }

    #[test]
    fn what_differs_stands_in_the_box_at_the_end() {
        let mut page = Page::new("title", "about");
        assert!(!page.html().contains("<aside"));
        page.provenance().facts([("host", "here")]);
        let html = page.html();
        let (_, rest) = html.split_once("<aside>").expect("a box");
        assert!(rest.contains("<dd>here</dd>"));
    }
}
