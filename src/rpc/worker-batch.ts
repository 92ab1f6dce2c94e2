import type { MessageInitShape } from "@bufbuild/protobuf";
import { limitConcurrency, limitPerKey } from "../async/limit.ts";
import { Failure, invalidArgument } from "../core/failure.ts";
import type {
  AppendRequest,
  AppendResponseSchema,
  AppendResultSchema,
} from "../gen/proto/worker/v1/worker_service_pb.ts";

/** The most events of all appends of a call, as for one append. */
const eventsMax = 100;
/**
 * Appends of one call that are written at the same time: they share commits on SQLite, and leave connections
 * to others on PostgreSQL.
 */
const atOnce = 8;

/**
 * Makes appends to several runs, those to one run in their order. A refused append has its failure as its
 * result.
 *
 * @throws Failure `invalid_argument` for too many events, and what is not a refusal: then the call can be
 * repeated as a whole.
 */
export async function appendEach(
  appends: readonly AppendRequest[],
  append: (request: AppendRequest) => Promise<MessageInitShape<typeof AppendResponseSchema>>,
): Promise<MessageInitShape<typeof AppendResultSchema>[]> {
  const events = appends.reduce((sum, each) => sum + each.events.length, 0);
  if (events > eventsMax) throw invalidArgument("appends", `must have at most ${eventsMax} events together`);
  const [inOrder, limited] = [limitPerKey(1), limitConcurrency(atOnce)];
  return Promise.all(
    appends.map((request) => inOrder(request.taskId, () => limited(() => resultOf(() => append(request))))),
  );
}

async function resultOf(
  append: () => Promise<MessageInitShape<typeof AppendResponseSchema>>,
): Promise<MessageInitShape<typeof AppendResultSchema>> {
  try {
    return { result: { case: "appended", value: await append() } };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    const { reason, message } = thrown;
    return { result: { case: "error", value: { code: reason, message } } };
  }
}
