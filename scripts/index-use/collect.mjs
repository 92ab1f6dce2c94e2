// Loaded by `--import` into each process of a test run: writes every text that is prepared on SQLite or sent
// to PostgreSQL into a file of the folder STATEMENTS, one JSON string a line.
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

const require = createRequire(join(process.cwd(), "package.json"));
const known = new Set();

function collect(text) {
  if (typeof text !== "string" || known.has(text)) return;
  known.add(text);
  appendFileSync(
    join(process.env.STATEMENTS, `${process.pid}-${threadId}.jsonl`),
    `${JSON.stringify(text)}\n`,
  );
}

const sqlite = require("better-sqlite3").prototype;
const { prepare } = sqlite;
sqlite.prepare = function (text) {
  collect(text);
  return prepare.call(this, text);
};
const client = require("pg").Client.prototype;
const { query } = client;
client.query = function (...args) {
  collect(typeof args[0] === "string" ? args[0] : args[0]?.text);
  return query.apply(this, args);
};
