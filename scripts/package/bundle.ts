import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";

export const root = resolve(import.meta.dirname, "../..");

/**
 * Packages with machine code stay packages. `pg-native` is one that `pg` can use, and it is not installed.
 */
const external = ["better-sqlite3", "pg-native"];

/** Each module in node_modules that the bundle contains, and each package that it imports. */
export interface Bundled {
  readonly modules: readonly string[];
  readonly imported: readonly string[];
}

/**
 * Bundles the program with its packages into the folder `lib` of a package: `atp.js`, a file for each worker
 * thread, and parts that are loaded on first use, as they are in the source. Types are not checked. A warning
 * of the bundler is an error.
 */
export async function bundle(folder: string): Promise<Bundled> {
  const build = await rolldown({
    input: { atp: join(root, "cli/main.ts") },
    platform: "node",
    external,
    // Its CommonJS module is one of UMD, whose imports a bundler cannot follow.
    resolve: { symlinks: false, alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    plugins: [checkoutOnly, places, folderOfJq, lazyPackages],
    onLog(level, { message }) {
      if (level === "warn") throw new Error(message);
    },
  });
  const { output } = await build.write({
    dir: join(folder, "lib"),
    sourcemap: true,
    sourcemapExcludeSources: true,
    // Relative to `lib` of the package, not to the folder that it is built in.
    sourcemapPathTransform: (source, map) => relative(join(root, "lib"), resolve(dirname(map), source)),
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await build.close();
  return contentsOf(output.filter((one) => one.type === "chunk"));
}

function contentsOf(chunks: readonly OutputChunk[]): Bundled {
  const files = new Set(chunks.map(({ fileName }) => fileName));
  const isPackage = (name: string) =>
    !files.has(name) && !name.startsWith("node:") && !builtinModules.includes(name);
  const imported = chunks
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter(isPackage);
  return {
    modules: chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.includes("/node_modules/")),
    imported: [...new Set(imported)].filter((name) => !name.startsWith(".")).toSorted(),
  };
}

/** `atp client`, and asking git, work in a checkout only. */
const checkoutOnly: Plugin = {
  name: "checkout-only",
  resolveId: {
    filter: { id: /\/scripts\/(client\/build|release\/clone)\.ts$/ },
    handler: (id) => ({ id, external: true }),
  },
};

/**
 * Files that modules read by their path, such as `./style.css`, are in the package at the same path as in the
 * checkout: in the bundle, the address of a module is the one that it would have there. Worker threads are
 * files of the bundle.
 */
const places: Plugin = {
  name: "places",
  transform: {
    filter: { id: { exclude: /\/node_modules\// }, code: /import\.meta\.(url|dirname)/ },
    handler(code, id) {
      const place = `../${relative(root, id)}`;
      const moved = code
        .replaceAll(/new URL\("\.\/([\w-]+-worker)\.ts", import\.meta\.url\)/g, (_, name: string) => {
          this.emitFile({ type: "chunk", id: join(dirname(id), `${name}.ts`), fileName: `${name}.js` });
          return `new URL("./${name}.js", import.meta.here)`;
        })
        .replaceAll("import.meta.url", () => `new URL("${place}", import.meta.here).href`)
        .replaceAll("import.meta.here", "import.meta.url")
        .replaceAll("import.meta.dirname", () => `(import.meta.dirname + "/${dirname(place)}")`);
      // No line moves, which is what stack traces show.
      return { code: moved, map: null };
    },
  },
};

/**
 * jq-wasm asks for its folder by `__dirname`, which a module of the bundle has not. It reads no file there:
 * its code is in the module.
 */
const folderOfJq: Plugin = {
  name: "folder-of-jq",
  transform: {
    filter: { id: /\/jq-wasm\/dist\/build\/jq\.js$/ },
    handler: (code) => ({ code: code.replaceAll("__dirname", '""'), map: null }),
  },
};

const prefix = "lazy-package:";

/**
 * Packages that are loaded by `lazyPackage` (src/async/lazy.ts): each is a file of the bundle that Node.js
 * can `require`.
 */
const lazyPackages: Plugin = {
  name: "lazy-packages",
  resolveId: { filter: { id: new RegExp(`^${prefix}`) }, handler: (id) => id },
  load: {
    filter: { id: new RegExp(`^${prefix}`) },
    // Node.js returns the export of this name to `require`.
    handler: (id) =>
      `import * as all from "${id.slice(prefix.length)}";\nexport { all as "module.exports" };`,
  },
  transform: {
    filter: { code: /\blazyPackage\b/ },
    handler(code, id) {
      for (const [, name = ""] of code.matchAll(/lazyPackage<[^>]+>\("([^"]+)"\)/g))
        this.emitFile({ type: "chunk", id: prefix + name, fileName: `packages/${name}.js` });
      return id.endsWith("/lazy.ts")
        ? { code: code.replace("require(name)", 'require("../../lib/packages/" + name + ".js")'), map: null }
        : null;
    },
  },
};
