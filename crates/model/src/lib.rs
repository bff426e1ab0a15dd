//! The vocabulary of a run: the plan that it follows, the events that happen, and the account that
//! is left when it is over.
//!
//! The types here are plain data, the same for every engine and every file. Nothing here runs a
//! plan, opens a file or reads a clock: `member` decides what happens, `simulator` and `cluster` let
//! it happen, and `analysis` judges it.
//!
//! ```
//! use algorithms::registry;
//! use model::plan::Plan;
//!
//! let raymond = registry::find("raymond").expect("it is registered");
//! let mut plan = Plan::usual(raymond, 5, 1);
//! plan.trace = true;
//! // A plan leaves nothing open: a reader can run the same run again.
//! let text = serde_json::to_string(&plan)?;
//! assert!(text.contains(r#""algorithm":"raymond","nodes":5"#));
//! assert_eq!(serde_json::from_str::<Plan>(&text)?, plan);
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod engine;
pub mod event;
pub mod plan;
pub mod run;
pub mod time;
pub mod workload;
