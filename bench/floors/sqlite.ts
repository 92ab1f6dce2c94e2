// What SQLite itself can do: node:http and one prepared statement of better-sqlite3, as durable as ours.

import { taskColumns } from "../../src/store/rows/task-row.ts";
import { insertInto } from "../../src/store/sql.ts";
import { connectSqlite, driverOf } from "../../src/store/sqlite-adapter.ts";
import { type Asked, type AskedPage, newTask, recordColumns } from "./rows.ts";
import { serve } from "./serve.ts";

const driver = driverOf(await connectSqlite((process.env["DATABASE_URL"] ?? "").replace(/^file:/, "")));
const prepared = (text: string) => driver.prepare(text).safeIntegers(false);

const detail = prepared("SELECT * FROM task WHERE id = ?");
const list = prepared("SELECT * FROM task WHERE space_id = ? AND account_id = ? ORDER BY created_at DESC, id DESC LIMIT 20");
const events = prepared("SELECT * FROM task_event WHERE task_id = ? ORDER BY seq DESC LIMIT 50");
const columns = Object.keys(taskColumns(newTask({ task_id: "", account_id: "", space_id: "" })));
const create = prepared(insertInto("task", [Object.fromEntries(columns.map((column) => [column, null]))]).sql);

/** The two bare queries of a page of an export's tasks: ids from the index first, the rows after. */
const present = "FROM task INDEXED BY task_present WHERE space_id = ? AND account_id = ? AND deleted_at IS NULL";
const count = prepared(`SELECT COUNT(*) AS total ${present}`);
const page = prepared(`SELECT ${recordColumns} FROM (SELECT created_at, id ${present} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?) s
  JOIN task t ON t.id = s.id ORDER BY s.created_at DESC, s.id DESC`);

serve<Asked & AskedPage>({
  "/detail": ({ task_id }) => detail.all(task_id)[0],
  "/create"(asked) {
    const row = taskColumns(newTask(asked));
    create.run(...columns.map((column) => (typeof row[column] === "boolean" ? Number(row[column]) : row[column])));
    return row;
  },
  "/list": ({ space_id, account_id }) => list.all(space_id, account_id),
  "/tasks": ({ space_id, account_id, limit, offset }) => ({
    ...(count.all(space_id, account_id)[0] as object),
    records: page.all(space_id, account_id, limit, offset),
  }),
  "/events": ({ task_id }) => events.all(task_id),
});
