//! A structure as a picture, in the manner of the paper's Figure 1.
//!
//! Nodes stand in a circle. A solid arc leads from i to each node that it informs, a dashed one to each
//! that it only asks, a dotted one to each that it informs without having asked. Arcs to oneself are
//! left out.

use std::f64::consts::TAU;
use std::fmt::Write;

use algorithms::NodeId;
use algorithms::sanders::structure::Structure;

const SIZE: f64 = 480.0;
const NODE: f64 = 16.0;
const STYLE: &str = "
  .node { fill: #fff; stroke: #222; stroke-width: 1.5 }
  text { font: 14px sans-serif; text-anchor: middle; dominant-baseline: central; fill: #222 }
  text.legend { font-size: 12px; text-anchor: start }
  path { fill: none; stroke: #35618f; stroke-width: 1.4; marker-end: url(#tip) }
  .asks { stroke-dasharray: 7 4 }
  .tells { stroke-dasharray: 1.5 3.5; stroke: #a33 }
";

/// Draws an information structure: which nodes each node asks and informs.
pub(crate) fn information_structure(structure: &Structure) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {height}\" \
         role=\"img\" aria-label=\"information structure of {nodes} nodes\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" style=\"fill: #35618f; \
         stroke: none\"/></marker></defs>\n",
        height = SIZE + 28.0,
        nodes = structure.nodes(),
    );
    for i in structure.ids() {
        for k in structure.ids().filter(|&k| k != i) {
            let class = match (structure.informs(i, k), structure.asks(i, k)) {
                (true, true) => "informs",
                (false, true) => "asks",
                (true, false) => "tells",
                (false, false) => continue,
            };
            let title = format!("<title>{i} {class} {k}</title>");
            let path = arc(place(structure, i), place(structure, k));
            // Writing to a string cannot fail.
            _ = writeln!(text, "<path class=\"{class}\" d=\"{path}\">{title}</path>");
        }
    }
    for i in structure.ids() {
        let (x, y) = place(structure, i);
        _ = writeln!(
            text,
            "<circle class=\"node\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{NODE}\"/>\
             <text x=\"{x:.1}\" y=\"{y:.1}\">{i}</text>"
        );
    }
    let legend = [
        ("informs", "informs (I)"),
        ("asks", "only asks (R)"),
        ("tells", "informs unasked"),
    ];
    for (number, (class, what)) in legend.into_iter().enumerate() {
        let (x, y) = (16.0 + 155.0 * number as f64, SIZE + 10.0);
        _ = writeln!(
            text,
            "<path class=\"{class}\" d=\"M{x} {y} h36\"/>\
             <text class=\"legend\" x=\"{}\" y=\"{y}\">{what}</text>",
            x + 44.0
        );
    }
    text.push_str("</svg>\n");
    text
}

/// Where a node stands: on a circle, the first at the top.
fn place(structure: &Structure, node: NodeId) -> (f64, f64) {
    let angle = TAU * f64::from(node.0) / f64::from(structure.nodes());
    let radius = SIZE / 2.0 - 2.0 * NODE;
    let middle = SIZE / 2.0;
    (middle + radius * angle.sin(), middle - radius * angle.cos())
}

/// From the rim of one node to the rim of another, bent a little, so that there and back differ.
fn arc((x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> String {
    let (dx, dy) = (x1 - x0, y1 - y0);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let bend = 0.08 * length;
    let (cx, cy) = ((x0 + x1) / 2.0 - bend * uy, (y0 + y1) / 2.0 + bend * ux);
    let (sx, sy) = (x0 + NODE * ux, y0 + NODE * uy);
    let (ex, ey) = (x1 - (NODE + 2.0) * ux, y1 - (NODE + 2.0) * uy);
    format!("M{sx:.1} {sy:.1} Q{cx:.1} {cy:.1} {ex:.1} {ey:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arc_is_drawn_once_in_its_own_way() {
        // Figure 4, and 0 tells 2 without asking it.
        let structure = Structure::read("0,2/0,1;1/0,1;0,1,2/0,1,2", 3, NodeId(0));
        let picture = information_structure(&structure.expect("well written"));
        let arcs = |class: &str| picture.matches(&format!("<title>0 {class} ")).count();
        assert_eq!((arcs("informs"), arcs("asks"), arcs("tells")), (0, 1, 1));
        assert_eq!(picture.matches("<title>2 informs ").count(), 2);
        assert_eq!(picture.matches("<circle").count(), 3);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    }
}
