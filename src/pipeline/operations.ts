import { type DescMessage, type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { isScope, type ScopeName } from "../core/accounts/caller.ts";
import { isKeyScope, type KeyScope } from "../core/accounts/key-scopes.ts";
import {
  type Access,
  Access_Credential,
  Access_Role,
  Operation_RateClass,
  type Operation as OperationFacts,
  operation,
  secret,
} from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import { services } from "./services.ts";

/** How often an operation may be called; `pipeline/limit.ts` has the numbers. */
export type RateClass = "start" | "write" | "read" | "report" | "stream";

/** The credentials, scopes and roles that may call an operation. */
export interface OperationAccess {
  readonly credentials: ReadonlySet<Access_Credential>;
  /** A token needs one of these; empty: any valid token. */
  readonly anyScope: readonly ScopeName[];
  /** The account of a general key or a session needs one of these; empty: any account. */
  readonly roles: ReadonlySet<Access_Role>;
  /** With roles: the account of a personal space, which has no roles, may call too. */
  readonly personal: boolean;
  /** Only sessions of operators may call. */
  readonly operator: boolean;
  /** The scope that a general key with scopes needs; null: it is open to every general key, or to none. */
  readonly keyScope: KeyScope | null;
  /** General keys that are limited to projects may call. */
  readonly inProjects: boolean;
}

/** The facts about an RPC that the call path needs, read from its descriptor. */
export interface Operation {
  /** For instance `task.v2.TaskService/DeleteTask`. */
  readonly rpc: string;
  /** The v2 name, for instance `task.delete`; null where v2 does not serve it. */
  readonly name: string | null;
  readonly method: DescMethod;
  /** Null: anonymous. */
  readonly access: OperationAccess | null;
  /** Anonymous, and a valid session makes its person the caller. */
  readonly readsSessions: boolean;
  readonly rateClass: RateClass;
  /** The RPC name under which its calls are counted: its own unless stated otherwise. */
  readonly countedAs: string;
  /** All operations that share this count, including this one: v2 names, or RPC names where v2 has none. */
  readonly countedWith: readonly string[];
  /** May write: every RPC that is not marked NO_SIDE_EFFECTS. */
  readonly isChange: boolean;
  /** It deletes, ends, revokes or takes back something: an interface asks before it. */
  readonly isDestructive: boolean;
  /** A read whose every call writes an audit row. */
  readonly isAudited: boolean;
  /** Its answer holds a secret that is shown once. */
  readonly hasSecretAnswer: boolean;
  /**
   * Its answer can hold a credential, or an address that works without one: it is never compressed and never
   * kept by a client.
   */
  readonly isConfidential: boolean;
  /**
   * The largest request in bytes after decompression; of a stream, the largest message. BODY_LIMIT caps it
   * (`http/bounds/bound.ts`).
   */
  readonly maxRequestBytes: number;
}

/** All operations, by RPC and by v2 name. */
export interface OperationTable {
  readonly all: readonly Operation[];
  byRpc(rpc: string): Operation | undefined;
  byName(name: string): Operation | undefined;
}

const noSideEffects = 1;
/** The largest request to an address that needs no credential (spec/decisions.md 53). */
export const anonymousBytes = 65_536;
const defaultRequestBytes = 262_144;
const namePattern = /^[a-z][a-zA-Z]*(\.[a-zA-Z_]+)+$/;
const rateClasses: Record<Operation_RateClass, RateClass | null> = {
  [Operation_RateClass.RATE_CLASS_UNSPECIFIED]: null,
  [Operation_RateClass.START]: "start",
  [Operation_RateClass.WRITE]: "write",
  [Operation_RateClass.READ]: "read",
  [Operation_RateClass.REPORT]: "report",
  [Operation_RateClass.STREAM]: "stream",
};

/** The RPC's name in logs, audit rows and limits. */
export const rpcName = (method: DescMethod): string => `${method.parent.typeName}/${method.name}`;

let ofPlatform: OperationTable | undefined;

/**
 * The table of the platform's services, which is read once, or of others.
 *
 * @throws Error that lists every gap, so that the start fails with the reason.
 */
export function operationTable(of?: readonly DescService[]): OperationTable {
  if (of !== undefined) return readTable(of);
  ofPlatform ??= readTable(services);
  return ofPlatform;
}

function readTable(of: readonly DescService[]): OperationTable {
  const gaps: string[] = [];
  const read = of
    .flatMap((service) => service.methods)
    .flatMap((method) => readOperation(method, gaps) ?? []);
  const counted = read.map((op) => ({
    ...op,
    countedAs: read.find(({ name }) => name !== null && name === op.countedAs)?.rpc ?? op.countedAs,
  }));
  const together = Map.groupBy(counted, ({ countedAs }) => countedAs);
  const all = counted.map((op) => ({
    ...op,
    countedWith: (together.get(op.countedAs) ?? []).map(({ name, rpc }) => name ?? rpc),
  }));
  const byRpc = new Map(all.map((op) => [op.rpc, op]));
  const byName = new Map<string, Operation>();
  for (const op of all) {
    if (op.name === null) continue;
    if (byName.has(op.name)) gaps.push(`${op.rpc}: the name ${op.name} is taken`);
    byName.set(op.name, op);
  }
  for (const op of all)
    if (op.countedAs !== op.rpc && !byRpc.has(op.countedAs))
      gaps.push(`${op.rpc}: counted_as names the unknown operation ${op.countedAs}`);
  if (gaps.length > 0) throw new Error(`the operation table has gaps:\n${gaps.join("\n")}`);
  return { all, byRpc: (rpc) => byRpc.get(rpc), byName: (name) => byName.get(name) };
}

function readOperation(method: DescMethod, gaps: string[]): Omit<Operation, "countedWith"> | undefined {
  const rpc = rpcName(method);
  const facts = factsOf(method);
  const rateClass = rateClasses[facts.rateClass];
  if (facts.who.case === undefined) gaps.push(`${rpc}: who may call is not stated`);
  if (facts.name !== "" && !namePattern.test(facts.name))
    gaps.push(`${rpc}: ${facts.name} is not a dotted name`);
  if ((facts.destructive === undefined) !== (method.idempotency === noSideEffects))
    gaps.push(`${rpc}: a change, and only a change, states whether it is destructive`);
  if (facts.audited && (method.idempotency !== noSideEffects || method.methodKind !== "unary"))
    gaps.push(`${rpc}: only a unary read can be audited`);
  if (facts.who.case === "anonymous")
    gaps.push(...anonymousGaps(method, facts).map((gap) => `${rpc}: ${gap}`));
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
    readsSessions: facts.who.case === "anonymous" && facts.who.value.sessions,
    rateClass,
    countedAs: facts.countedAs || rpc,
    isChange: method.idempotency !== noSideEffects,
    isDestructive: facts.destructive === true,
    isAudited: facts.audited,
    hasSecretAnswer: facts.secretAnswer,
    isConfidential: facts.secretAnswer || holdsSecret(method.output),
    maxRequestBytes: facts.maxRequestBytes || defaultRequestBytes,
  };
}

/** Reads a description once: messages belong to many operations, and test mode makes a second table. */
function once<D extends object, T>(read: (desc: D) => T): (desc: D) => T {
  const known = new WeakMap<D, T>();
  return (desc) => {
    if (!known.has(desc)) known.set(desc, read(desc));
    return known.get(desc) as T; // It was set above.
  };
}

const factsOf = once((method: DescMethod) => getOption(method, operation));
const hasOwnSecret = once((desc: DescMessage) => desc.fields.some((field) => getOption(field, secret)));

/** Whether a message has a field with the option `secret`, at any depth. */
function holdsSecret(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(desc)) return false;
  seen.add(desc);
  return (
    hasOwnSecret(desc) ||
    desc.fields.some(({ message }) => message !== undefined && holdsSecret(message, seen))
  );
}

/**
 * An anonymous operation changes nothing, has no audit row, and reads at most 64 KiB (spec/decisions.md 53).
 */
function anonymousGaps(
  { idempotency, methodKind }: DescMethod,
  { audited, maxRequestBytes }: OperationFacts,
): string[] {
  const isStreamOfRequests = methodKind === "client_streaming" || methodKind === "bidi_streaming";
  const gaps = [
    idempotency !== noSideEffects && "an anonymous operation cannot be a change",
    isStreamOfRequests && "an anonymous operation takes one request",
    audited && "an anonymous operation has no audit row",
    (maxRequestBytes || defaultRequestBytes) > anonymousBytes &&
      `an anonymous operation reads at most ${anonymousBytes} bytes`,
  ];
  return gaps.filter((gap) => gap !== false);
}

const readAccess = (access: Access): OperationAccess => ({
  credentials: new Set(access.credentials),
  anyScope: access.anyScope.filter(isScope),
  roles: new Set(access.roles),
  personal: access.personal,
  operator: access.operator,
  keyScope: isKeyScope(access.keyScope) ? access.keyScope : null,
  inProjects: access.inProjects,
});

function accessGaps(access: Access): string[] {
  const gaps: string[] = [];
  const has = (credential: Access_Credential) => access.credentials.includes(credential);
  if (access.credentials.length === 0) gaps.push("no credential is accepted");
  if (has(Access_Credential.CREDENTIAL_UNSPECIFIED)) gaps.push("an unspecified credential is accepted");
  if (access.roles.includes(Access_Role.ROLE_UNSPECIFIED)) gaps.push("an unspecified role is accepted");
  if (access.anyScope.length > 0 && !has(Access_Credential.OAUTH)) gaps.push("scopes without OAUTH");
  if (access.roles.length > 0 && !has(Access_Credential.API_KEY) && !has(Access_Credential.SESSION))
    gaps.push("roles without API_KEY or SESSION");
  if (access.operator && (access.credentials.length !== 1 || !has(Access_Credential.SESSION)))
    gaps.push("operators without SESSION alone");
  gaps.push(...keyGaps(access));
  for (const scope of access.anyScope) if (!isScope(scope)) gaps.push(`unknown scope ${scope}`);
  return gaps;
}

/** Without a scope, an operation would be open to every key with scopes. */
function keyGaps({ credentials, anyScope, keyScope, inProjects }: Access): string[] {
  const takesKeys = credentials.includes(Access_Credential.API_KEY);
  const isOpen = credentials.includes(Access_Credential.OAUTH) && anyScope.length === 0;
  const gaps = [
    keyScope !== "" && !isKeyScope(keyScope) && `unknown scope of keys ${keyScope}`,
    takesKeys && keyScope === "" && !isOpen && "no scope of keys, although it takes general keys",
    !takesKeys && (keyScope !== "" || inProjects) && "restrictions of keys without API_KEY",
  ];
  return gaps.filter((gap) => gap !== false);
}
