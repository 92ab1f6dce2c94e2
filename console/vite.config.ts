import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Writes `.br` and `.gz` next to each asset, so that the server compresses nothing. */
function precompressed(): Plugin {
  let folder = "";
  return {
    name: "precompressed",
    apply: "build",
    configResolved: ({ build, root }) => {
      folder = join(root, build.outDir, build.assetsDir);
    },
    async closeBundle() {
      for (const name of await readdir(folder)) {
        const bytes = await readFile(join(folder, name));
        await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(bytes));
        await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
      }
    },
  };
}

/** A package of the parser of Markdown, which decodes names of characters. */
const decoder = "decode-named-character-reference";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Chunks name each other relatively; the server sets the path of the first ones
  // (src/sign-in-pages/application.ts).
  base: "./",
  plugins: [react(), precompressed()],
  // Its variant for browsers decodes `&lt;` by innerHTML, which Trusted Types refuse: a message with it would
  // break the page.
  resolve: {
    alias: { [decoder]: fileURLToPath(new URL(`../node_modules/${decoder}/index.js`, import.meta.url)) },
  },
  cacheDir: "../node_modules/.cache/vite",
  logLevel: "warn",
  build: {
    assetsDir: "console/assets",
    emptyOutDir: true,
    // The security policy allows no inline script and no data: style.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: "es2023",
    reportCompressedSize: false,
  },
});
