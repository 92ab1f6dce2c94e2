import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type Path,
  pathToString,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { createValidator, type Validator, type Violation } from "@bufbuild/protovalidate";
import { Failure, invalid } from "../core/failure.ts";
import { choiceRule } from "./choices.ts";
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
  const path = pathToString(violation?.field ?? []);
  throw invalid(path, violation ? ruleOf(violation, reflect(schema, message)) : "is not valid");
}

/** The rule in words that fit every wire: no numbers of enums, and no length of what is not there at all. */
function ruleOf({ field: path, message, ruleId }: Violation, request: ReflectMessage): string {
  const field = path.findLast((step) => step.kind === "field");
  const isMissing = field === path.at(-1) && field !== undefined && !isPresent(path, request);
  if (field?.enum && (isMissing || ruleId.startsWith("enum.")))
    return isMissing ? `is required, and ${choiceRule(field)}` : choiceRule(field);
  if (isMissing) return isNumber(field) ? `is required, and ${message}` : "is required";
  if (ruleId === "string.min_len" && message === "must be at least 1 characters") return "must not be empty";
  const [, words] = /^does not match regex pattern `\^\(([\w|]+)\)\$`$/.exec(message) ?? [];
  return words === undefined ? message : `must be one of ${words.replaceAll("|", ", ")}`;
}

/** Zero may have been written, and is refused as what it is: by its rule too. */
const isNumber = (field: DescField | undefined): boolean =>
  field?.fieldKind === "scalar" && field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;

/** Whether the field that a path ends with is there: without presence of its own, a value other than zero or empty is. */
function isPresent(path: Path, request: ReflectMessage): boolean {
  let value: unknown = request;
  for (const step of path.slice(0, -1)) value = stepInto(value, step);
  const last = path.at(-1);
  return !isReflectMessage(value) || last?.kind !== "field" || value.isSet(last);
}

function stepInto(value: unknown, step: Path[number]): unknown {
  if (step.kind === "field" && isReflectMessage(value)) return value.get(step);
  if (step.kind === "list_sub" && isReflectList(value)) return value.get(step.index);
  return step.kind === "map_sub" && isReflectMap(value) ? value.get(step.key) : undefined;
}
