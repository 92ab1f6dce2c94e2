import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/server-process.ts";
import { readPage } from "./page.ts";

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...globSync("docs/**/*.md", { cwd: root }),
];

describe("every page", () => {
  test.each(pages)("%s links only to files and headings that exist", (page) => {
    const links = [...readPage(page).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)].filter(
      ([, target = ""]) => !/^[a-z]+:/.test(target),
    );
    const broken = links.flatMap(([link, target = "", anchor]) => {
      const path = target === "" ? page : normalize(join(dirname(page), target));
      if (!existsSync(join(root, path))) return [link];
      return anchor === undefined || !path.endsWith(".md") || anchorsOf(path).has(anchor) ? [] : [link];
    });
    expect(broken).toEqual([]);
  });

  test("is reachable from docs/README.md", () => {
    const found = new Set<string>(["docs/README.md"]);
    for (const page of found)
      for (const [, target = ""] of readPage(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)\s]*)?\)/g)) {
        const path = normalize(join(dirname(page), target));
        if (path.startsWith("docs/")) found.add(path);
      }
    expect(pages.filter((page) => page.startsWith("docs/") && !found.has(page))).toEqual([]);
  });
});

describe("pages about the code", () => {
  test.each(
    globSync("docs/internals/*.md", { cwd: root }),
  )("%s names only files of src, test, scripts and prisma that exist", (page) => {
    const named = [
      ...readPage(page).matchAll(/`((?:src|test|scripts|prisma|proto|bench|eval)\/[\w./-]+)`/g),
    ].map(([, path = ""]) => path);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("the glossary has each term once", () => {
    const terms = [
      ...readFileSync(join(root, "docs/internals/glossary.md"), "utf8").matchAll(/^\| ([a-z][^|]*) \|/gm),
    ].map(([, term]) => term);
    expect(terms.length).toBeGreaterThan(80);
    expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([]);
  });
});

/** The anchors that GitHub makes of the headings of a page. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = [...readPage(path).matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) => text);
  const counts = new Map<string, number>();
  return new Set(
    headings.map((text) => {
      const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
      const anchor = plain.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-");
      const times = counts.get(anchor) ?? 0;
      counts.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${times}`;
    }),
  );
}
