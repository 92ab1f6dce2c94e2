import { instance } from "@viz-js/viz";

const viz = await instance();
/** The common form of all pictures. The colours are those of the page around a picture (theme/style.css). */
const defaults = {
  graphAttributes: { bgcolor: "transparent", nodesep: 0.35, ranksep: 0.5 },
  nodeAttributes: {
    shape: "box",
    style: "rounded",
    fontname: "Helvetica",
    fontsize: 13,
    margin: "0.28,0.12",
  },
  edgeAttributes: { fontname: "Helvetica", fontsize: 12, arrowsize: 0.7 },
};

/**
 * Draws the blocks of a page that are written in the language of Graphviz: ```dot TITLE. Other viewers of
 * Markdown show their text.
 */
export const withDiagrams = (page: string): string =>
  page.replaceAll(/^```dot (.+)\n([\s\S]*?)^```$/gm, (_, title: string, text: string) => {
    const svg = viz.renderString(text, { ...defaults, format: "svg" });
    const drawn = svg
      .slice(svg.indexOf("<svg"))
      .replaceAll(/<!--.*?-->|<title>.*?<\/title>|\n/gs, (found) => (found === "\n" ? " " : ""))
      .replaceAll('"black"', '"currentColor"')
      .replace("<svg ", `<svg role="img" aria-label="${title}" `);
    return `<figure class="diagram">${drawn}</figure>`;
  });
