import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A page in a menu. */
interface Entry {
  readonly text: string;
  readonly link: string;
}

/** The menus of the site, as VitePress reads them. */
interface Navigation {
  readonly sections: (Entry & { readonly activeMatch: string })[];
  readonly sidebar: { readonly text: string; readonly collapsed: boolean; readonly items: Entry[] }[];
}

/** The menus of the site, made from the tables of `docs/README.md`: it is the only list of pages. */
export function navigation(): Navigation {
  const page = readFileSync(join(import.meta.dirname, "../docs/README.md"), "utf8");
  const sidebar = page
    .split(/^## /m)
    .slice(1)
    .map((part) => ({ text: part.split("\n")[0] ?? "", collapsed: true, items: entriesOf(part) }));
  const sections = sidebar.flatMap(({ text, items: [first] }) =>
    // A section is the folder of its first page.
    first
      ? { text, link: first.link, activeMatch: `^${first.link.slice(0, first.link.lastIndexOf("/") + 1)}` }
      : [],
  );
  return { sections, sidebar };
}

/** The links of the first column of a section's tables, or all links of a section without a table. */
function entriesOf(section: string): Entry[] {
  const rows = section.split("\n").filter((line) => line.startsWith("| ["));
  return (rows.length > 0 ? rows : [section]).flatMap((text) => {
    const links = [...text.matchAll(/\[([^\]]+)\]\(([^)#]+)\.md\)/g)].map(([, name = "", path]) => ({
      text: name,
      link: `/${path}`,
    }));
    return rows.length > 0 ? links.slice(0, 1) : links;
  });
}
