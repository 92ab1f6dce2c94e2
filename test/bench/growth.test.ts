import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { MissingDependency } from "../../bench/databases.ts";
import { checkRoom } from "../../bench/growth.ts";

test("growth is not measured on a disk with too little room, which is reported with the size", async () => {
  await checkRoom(tmpdir(), 1);
  const refused = checkRoom(tmpdir(), 1e12);
  await expect(refused).rejects.toBeInstanceOf(MissingDependency);
  await expect(refused).rejects.toThrow(/GB left, and 1000000000000 tasks need 3000000\.0 GB/);
});
