// Prints the columns of each shape that the store picks, as JSON. Each table has one more column here.
import { globSync } from "node:fs";
import { schema } from "../../../src/gen/prisma/tables.ts";

for (const { columns } of Object.values(schema)) Object.assign(columns, { invented: ["invented", "text"] });
const { tables } = await import("../../../src/store/table.ts");

const picked: string[] = [];
for (const table of Object.values<{
  pick(...members: never[]): { of(name: string): { readonly sql: string } };
}>(tables)) {
  const { pick } = table;
  table.pick = (...members) => {
    const shape = pick(...members);
    picked.push(shape.of("t").sql);
    return shape;
  };
}
for (const file of globSync("src/store/rows/*.ts")) await import(`../../../${file}`);
console.log(JSON.stringify({ whole: tables.task.of("t").sql, picked }));
