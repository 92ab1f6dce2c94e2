import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pathOf } from "../../src/store/backend.ts";
import { connectSqlite, driverOf, type SqliteConnection } from "../../src/store/sqlite-adapter.ts";
import { plainTables } from "../../src/store/table.ts";
import { type TableUses, tableUses } from "../../src/store/table-use.ts";
import { storeOfSuite } from "../support/database.ts";

describe("the tables of a statement", () => {
  const suite = storeOfSuite("sqlite");
  let driver: SqliteConnection;
  let close = async (): Promise<void> => undefined;
  let uses: TableUses;

  beforeAll(async () => {
    const adapter = await connectSqlite(pathOf(suite.url));
    close = () => adapter.dispose();
    driver = driverOf(adapter);
    // Triggers and cascades next to those of the migrations, and a table whose rows are in its index.
    driver.exec(`
      CREATE TABLE parent (id TEXT PRIMARY KEY, note TEXT);
      CREATE TABLE child (id TEXT PRIMARY KEY, parent_id TEXT REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE) WITHOUT ROWID;
      CREATE TABLE grandchild (id TEXT, child_id TEXT REFERENCES child (id) ON DELETE SET NULL);
      CREATE TABLE line (id TEXT);
      CREATE TRIGGER noted AFTER UPDATE OF note ON parent BEGIN INSERT INTO line VALUES (new.id); END;
      CREATE VIEW family AS SELECT p.id FROM parent p JOIN child c ON c.parent_id = p.id;`);
    uses = tableUses(driver);
  });
  afterAll(() => close());

  const parametersOf = (sql: string) => sql.split("?").length - 1;
  const writesOf = (sql: string) => [...uses.of(sql, parametersOf(sql)).writes].toSorted();
  const readsOf = (sql: string) => [...uses.of(sql, parametersOf(sql)).reads].toSorted();

  test("are found for every write to every table", () => {
    for (const [name, { columns }] of plainTables) {
      const names = Object.values(columns).map(([column]) => column);
      const row = `(${names.map(() => "?").join(",")})`;
      const [first = ""] = names;
      for (const sql of [
        `INSERT INTO ${name} (${names.join(",")}) VALUES ${row}`,
        `INSERT INTO ${name} (${names.join(",")}) VALUES ${row},${row},${row} ON CONFLICT DO NOTHING`,
        `REPLACE INTO ${name} (${names.join(",")}) VALUES ${row}`,
        `UPDATE ${name} SET ${first} = ? WHERE ${first} IN (?,?,?) RETURNING ${first}`,
        `DELETE FROM ${name} WHERE ${first} = ?`,
        `DELETE FROM ${name}`,
        `WITH old AS (SELECT ${first} FROM ${name} LIMIT 1) DELETE FROM ${name} WHERE ${first} IN (SELECT ${first} FROM old)`,
      ])
        expect(writesOf(sql), sql).toContain(name);
      expect(writesOf(`SELECT * FROM ${name} WHERE ${first} IN (?,?)`)).toEqual([]);
      expect(readsOf(`SELECT 1 WHERE EXISTS (SELECT ${first} FROM ${name})`)).toEqual([name]);
    }
  });

  test.each([
    { sql: "DELETE FROM parent WHERE id = ?", writes: ["child", "grandchild", "parent"] },
    { sql: "DELETE FROM parent", writes: ["child", "grandchild", "parent"] },
    { sql: "REPLACE INTO parent VALUES (?, ?)", writes: ["child", "grandchild", "parent"] },
    { sql: "UPDATE parent SET id = ?", writes: ["child", "parent"] },
    { sql: "UPDATE parent SET note = ?", writes: ["line", "parent"] },
    { sql: "INSERT INTO parent VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET note = excluded.note", writes: ["line", "parent"] },
    { sql: "INSERT INTO line SELECT id FROM family WHERE id IN (?, ?, ?)", writes: ["line"] },
    { sql: "SAVEPOINT change", writes: [] },
  ])("include triggers and cascades: $sql", ({ sql, writes }) => {
    expect(writesOf(sql)).toEqual(writes);
  });

  test("are all tables when the statement changes the schema", () => {
    const all = [...plainTables.keys(), "parent", "child", "grandchild", "line"];
    expect(writesOf("DROP TABLE line")).toEqual(expect.arrayContaining(all));
    expect(writesOf("CREATE INDEX line_id ON line (id)")).toEqual(expect.arrayContaining(all));
  });

  test("include those of views, subqueries and the search index when it reads", () => {
    expect(readsOf("SELECT id, (SELECT COUNT(*) FROM line) FROM family WHERE id = ?")).toEqual(["child", "line", "parent"]);
    expect(readsOf("SELECT rowid FROM task_words WHERE task_words MATCH ?")).toContain("task_words");
  });

  test("are found again after another schema", () => {
    expect(writesOf("INSERT INTO line VALUES (?)")).toEqual(["line"]);
    driver.exec("CREATE TRIGGER lined AFTER INSERT ON line BEGIN DELETE FROM worker; END");
    uses.forget();
    expect(writesOf("INSERT INTO line VALUES (?)")).toEqual(["line", "worker"]);
  });

  test("are found at the cost of one row, for a thousand rows", () => {
    const row = "(?,?)";
    const many = `INSERT INTO parent (id, note) VALUES ${Array.from({ length: 1000 }, () => row).join(",")}`;
    const prepared: string[] = [];
    const counting = tableUses({
      prepare(sql) {
        prepared.push(sql);
        return driver.prepare(sql);
      },
    });
    expect([...counting.of(many, 2000).writes]).toEqual(["parent"]);
    expect(prepared.at(-1)).toBe("EXPLAIN INSERT INTO parent (id, note) VALUES (?,?)");
  });
});
