// The floor on SQLite: node:http and one prepared statement of better-sqlite3, with the same durability.

import { connectSqlite, driverOf } from "../../src/store/sqlite-adapter.ts";
import { tables } from "../../src/store/table.ts";
import { type FloorInput, type FloorPage, newTask, recordColumns } from "./rows.ts";
import { serve } from "./serve.ts";

const driver = driverOf(await connectSqlite((process.env["DATABASE_URL"] ?? "").replace(/^file:/, "")));
const prepare = (text: string) => driver.prepare(text).safeIntegers(false);

const detail = prepare("SELECT * FROM task WHERE id = ?");
const list = prepare(
  "SELECT * FROM task WHERE space_id = ? AND account_id = ? ORDER BY created_at DESC, id DESC LIMIT 20",
);
const events = prepare("SELECT * FROM task_event WHERE task_id = ? ORDER BY seq DESC LIMIT 50");
const create = prepare(tables.task.insert(newTask({ task_id: "", account_id: "", space_id: "" })).sql);

/** The two bare queries of a page of an export's tasks: IDs from the index first, then the rows. */
const present =
  "FROM task INDEXED BY task_present WHERE space_id = ? AND account_id = ? AND deleted_at IS NULL";
const count = prepare(`SELECT COUNT(*) AS total ${present}`);
const page =
  prepare(`SELECT ${recordColumns} FROM (SELECT created_at, id ${present} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?) s
  JOIN task t ON t.id = s.id ORDER BY s.created_at DESC, s.id DESC`);

serve<FloorInput & FloorPage>({
  "/detail": ({ task_id }) => detail.all(task_id)[0],
  "/create"(input) {
    const task = newTask(input);
    create.run(
      ...tables.task.insert(task).values.map((value) => (typeof value === "boolean" ? Number(value) : value)),
    );
    return task;
  },
  "/list": ({ space_id, account_id }) => list.all(space_id, account_id),
  "/tasks": ({ space_id, account_id, limit, offset }) => ({
    ...(count.all(space_id, account_id)[0] as object),
    records: page.all(space_id, account_id, limit, offset),
  }),
  "/events": ({ task_id }) => events.all(task_id),
});
