import { createHash } from "node:crypto";
import type { Scope } from "../../core/accounts/caller.ts";
import type { NewEvent, TaskEvent } from "../../core/tasks/event.ts";
import { type SearchToken, type SearchWord, tokensOf } from "../../core/tasks/search-tokens.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { Session } from "../session.ts";
import { type Dialect, join, type Sql, sql } from "../statements.ts";

/*
 * The search index: an entry for the title of each task (seq 0) and for each message with words. Every word begins with the key of its
 * owner, so that a search reads no other owner's entries. On PostgreSQL the words are a tsvector; on SQLite they are a text of words
 * between spaces, which triggers copy to the FTS5 table task_words.
 */

/** The fields of a task that its entries have. */
export type TextOwner = Pick<Task, "id" | "spaceId" | "accountId" | "clientId">;

/** A title (seq 0) or a message. */
export interface TaskText {
  readonly seq: number;
  readonly text: string;
}

/**
 * The texts of events that a search finds: those of people and of the assistant. @param firstSeq the number
 * of the first event.
 */
export const textsOf = (events: readonly NewEvent[], firstSeq: number): readonly TaskText[] =>
  events.flatMap((event, index) => textOf(event).map((text) => ({ seq: firstSeq + index, text })));

/** The types of `textOf`. */
export const isSearched = sql`type IN ('user_message', 'assistant_message')`;

const textOf = (event: NewEvent | TaskEvent): readonly string[] =>
  event.type === "user_message" || event.type === "assistant_message" ? [event.payload.content] : [];

/** The statement that writes entries; null when there are none. A new title replaces the old one. */
export function entries(dialect: Dialect, owner: TextOwner, texts: readonly TaskText[]): Sql | null {
  const { id, spaceId, accountId } = owner;
  const keys = keysOf(owner);
  const rows = texts.flatMap(({ seq, text }) => {
    const words = [...tokensOf(text)].flatMap((token) => keys.map((key) => key + token));
    return words.length === 0 && seq > 0
      ? []
      : [sql`(${id}, ${seq}, ${spaceId}, ${accountId}, ${wordsIn(dialect, words)})`];
  });
  if (rows.length === 0) return null;
  return sql`INSERT INTO task_text (task_id, seq, space_id, account_id, words) VALUES ${join(rows)}
    ON CONFLICT (task_id, seq) DO UPDATE SET words = excluded.words`;
}

/** Words have only letters, digits and marks, which need no escapes. */
const wordsIn = (dialect: Dialect, words: readonly string[]): Sql =>
  dialect === "sqlite"
    ? sql`${` ${words.join(" ")} `}`
    : sql`CAST(${words.map((word) => `'${word}'`).join(" ")} AS tsvector)`;

export async function deleteEntries(session: Session, taskId: string): Promise<void> {
  await session.execute(sql`DELETE FROM task_text WHERE task_id = ${taskId}`);
}

/**
 * Entries of the caller with a word, as a statement of ids of tasks; a task may be in it several times. The
 * statement takes one more condition `LIMIT`. @param max the value of that limit.
 */
export function tasksWithWord(dialect: Dialect, scope: Scope, word: SearchWord, max: number): Sql {
  const { spaceId, accountId } = scope;
  const query = queryOf(dialect, keyOf(scope), word);
  return dialect === "sqlite"
    ? sql`
      SELECT x.task_id AS id FROM task_words CROSS JOIN task_text x ON x.id = task_words.rowid
      WHERE task_words MATCH ${query} AND x.space_id = ${spaceId} AND x.account_id = ${accountId}`
    : sql`SELECT x AS id FROM find_task_text(CAST(${query} AS tsquery), ${spaceId}, ${accountId}, CAST(${max} AS INTEGER)) x`;
}

/**
 * Whether the task `t` has a word. It reads the task's entries and not the index: the planner cannot turn it
 * into a join.
 */
export function hasWord(dialect: Dialect, scope: Scope, word: SearchWord): Sql {
  const key = keyOf(scope);
  const has =
    dialect === "sqlite"
      ? join(word.map(containsIn(key)), " AND ")
      : sql`ts_match_vq(x.words, CAST(${queryOf(dialect, key, word)} AS tsquery))`;
  return sql`(SELECT 1 FROM task_text x WHERE x.task_id = t.id AND ${has} LIMIT 1) IS NOT NULL`;
}

const containsIn =
  (key: string) =>
  ({ text, isPrefix }: SearchToken): Sql =>
    sql`instr(x.words, ${` ${key}${text}${isPrefix ? "" : " "}`}) > 0`;

/** A query of the database's own language: tokens have only letters, digits and marks, and are in quotes. */
function queryOf(dialect: Dialect, key: string, word: SearchWord): string {
  const [quote, prefix, and] = dialect === "sqlite" ? ['"', "*", " AND "] : ["'", ":*", " & "];
  return word.map(({ text, isPrefix }) => `${quote}${key}${text}${quote}${isPrefix ? prefix : ""}`).join(and);
}

/** The keys of a task's words: of its account in its space, and of the app that created it. */
const keysOf = ({ clientId, ...owner }: TextOwner): readonly string[] =>
  clientId === null ? [keyOf(owner)] : [keyOf(owner), keyOf({ ...owner, clientId })];

const keyLength = 10;

/**
 * Ten letters and digits of an account in a space, or of an app there. The index of short prefixes on SQLite
 * uses their number.
 */
export function keyOf({ spaceId, accountId, clientId = "" }: Scope): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([spaceId, accountId, clientId]))
    .digest();
  return digest.readBigUInt64BE().toString(36).padStart(keyLength, "0").slice(-keyLength);
}
