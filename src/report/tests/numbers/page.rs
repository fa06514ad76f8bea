//! A page cut into what is looked at together: a paragraph, a row of a table, a label of a chart, a setting.

/// Text that belongs together, and where its numbers must be.
#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    Row { tables: Vec<String>, gathered: bool, cells: Vec<String> },
    Chart(Vec<String>, String),
    Setting(String),
}

/// What has no measured numbers, by its element or its class.
const SILENT: [&str; 12] =
    ["name", "script", "style", "head", "code", "time", "nav", "h1", "figcaption", "kicker", "terms", "rule"];
/// Where a text ends.
const WHOLE: [&str; 17] =
    ["p", "li", "h2", "h3", "h4", "dd", "dt", "summary", "tile", "text", "title", "desc", "tr", "td", "th", "aside", "footer"];

struct Open {
    name: String,
    classes: Vec<String>,
    tables: Option<Vec<String>>,
    gathered: bool,
}

/// All of a page, in its order.
pub(super) fn blocks(html: &str) -> Vec<Block> {
    let (mut found, mut open, mut text) = (Vec::new(), Vec::<Open>::new(), String::new());
    let mut cells: Vec<String> = Vec::new();
    for piece in html.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').unwrap_or((piece, ""));
        if let Some(name) = tag.strip_prefix('/') {
            let at = open.iter().rposition(|open| open.name == name).unwrap_or_else(|| panic!("</{name}> closes nothing"));
            let whole = WHOLE.contains(&name) && !in_a_tile(&open, name) || open[at].classes.iter().any(|class| class == "tile");
            if whole {
                end(&open, name, &mut text, &mut cells, &mut found);
            }
            open.truncate(at);
        } else if !tag.starts_with('!') {
            let name = tag.split([' ', '\n', '/']).next().unwrap_or_default();
            let gathered = tag.contains(" data-gathered");
            let tables = attribute(tag, "data-tables").map(|names| names.split(' ').map(str::to_owned).collect());
            let classes = attribute(tag, "class").unwrap_or_default().split(' ').map(str::to_owned).collect();
            let empty = tag.ends_with('/') || ["meta", "link", "br", "rect", "circle"].contains(&name);
            if !empty {
                open.push(Open { name: name.to_owned(), classes, tables, gathered });
            }
        }
        let silent = open
            .iter()
            .any(|open| SILENT.iter().any(|silent| open.name == *silent || open.classes.iter().any(|class| class == silent)));
        let silent = silent || open.iter().any(|open| open.name == "td" && open.classes.iter().any(|class| class == "time"));
        if !silent {
            text.push_str(&unescape(after));
        }
        // Words of one line do not run into those of the next.
        text.push(' ');
    }
    found
}

/// A tile is one text: its number, its interval and its n.
fn in_a_tile(open: &[Open], name: &str) -> bool {
    name == "p"
        && open.iter().any(|open| open.classes.iter().any(|class| class == "tile"))
        && !open.last().is_some_and(|last| last.classes.iter().any(|class| class == "beside"))
}

fn end(open: &[Open], name: &str, text: &mut String, cells: &mut Vec<String>, found: &mut Vec<Block>) {
    let said = std::mem::take(text).split([' ', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let tables = open.iter().rev().find_map(|open| open.tables.clone());
    let gathered = open.iter().any(|open| open.gathered);
    let is = |class: &str| open.iter().any(|open| open.classes.iter().any(|known| known == class));
    match name {
        "tr" => {
            let cells = std::mem::take(cells);
            if !cells.is_empty() {
                found.push(Block::Row {
                    tables: tables.unwrap_or_else(|| panic!("a table of no table: {cells:?}")),
                    gathered,
                    cells,
                });
            }
        }
        "td" | "th" => {
            if !open.iter().any(|open| open.name == "thead") {
                cells.push(said);
            }
        }
        _ if said.is_empty() => (),
        "dd" if is("settings") => found.push(Block::Setting(said.replace('\u{a0}', " "))),
        _ if open.iter().any(|open| open.name == "svg") => found.push(Block::Chart(tables.unwrap_or_default(), said)),
        _ => found.push(Block::Text(said)),
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let from = tag.find(&format!(" {name}=\"")).map(|at| at + name.len() + 3)?;
    Some(tag[from..].split('"').next()?.to_owned())
}

fn unescape(text: &str) -> String {
    let signs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&apos;", "'"), ("&amp;", "&")];
    signs.into_iter().fold(text.to_owned(), |text, (escaped, sign)| text.replace(escaped, sign))
}
