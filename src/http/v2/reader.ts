import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { invalid } from "../../core/failure.ts";
import { messageShapes } from "../warnings/message-shape.ts";
import { findIdleMembers } from "../warnings/shape.ts";
import type { Warnings } from "../warnings/warnings.ts";
import { messageReader } from "./message-reader.ts";
import { refusing } from "./misfit.ts";
import type { Met, Mode } from "./scalars.ts";
import { isObject } from "./well-known.ts";
import { spellings } from "./wire.ts";

/**
 * Reads a request; throws Failure `invalid` with the field's path and the rule it breaks.
 *
 * @param warnings get the members that have no effect, also of a request that is refused.
 */
export type Reader<Desc extends DescMessage> = (json: JsonValue, mode: Mode, warnings?: Warnings) => MessageShape<Desc>;

const shapes = messageShapes(spellings);

/**
 * Compiles the reader of a message type, for bodies and for queries: closures per
 * field, so that a call looks at no descriptor. Both spellings of a field's name
 * are taken, unknown members are warned of, and null is an absent field
 * (contract/decisions.md 12, 13 and 51).
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileReader<Desc extends DescMessage>(desc: Desc): Reader<Desc> {
  const body = messageReader(desc, "body");
  const query = messageReader(desc, "query");
  return (json, mode, warnings) => {
    if (!isObject(json)) throw invalid("", "the body must be a JSON object");
    const met: Met = { idleMember: false };
    try {
      // The reader was compiled from the descriptor whose shape this is.
      return refusing(() => (mode === "body" ? body(json, met) : query(json, met))) as unknown as MessageShape<Desc>;
    } finally {
      // Only a request that has any is searched for their names.
      if (met.idleMember && warnings !== undefined) findIdleMembers(shapes(desc), json, warnings);
    }
  };
}
