// What SQLite itself can do: node:http and one prepared statement of better-sqlite3, as durable as ours.
import { insertInto } from "../../src/store/sql.ts";
import { connectSqlite, driverOf } from "../../src/store/sqlite-adapter.ts";
import { taskColumns } from "../../src/store/task-row.ts";
import { type Asked, newTask } from "./rows.ts";
import { serve } from "./serve.ts";

const driver = driverOf(await connectSqlite((process.env["DATABASE_URL"] ?? "").replace(/^file:/, "")));
const prepared = (text: string) => driver.prepare(text).safeIntegers(false);

const detail = prepared("SELECT * FROM task WHERE id = ?");
const list = prepared("SELECT * FROM task WHERE space_id = ? AND account_id = ? ORDER BY created_at DESC, id DESC LIMIT 20");
const events = prepared("SELECT * FROM task_event WHERE task_id = ? ORDER BY seq DESC LIMIT 50");
const columns = Object.keys(taskColumns(newTask({ task_id: "", account_id: "", space_id: "" })));
const create = prepared(insertInto("task", [Object.fromEntries(columns.map((column) => [column, null]))]).sql);

serve<Asked>({
  "/detail": ({ task_id }) => detail.all(task_id)[0],
  "/create"(asked) {
    const row = taskColumns(newTask(asked));
    create.run(...columns.map((column) => (typeof row[column] === "boolean" ? Number(row[column]) : row[column])));
    return row;
  },
  "/list": ({ space_id, account_id }) => list.all(space_id, account_id),
  "/events": ({ task_id }) => events.all(task_id),
});
