import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { unzip } from "../support/zip.ts";
import { open, renamed } from "./fixtures/world.ts";

export default defineTask({
  open,
  async check({ files }) {
    const found = await unzip(files.get("renamed.zip") ?? Buffer.alloc(0));
    assert.equal(renamed.size, 200);
    assert.deepEqual([...found.keys()].toSorted(), [...renamed.keys()].toSorted());
    for (const [name, content] of renamed) assert.equal(found.get(name)?.toString(), content, name);
  },
});
