import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { lamps, open } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ files }, { web }) {
    const report = files.get("report.md")?.toString() ?? "";
    assert.match(report, /^\|.*\|$/m, "the report has no table");
    for (const [name, facts] of Object.entries(lamps)) {
      assert.ok(report.includes(`${web.url}/${name}`), `no link to ${name}`);
      const row = report
        .split("\n")
        .find((line) => line.startsWith("|") && line.toLowerCase().includes(name));
      for (const fact of Object.values(facts)) assert.match(row ?? "", new RegExp(`\\b${fact}\\b`), name);
    }
    const [, advice = ""] = report.split(/^#+ .*recommendation.*$/im);
    assert.match(
      advice,
      /borealis/i,
      "the lightest lamp, which has the longest battery time, is recommended",
    );
  },
});
