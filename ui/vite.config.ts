// The page is built into the Python package, from where the server hands it out. Nothing of it is fetched from elsewhere.
import { defineConfig, type Plugin } from "vite";

const SERVER = "http://127.0.0.1:8080"; // `npm run dev` shows the page on a `procession serve --no-identity`

const here = (path: string): string => new URL(path, import.meta.url).pathname;

// The editors of bpmn.io draw with an older Preact than the page does: the editor of forms and its viewer with one, menus with
// another. Who draws together must share one, or draws nothing.
const DRAW_WITH: [importer: string, preactOf: string][] = [
  ["/@bpmn-io/form-js-viewer/", "./node_modules/@bpmn-io/form-js-editor/dist/index.es.js"],
  ["/node_modules/htm/", "./node_modules/@bpmn-io/diagram-js-ui/lib/index.js"],
];

function sharePreact(): Plugin {
  return {
    name: "share-preact",
    enforce: "pre",
    resolveId(source, importer) {
      if (!/^preact(\/|$)/.test(source)) return null;
      const shared = DRAW_WITH.find(([drawer]) => importer?.includes(drawer));
      return shared ? this.resolve(source, here(shared[1]), { skipSelf: true }) : null;
    },
  };
}

// In every editor of FEEL: the server's rules, and colours for both grounds. (Templates of forms are filled in by form-js,
// which checks them itself.)
const STAND_IN: [importer: string, source: string, ours: string][] = [
  ["/@bpmn-io/feel-editor/", "@bpmn-io/feel-lint", "./src/base/feel-lint.ts"],
  ["/@bpmn-io/feel", "@bpmn-io/cm-theme", "./src/parts/bpmn-io/feel-theme.ts"],
];

function standIn(): Plugin {
  return {
    name: "stand-in",
    enforce: "pre",
    resolveId: (source, importer) => {
      const found = STAND_IN.find(([user, name]) => source === name && importer?.includes(user));
      return found ? here(found[2]) : null;
    },
  };
}

// What others' packages must do differently here: the file, the place in it, what stands there instead, and why.
const REPAIRS: [file: string, place: RegExp, instead: string][] = [
  // Names in XML may have letters of every script, and the engine takes any text for one; bpmn.io knows names in ASCII
  // only, and would show nothing of such a file. What is drawn anew keeps to the names of XML.
  ["/moddle-xml/dist/", /if \(!\/[^\n]+\/i\.test\(id\)\)/, "if (!/\\S/.test(id))"],
  ["/bpmn-js-properties-panel/dist/", /const ID_REGEX = [^\n]+;/, "const ID_REGEX = /^[\\p{L}_][\\p{L}\\p{M}\\p{N}_.\u00b7-]*$/u;"],
  // An element may be called toString, or __proto__: maps by ids must not inherit anything.
  ["/bpmn-js/lib/import/BpmnTreeWalker.js", /(?<=handledElements = |diMap = )\{\}/g, "Object.create(null)"],
  ["/diagram-js/lib/core/ElementRegistry.js", /(?<=this\._elements = )\{\}/, "Object.create(null)"],
  // The policy allows styles in files and in constructed sheets, but none in elements.
  ["/style-mod/src/", /!root\.head && root\.adoptedStyleSheets/, "root.adoptedStyleSheets"],
];

function repair(): Plugin {
  const met = new Set<string>();
  return {
    name: "repair",
    transform(code, id) {
      const found = REPAIRS.find(([file]) => id.includes(file));
      if (!found) return null;
      const [file, place, instead] = found;
      if (code.search(place) < 0) return null;
      met.add(file);
      return { code: code.replace(place, () => instead), map: null };
    },
    buildEnd(error) {
      const missed = REPAIRS.filter(([file]) => !met.has(file));
      if (!error && missed.length) this.error(`expected to repair ${missed.map(([file]) => file).join(", ")}: the package says it otherwise now`);
    },
  };
}

export default defineConfig({
  plugins: [sharePreact(), standIn(), repair()],
  resolve: {
    alias: {
      "@": here("./src"),
    },
  },
  build: {
    outDir: "../src/procession/ui/assets",
    assetsDir: "static",
    emptyOutDir: true,
    target: ["chrome123", "firefox120", "safari17.5"], // light-dark() of CSS
    chunkSizeWarningLimit: 3000, // the modelers; they are loaded when they are opened
    assetsInlineLimit: 0, // the content security policy allows no scripts and few images in texts
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/v2": SERVER, "/api": SERVER, "/openapi.json": SERVER } },
});
