//! A node enters with the token, which goes to anybody who asks for it.

/// A chapter of the thesis that Banta's algorithms come from.
macro_rules! thesis {
    ($chapter:literal) => {
        concat!(
            "P. Banta, \"Distributed mutual exclusion algorithms\", M.S. thesis, University of ",
            "Nevada, Las Vegas, 1993, ",
            $chapter
        )
    };
}

pub(crate) mod banta_efficient;
pub(crate) mod banta_k;
pub(crate) mod banta_simple;
pub(crate) mod naimi_trehel;
pub(crate) mod naimi_trehel_queue;
pub(crate) mod ricart_agrawala_token;
pub(crate) mod singhal_heuristic;
pub(crate) mod suzuki_kasami;
