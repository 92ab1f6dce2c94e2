import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { isScope, type ScopeName } from "./core/oauth/scope.ts";
import {
  type Access,
  Access_Credential,
  Access_Role,
  Operation_RateClass,
  operation,
} from "./gen/proto/taskplatform/options/v1/options_pb.ts";
import { services } from "./services.ts";

/** How often an operation may be called; the numbers are `call/limit.ts`'s. */
export type RateClass = "start" | "write" | "read" | "report";

/** Who may call: nobody in particular, or holders of one of these credentials. */
export interface OperationAccess {
  readonly credentials: ReadonlySet<Access_Credential>;
  /** A token needs one of these; empty: any living token. */
  readonly anyScope: readonly ScopeName[];
  /** The account of a general key or a session needs one of these; empty: any account. */
  readonly roles: ReadonlySet<Access_Role>;
  /** With roles: in a personal space, which has none, its account is let in too. */
  readonly personal: boolean;
}

/** Everything the call path needs to know about an RPC, read from its descriptor. */
export interface Operation {
  /** For instance `task.v2.TaskService/DeleteTask`. */
  readonly rpc: string;
  /** The v2 name, for instance `task.delete`; null where v2 does not serve it. */
  readonly name: string | null;
  readonly method: DescMethod;
  /** Null: anonymous. */
  readonly access: OperationAccess | null;
  readonly rateClass: RateClass;
  /** The operation that its calls count as, by the name its limit goes by: the RPC's own unless stated otherwise. */
  readonly countedAs: string;
  /** All operations whose calls count together with its own, this one among them: v2 names, and RPCs where v2 has none. */
  readonly countedWith: readonly string[];
  /** It may write: every RPC that is not marked NO_SIDE_EFFECTS. */
  readonly change: boolean;
  /** A read of which each call writes an audit row. */
  readonly audited: boolean;
  /** Its answer holds a secret that is shown once. */
  readonly secretAnswer: boolean;
  /** The largest request in bytes after decompression, of a stream the largest message. BODY_LIMIT caps it (`http/bounds/bound.ts`). */
  readonly maxRequestBytes: number;
}

/** All operations, by RPC and by v2 name. */
export interface OperationTable {
  readonly all: readonly Operation[];
  byRpc(rpc: string): Operation | undefined;
  byName(name: string): Operation | undefined;
}

const noSideEffects = 1;
/** The largest request of an operation that states no other size. */
const defaultRequestBytes = 262_144;
const namePattern = /^[a-z]+(\.[a-zA-Z_]+)+$/;
const rateClasses: Record<Operation_RateClass, RateClass | null> = {
  [Operation_RateClass.RATE_CLASS_UNSPECIFIED]: null,
  [Operation_RateClass.START]: "start",
  [Operation_RateClass.WRITE]: "write",
  [Operation_RateClass.READ]: "read",
  [Operation_RateClass.REPORT]: "report",
};

/** The RPC's name as logs, audit rows and limits have it. */
export const rpcName = (method: DescMethod): string => `${method.parent.typeName}/${method.name}`;

/** The table of these services; throws with every gap at once, so that the start fails and says why. */
export function operationTable(of: readonly DescService[] = services): OperationTable {
  const gaps: string[] = [];
  const read = of.flatMap((service) => service.methods).flatMap((method) => readOperation(method, gaps) ?? []);
  const counted = read.map((op) => ({
    ...op,
    countedAs: read.find(({ name }) => name !== null && name === op.countedAs)?.rpc ?? op.countedAs,
  }));
  const together = Map.groupBy(counted, ({ countedAs }) => countedAs);
  const all = counted.map((op) => ({ ...op, countedWith: (together.get(op.countedAs) ?? []).map(({ name, rpc }) => name ?? rpc) }));
  const byRpc = new Map(all.map((op) => [op.rpc, op]));
  const byName = new Map<string, Operation>();
  for (const op of all) {
    if (op.name === null) continue;
    if (byName.has(op.name)) gaps.push(`${op.rpc}: the name ${op.name} is taken`);
    byName.set(op.name, op);
  }
  for (const op of all)
    if (op.countedAs !== op.rpc && !byRpc.has(op.countedAs)) gaps.push(`${op.rpc}: there is no ${op.countedAs} to count as`);
  if (gaps.length > 0) throw new Error(`the operation table has gaps:\n${gaps.join("\n")}`);
  return { all, byRpc: (rpc) => byRpc.get(rpc), byName: (name) => byName.get(name) };
}

function readOperation(method: DescMethod, gaps: string[]): Omit<Operation, "countedWith"> | undefined {
  const rpc = rpcName(method);
  const facts = getOption(method, operation);
  const rateClass = rateClasses[facts.rateClass];
  if (facts.who.case === undefined) gaps.push(`${rpc}: who may call is not stated`);
  if (facts.name !== "" && !namePattern.test(facts.name)) gaps.push(`${rpc}: ${facts.name} is no dotted name`);
  if (facts.audited && (method.idempotency !== noSideEffects || method.methodKind !== "unary"))
    gaps.push(`${rpc}: only a plain read is marked as audited`);
  if (facts.who.case === "access") gaps.push(...accessGaps(facts.who.value).map((gap) => `${rpc}: ${gap}`));
  if (!rateClass) {
    gaps.push(`${rpc}: the rate class is not stated`);
    return undefined;
  }
  return {
    rpc,
    name: facts.name === "" ? null : facts.name,
    method,
    access: facts.who.case === "access" ? readAccess(facts.who.value) : null,
    rateClass,
    countedAs: facts.countedAs || rpc,
    change: method.idempotency !== noSideEffects,
    audited: facts.audited,
    secretAnswer: facts.secretAnswer,
    maxRequestBytes: facts.maxRequestBytes || defaultRequestBytes,
  };
}

const readAccess = (access: Access): OperationAccess => ({
  credentials: new Set(access.credentials),
  anyScope: access.anyScope.filter(isScope),
  roles: new Set(access.roles),
  personal: access.personal,
});

function accessGaps(access: Access): string[] {
  const gaps: string[] = [];
  const has = (credential: Access_Credential) => access.credentials.includes(credential);
  if (access.credentials.length === 0) gaps.push("no credential is let in");
  if (has(Access_Credential.CREDENTIAL_UNSPECIFIED)) gaps.push("an unspecified credential is let in");
  if (access.roles.includes(Access_Role.ROLE_UNSPECIFIED)) gaps.push("an unspecified role is let in");
  if (access.anyScope.length > 0 && !has(Access_Credential.OAUTH)) gaps.push("scopes without OAUTH");
  if (access.roles.length > 0 && !has(Access_Credential.API_KEY) && !has(Access_Credential.SESSION))
    gaps.push("roles without API_KEY or SESSION");
  for (const scope of access.anyScope) if (!isScope(scope)) gaps.push(`unknown scope ${scope}`);
  return gaps;
}
