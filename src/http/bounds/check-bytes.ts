import { isUtf8 } from "node:buffer";
import { invalidArgument } from "../../core/failure.ts";
import { checkJson } from "../../core/json.ts";
import { checkProtobuf } from "./protobuf.ts";
import type { Table } from "./protobuf-table.ts";

/**
 * Refuses a body that would cost too much to build, and JSON that is not UTF-8.
 *
 * @param table the type of a binary message; null: JSON.
 * @throws Failure `too_large`, `invalid_argument`
 */
export function checkBytes(bytes: Uint8Array, table: Table | null): void {
  if (table === null) checkText(bytes);
  else checkProtobuf(table, bytes);
}

function checkText(bytes: Uint8Array): void {
  checkJson(bytes);
  if (!isUtf8(bytes)) throw invalidArgument("", "the body is not valid UTF-8");
}
