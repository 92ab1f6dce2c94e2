import type { SiteVisibility } from "../../src/core/websites/website.ts";
import type { SiteTree } from "./tree.ts";

export const paths = ["index.html", "css/style.css", "js/app.js", "data/numbers.json", "about/index.html"] as const;

/** The files of a version: each says which it is of. */
export const treeOf = (version: number): SiteTree => Object.fromEntries(paths.map((path) => [path, `${version} ${path}`]));

/** Whom a version is published for. */
export const visibilityOf = (version: number): SiteVisibility => (version % 2 === 0 ? "public" : "team");
