import type { SiteVisibility } from "../../src/core/websites/website.ts";
import type { SiteTree } from "./tree.ts";

export const paths = [
  "index.html",
  "css/style.css",
  "js/app.js",
  "data/numbers.json",
  "about/index.html",
] as const;

/** The files of a version; each contains the version's number. */
export const treeOf = (version: number): SiteTree =>
  Object.fromEntries(paths.map((path) => [path, `${version} ${path}`]));

/** The visibility of a version. */
export const visibilityOf = (version: number): SiteVisibility => (version % 2 === 0 ? "public" : "team");
