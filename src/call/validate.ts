import type { DescMessage, Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator, type Validator } from "@bufbuild/protovalidate";
import { Failure, invalid } from "../core/failure.ts";
import { checkText } from "./text.ts";

const validator: Validator = createValidator();

/**
 * Checks a decoded request against the rules of its fields, on every wire alike.
 *
 * @throws Failure `invalid` with the path of the first field at fault and the rule
 * it broke (contract/decisions.md 12).
 */
export function validate(schema: DescMessage, message: Message): void {
  checkText(schema, message);
  const result = validator.validate(schema, message);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw new Failure("internal", "internal error", { cause: result.error });
  const [violation] = result.violations;
  throw invalid(pathToString(violation?.field ?? []), violation?.message ?? "is not valid");
}
