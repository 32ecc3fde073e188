// Where it begins.

import "@fontsource-variable/inter/wght.css";
import "@/styles/theme.css";
import "@/styles/base.css";
import "@/parts/parts.css";
import "@/shell/shell.css";
import { render } from "preact";
import { App } from "@/shell/app";
import { followTheme } from "@/shell/settings";

followTheme();
const place = document.getElementById("page");
if (place) render(<App />, place);
