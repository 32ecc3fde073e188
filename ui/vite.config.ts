// The page is built into the Python package, from where the server hands it out. Nothing of it is fetched from elsewhere.
import { defineConfig, type Plugin } from "vite";

const SERVER = "http://127.0.0.1:8080"; // `npm run dev` shows the page on a `procession serve --no-identity`

const here = (path: string): string => new URL(path, import.meta.url).pathname;

// The editor of forms needs an older Preact than its viewer asks for, and the two must share one.
function onePreactForForms(): Plugin {
  return {
    name: "one-preact-for-forms",
    enforce: "pre",
    resolveId(source, importer) {
      if (!/^preact(\/|$)/.test(source) || !importer?.includes("/@bpmn-io/form-js-viewer/")) return null;
      return this.resolve(source, here("./node_modules/@bpmn-io/form-js-editor/dist/index.es.js"), { skipSelf: true });
    },
  };
}

export default defineConfig({
  plugins: [onePreactForForms()],
  resolve: {
    alias: {
      "@bpmn-io/feel-lint": here("./src/base/feel-lint.ts"), // the server's rules, in every editor of FEEL
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
