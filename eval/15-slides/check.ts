import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { unzip } from "../support/zip.ts";

const slides = [
  ["Harbour festival", "12 June 2027"],
  ["Budget", "48,000", "9,500"],
  ["Stages", "three", "roof"],
  ["Risks", "60 km/h"],
  ["Next steps", "1 March", "fire brigade"],
];

/** The texts of a slide in order. */
const textOf = (xml: string): string =>
  [...xml.matchAll(/<a:t>([^<]*)<\/a:t>/g)].map(([, text]) => text).join(" ");

export default defineTask({
  async check({ files }) {
    const parts = await unzip(files.get("slides.pptx") ?? Buffer.alloc(0));
    const names = [...parts.keys()].filter((name) => /^ppt\/slides\/slide\d+\.xml$/.test(name));
    assert.equal(names.length, slides.length);
    for (const [index, expected] of slides.entries()) {
      const text = textOf(parts.get(`ppt/slides/slide${index + 1}.xml`)?.toString() ?? "");
      for (const fact of expected) assert.ok(text.includes(fact), `slide ${index + 1} has no "${fact}"`);
      assert.ok(text.split(/\s+/).length <= 40, `slide ${index + 1} has too much text`);
    }
    assert.ok(
      parts.has("[Content_Types].xml") && parts.has("ppt/presentation.xml"),
      "it is not a presentation",
    );
  },
});
