//! The paper's Table 1 as 25 cells that run.
//!
//! The paper fills eight of them with known algorithms; the others are what its framework suggests.

/// One cell: a row paired with a column.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Where the pending requests are.
    pub row: &'static str,
    /// How often the role moves, and how it is found.
    pub column: &'static str,
    /// Our name for it.
    pub name: &'static str,
    /// The parameters of `controller` that make it.
    pub params: &'static [(&'static str, &'static str)],
    /// Messages per entry: alone, and saturated where that differs. N nodes, m = max_req.
    pub cost: &'static str,
    /// The algorithms of the paper's own table that are this cell, or that it stands for; and which
    /// cells are the same machine.
    pub remark: &'static str,
}

/// The columns, in the paper's order.
pub const COLUMNS: [&str; 5] = [
    "never",
    "static, each exit",
    "static, counter or timer",
    "dynamic, each exit",
    "dynamic, counter or timer",
];

/// The rows, in the paper's order.
pub const ROWS: [&str; 5] = [
    "centralised",
    "distributed",
    "hierarchical",
    "ring",
    "replicated",
];

/// The cells of this registry entry, row by row; none but for the framework itself.
pub fn of(algorithm: &str) -> &'static [Cell] {
    match algorithm == super::framework::INFO.name {
        true => CELLS,
        false => &[],
    }
}

const CELLS: &[Cell] = &[
    Cell {
        row: ROWS[0],
        column: COLUMNS[0],
        name: "Mohan and Silberschatz",
        params: &[("queue", "centralised"), ("migrate", "never")],
        cost: "3(N-1)/N",
        remark: "",
    },
    Cell {
        row: ROWS[0],
        column: COLUMNS[1],
        name: "home relay",
        params: &[
            ("queue", "centralised"),
            ("routing", "static"),
            ("migrate", "each"),
        ],
        cost: "3(N-1)/N + 1 where the role is not at home + at most 2",
        remark: "",
    },
    Cell {
        row: ROWS[0],
        column: COLUMNS[2],
        name: "home relay",
        params: &[("queue", "centralised"), ("routing", "static")],
        cost: "3(N-1)/N + 1 where the role is not at home + at most 2/m",
        remark: "",
    },
    Cell {
        row: ROWS[0],
        column: COLUMNS[3],
        name: "Suzuki and Kasami",
        params: &[
            ("queue", "centralised"),
            ("migrate", "each"),
            ("test", "wake"),
            ("inform", "none"),
            ("seek", "broadcast"),
        ],
        cost: "N-1 alone, N saturated",
        remark: "the same machine as replicated, dynamic, each exit",
    },
    Cell {
        row: ROWS[0],
        column: COLUMNS[4],
        name: "CDC",
        params: &[("queue", "centralised")],
        cost: "3(N-1)/N + (N-1)/m alone, 3 - 2/m + (N-1)/m saturated with 3 <= m <= N",
        remark: "also as cdc",
    },
    Cell {
        row: ROWS[1],
        column: COLUMNS[0],
        name: "DDC that stays",
        params: &[("queue", "distributed"), ("migrate", "never")],
        cost: "3(N-1)/N alone, 4(N-1)/N saturated",
        remark: "",
    },
    Cell {
        row: ROWS[1],
        column: COLUMNS[1],
        name: "tail at home",
        params: &[
            ("queue", "distributed"),
            ("routing", "static"),
            ("migrate", "each"),
        ],
        cost: "at most 3",
        remark: "stands for Martin, whom the paper lists here and under ring",
    },
    Cell {
        row: ROWS[1],
        column: COLUMNS[2],
        name: "DDC with home relay",
        params: &[("queue", "distributed"), ("routing", "static")],
        cost: "one more than DDC for a request, and at most 2/m instead of (N-1)/m",
        remark: "",
    },
    Cell {
        row: ROWS[1],
        column: COLUMNS[3],
        name: "DDC in token style",
        params: &[
            ("queue", "distributed"),
            ("migrate", "each"),
            ("test", "wake"),
            ("inform", "none"),
        ],
        cost: "about 3.6 alone and 6.2 saturated among 10",
        remark: "stands for Arora, Rana and Jain; Mizuno, Neilsen and Rao; Singhal; Ricart and \
                 Agrawala",
    },
    Cell {
        row: ROWS[1],
        column: COLUMNS[4],
        name: "DDC",
        params: &[("queue", "distributed")],
        cost: "3(N-1)/N + (N-1)/m alone, 4 + (N-1)/m saturated with m < N",
        remark: "also as ddc",
    },
    Cell {
        row: ROWS[2],
        column: COLUMNS[0],
        name: "tree with a fixed root",
        params: &[("queue", "hierarchical"), ("migrate", "never")],
        cost: "at most 3D, D = distance to the root",
        remark: "",
    },
    Cell {
        row: ROWS[2],
        column: COLUMNS[1],
        name: "cohorts",
        params: &[
            ("queue", "hierarchical"),
            ("routing", "static"),
            ("migrate", "each"),
        ],
        cost: "3(1-g/N) + 3p, g cohorts, p = share of the nodes in cohorts other than the root's",
        remark: "",
    },
    Cell {
        row: ROWS[2],
        column: COLUMNS[2],
        name: "cohorts",
        params: &[("queue", "hierarchical"), ("routing", "static")],
        cost: "3(1-g/N) + 3p/b, b = entries per delegation, at most m, 1 alone",
        remark: "",
    },
    Cell {
        row: ROWS[2],
        column: COLUMNS[3],
        name: "Raymond",
        params: &[("queue", "hierarchical"), ("migrate", "each")],
        cost: "at most 2D, D = distance to the role",
        remark: "stands also for Helary, Plouzeau and Raynal; Helary, Mostefaoui and Raynal; \
                 Neilsen and Mizuno",
    },
    Cell {
        row: ROWS[2],
        column: COLUMNS[4],
        name: "tree with a moving root",
        params: &[("queue", "hierarchical")],
        cost: "at most 3D while the role stays, 2D where it moves",
        remark: "",
    },
    Cell {
        row: ROWS[3],
        column: COLUMNS[0],
        name: "fixed controller, ring order",
        params: &[("queue", "ring"), ("migrate", "never")],
        cost: "3(N-1)/N",
        remark: "the machine of the centralised row, its queue in ring order",
    },
    Cell {
        row: ROWS[3],
        column: COLUMNS[1],
        name: "Martin",
        params: &[
            ("queue", "ring"),
            ("routing", "static"),
            ("migrate", "each"),
        ],
        cost: "N-1 alone, 2 saturated",
        remark: "also as martin",
    },
    Cell {
        row: ROWS[3],
        column: COLUMNS[2],
        name: "ring of coordinators",
        params: &[("queue", "ring"), ("routing", "static"), ("groups", "3")],
        cost: "about 4.0 alone and 2.4 saturated among 10, with 3 coordinators",
        remark: "where every node is a coordinator it is Martin's: a second request is never there \
                 at an exit",
    },
    Cell {
        row: ROWS[3],
        column: COLUMNS[3],
        name: "token in ring order",
        params: &[
            ("queue", "ring"),
            ("migrate", "each"),
            ("test", "wake"),
            ("inform", "none"),
        ],
        cost: "about 3.6 alone and 5.5 saturated among 10",
        remark: "the machine of the centralised row, its queue in ring order",
    },
    Cell {
        row: ROWS[3],
        column: COLUMNS[4],
        name: "CDC in ring order",
        params: &[("queue", "ring")],
        cost: "as CDC",
        remark: "the machine of the centralised row, its queue in ring order",
    },
    Cell {
        row: ROWS[4],
        column: COLUMNS[0],
        name: "copies everywhere, fixed controller",
        params: &[("queue", "replicated"), ("migrate", "never")],
        cost: "(N+1)(N-1)/N",
        remark: "",
    },
    Cell {
        row: ROWS[4],
        column: COLUMNS[1],
        name: "a few copies",
        params: &[
            ("queue", "replicated"),
            ("routing", "static"),
            ("migrate", "each"),
        ],
        cost: "about r + 3, r copies",
        remark: "",
    },
    Cell {
        row: ROWS[4],
        column: COLUMNS[2],
        name: "a few copies",
        params: &[("queue", "replicated"), ("routing", "static")],
        cost: "about r + 2 + 1/m, r copies",
        remark: "",
    },
    Cell {
        row: ROWS[4],
        column: COLUMNS[3],
        name: "Suzuki and Kasami",
        params: &[
            ("queue", "replicated"),
            ("migrate", "each"),
            ("test", "wake"),
        ],
        cost: "N-1 alone, N saturated",
        remark: "the same machine as centralised, dynamic, each exit",
    },
    Cell {
        row: ROWS[4],
        column: COLUMNS[4],
        name: "copies everywhere",
        params: &[("queue", "replicated")],
        cost: "(N+1)(N-1)/N + 1/m",
        remark: "",
    },
];
