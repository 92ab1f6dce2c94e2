import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { invalid } from "../../core/failure.ts";
import { messageReader } from "./message-reader.ts";
import { refusing } from "./misfit.ts";
import type { Mode } from "./scalars.ts";
import { isObject } from "./well-known.ts";

/** Reads a request; throws Failure `invalid` with the field's path and the rule it breaks. */
export type Reader<Desc extends DescMessage> = (json: JsonValue, mode: Mode) => MessageShape<Desc>;

/**
 * Compiles the reader of a message type, for bodies and for queries: closures per
 * field, so that a call looks at no descriptor. Both spellings of a field's name
 * are taken, unknown members are ignored, and null is an absent field
 * (contract/decisions.md 12 and 13).
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileReader<Desc extends DescMessage>(desc: Desc): Reader<Desc> {
  const body = messageReader(desc, "body");
  const query = messageReader(desc, "query");
  return (json, mode) => {
    if (!isObject(json)) throw invalid("", "the body must be a JSON object");
    // The reader was compiled from the descriptor whose shape this is.
    return refusing(() => (mode === "body" ? body(json) : query(json))) as unknown as MessageShape<Desc>;
  };
}
