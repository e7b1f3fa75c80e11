// The style sheet of the shadow root, by part of the interface. The order counts: of equal selectors the later one wins.

import bar from "./style/bar.css";
import editor from "./style/editor.css";
import frame from "./style/frame.css";
import layout from "./style/layout.css";
import results from "./style/results.css";

export const STYLE = [frame, bar, editor, layout, results].join("\n");
