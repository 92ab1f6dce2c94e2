import {
  type Checker,
  checkerOf,
  closed,
  isPart,
  type Part,
  partAt,
  readDocument,
  resolved,
} from "./documents.ts";

interface Deliveries {
  readonly messages: Part;
  readonly document: Part;
  readonly checker: Checker;
  /** Receivers get more headers than those of the signatures. */
  readonly openChecker: Checker;
}

let known: Deliveries | undefined;

function readDeliveries(): Deliveries {
  const open = readDocument("asyncapi.json");
  const document = closed(open);
  return {
    messages: partAt(document, "components", "messages"),
    document,
    checker: checkerOf(document),
    openChecker: checkerOf(open),
  };
}

/**
 * How a request to a webhook differs from its declaration in api/asyncapi.json; undefined when it does not.
 */
export function deliveryDifference(headers: object, body: unknown): string | undefined {
  known ??= readDeliveries();
  const { messages, document, checker, openChecker } = known;
  const type = isPart(body) ? String(body["event_type"]) : "";
  const declared = messages[type];
  if (!isPart(declared)) return `the event type ${type} is not declared`;
  const message = resolved(document, declared);
  return (
    checker.check(partAt(message, "payload"), body) ?? openChecker.check(partAt(message, "headers"), headers)
  );
}
