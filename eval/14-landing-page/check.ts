import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";

const facts = ["4.20", "4.80", "5.60", "7:30", "18:00", "Tuesday", "Saturday", "Walnut"];

export default defineTask({
  async check({ site, text }) {
    assert.ok(site, "no website is published");
    const { status, text: html } = await site("/");
    assert.equal(status, 200);
    assert.match(html, /<title>Tern Bakery: bread by bicycle<\/title>/);
    assert.match(html, /<meta[^>]+name="?viewport/i, "it does not fit the width of a phone");
    assert.match(html, /<h1[\s>]/, "it has no heading");
    assert.match(html, /href="mailto:hello@tern-bakery\.example/, "it has no address for orders");
    for (const fact of facts)
      assert.ok(html.toLowerCase().includes(fact.toLowerCase()), `${fact} is missing`);
    const [, styles = ""] = /<link[^>]+href="([^"]+\.css)"/.exec(html) ?? [];
    assert.equal((await site(new URL(styles, "http://site/").pathname)).status, 200, "it has no styles");
    assert.match(text, /https?:\/\//, "the answer has no address");
  },
});
