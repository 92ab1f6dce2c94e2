import fc from "fast-check";
import { agUiRun, type Callee, callees, has, isAllowedBy } from "../call-targets.ts";
import {
  type FuzzRequest,
  type Headers,
  type Kind,
  type Limit,
  limitNames,
  type Wire,
  wires,
} from "../request.ts";
import { runsFrom } from "./ag-ui.ts";
import { type Coding, codings, plain } from "./codings.ts";
import { brokenEnvelopes, type Coded, enveloped } from "./envelopes.ts";
import { type Formed, forms, isEnveloped, type Parts, queried, ran, spellingsOf } from "./forms.ts";
import { type Head, type Keys, oddHeads } from "./heads.ts";
import type { Known } from "./known-values.ts";
import { type Messages, messagesFrom } from "./messages.ts";
import { oddPaths } from "./paths.ts";
import { type Payloads, payloadsOf } from "./payloads.ts";
import { hostileQueries, queryOf } from "./queries.ts";

/** Inputs of requests in addition to descriptors. */
export interface RequestSources {
  readonly known: Known;
  keysFor(callee: Callee): Keys;
  /** Implemented operations, which get more turns. */
  readonly built: readonly Callee[];
}

/** The nth request of a seed: the same for the same platform, except for the ids that it has issued. */
export type NthRequest = (seed: number, nth: number) => FuzzRequest;

/** A call on a wire form. */
type Turn = readonly [Callee, Wire];

const weights: Readonly<Record<Kind, number>> = {
  valid: 5,
  "nearly valid": 4,
  "hostile payload": 4,
  frames: 3,
  compression: 2,
  head: 3,
  path: 1,
  key: 3,
};

/** Every call on every wire form in turn, so that none is left out; implemented ones three times. */
export function requestsFrom(ground: RequestSources): NthRequest {
  const messages = messagesFrom(ground.known);
  const turns = turnsOf(ground.built);
  const made = new Map<Turn, fc.Arbitrary<FuzzRequest>>();
  return (seed, nth) => {
    const turn = turns[nth % turns.length] as Turn; // There are some.
    const requests = made.get(turn) ?? requestsOf(turn, messages(turn[0].method.input), ground);
    made.set(turn, requests);
    const [request] = fc.sample(requests, { seed: seed * 1_000_003 + nth, numRuns: 1 });
    return request as FuzzRequest; // One was requested.
  };
}

/** AG-UI has one call: it gets more turns. */
export const moreRuns: readonly Callee[] = Array.from({ length: 24 }, () => agUiRun);

/** In an order in which neighbours are unrelated. */
function turnsOf(built: readonly Callee[]): readonly Turn[] {
  const turns = [...callees, ...built, ...built, ...moreRuns].flatMap((callee) =>
    wires.filter((wire) => has(wire, callee)).map((wire): Turn => [callee, wire]),
  );
  const [order = []] = fc.sample(fc.shuffledSubarray([...turns.keys()], { minLength: turns.length }), {
    seed: 1,
    numRuns: 1,
  });
  return order.map((at) => turns[at] as Turn); // An index of it.
}

function requestsOf(
  [callee, wire]: Turn,
  messages: Messages,
  { known, keysFor }: RequestSources,
): fc.Arbitrary<FuzzRequest> {
  const keys = keysFor(callee);
  const kinds = fc.oneof(
    ...kindsOf(wire, callee).map((kind) => ({ weight: weights[kind], arbitrary: fc.constant(kind) })),
  );
  const form =
    wire === "v2-get"
      ? queriesFrom(callee, messages)
      : wire === "ag-ui"
        ? runsOver(known)
        : messagesOver(wire, callee, messages);
  return fc.tuple(kinds, versionsOf(wire, callee)).chain(([kind, http]) =>
    fc.tuple(form(kind), bentOf(kind, http, keys, callee)).map(([formed, { head, bend, limit }]) => {
      const { method, path, headers, body } = withHead(formed, head, keys.own);
      return {
        ...{ wire, kind, rpc: callee.rpc, streaming: callee.method.methodKind !== "unary", http },
        ...{
          method,
          path: bend(path).slice(0, pathMax),
          headers: http === 2 ? ofHttp2(headers) : headers,
          body,
        },
        ...(limit && { limit }),
      };
    }),
  );
}

function kindsOf(wire: Wire, callee: Callee): readonly Kind[] {
  const common: readonly Kind[] = ["valid", "nearly valid", "hostile payload", "head", "path", "key"];
  return [
    ...common,
    ...(isEnveloped(wire, callee) ? (["frames"] as const) : []),
    ...(wire === "v2-get" ? [] : (["compression"] as const)),
  ];
}

/** gRPC needs HTTP/2, and so do bidirectional streams. */
const versionsOf = (wire: Wire, { method }: Callee): fc.Arbitrary<1 | 2> =>
  wire === "grpc" || method.methodKind === "bidi_streaming" ? fc.constant(2) : fc.constantFrom(1, 1, 2);

function queriesFrom(
  { method, ...callee }: Callee,
  { valid, nearlyValid }: Messages,
): (kind: Kind) => fc.Arbitrary<Formed> {
  const names = method.input.fields.map(({ name }) => name);
  const sound = valid.map(queryOf);
  const queries: Partial<Record<Kind, fc.Arbitrary<string>>> = {
    "nearly valid": nearlyValid.map(queryOf),
    "hostile payload": hostileQueries(valid, names),
  };
  return (kind) => (queries[kind] ?? sound).map((query) => queried({ method, ...callee }, query));
}

function runsOver(known: Known): (kind: Kind) => fc.Arbitrary<Formed> {
  const payloads = runsFrom(known);
  return (kind) =>
    fc
      .tuple(payloadOf(kind, payloads), kind === "compression" ? codings : fc.constant<Coding>(plain))
      .map((parts) => ran(...parts));
}

function messagesOver(
  wire: Exclude<Wire, "v2-get" | "ag-ui">,
  callee: Callee,
  messages: Messages,
): (kind: Kind) => fc.Arbitrary<Formed> {
  const spelled = spellingsOf[wire].map((spelling) => ({
    spelling,
    payloads: payloadsOf(callee.method.input, messages, spelling),
  }));
  return (kind) =>
    fc
      .constantFrom(...spelled)
      .chain(({ spelling, payloads }) =>
        fc.record<Parts>({
          payload: payloadOf(kind, payloads),
          spelling: fc.constant(spelling),
          coding: kind === "compression" ? codings : fc.constant<Coding>(plain),
          envelope: kind === "frames" ? brokenEnvelopes : fc.constant<(coded: Coded) => Buffer>(enveloped),
        }),
      )
      .map((parts) => forms[wire](callee, parts));
}

function payloadOf(kind: Kind, { valid, nearlyValid, hostile }: Payloads): fc.Arbitrary<Uint8Array> {
  if (kind === "nearly valid") return nearlyValid;
  return kind === "hostile payload" ? hostile : valid;
}

/** Changes to head and path. */
interface Bent {
  readonly head: Head;
  readonly bend: (path: string) => string;
  readonly limit?: Limit;
}

function bentOf(kind: Kind, http: 1 | 2, keys: Keys, callee: Callee): fc.Arbitrary<Bent> {
  const asIs = (path: string): string => path;
  if (kind === "head") return oddHeads(keys).map((head) => ({ head, bend: asIs }));
  if (kind === "key")
    return fc.constantFrom(...limitNames).map((name) => ({
      head: { headers: { "x-service-api-key": keys.limited[name] } },
      bend: asIs,
      limit: { name, isAllowed: isAllowedBy(name, callee) },
    }));
  const head: Head = { headers: {} };
  return kind === "path" ? oddPaths(http).map((bend) => ({ head, bend })) : fc.constant({ head, bend: asIs });
}

/** Node's own limit for a whole head is 16 KiB. */
const pathMax = 9_000;

/** A request whose method has no body is sent without one. */
const bodiless = new Set(["GET", "HEAD", "TRACE"]);

function withHead({ method: own, path, headers, body }: Formed, head: Head, key: string): Formed {
  const method = head.method ?? own;
  // Only A2A reads its version.
  const all = Object.entries({ "x-service-api-key": key, "a2a-version": "1.0", ...headers, ...head.headers });
  return {
    method,
    path,
    headers: Object.fromEntries(all.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    body: bodiless.has(method) ? new Uint8Array() : body,
  };
}

/** HTTP/2 has no headers about the connection. */
const ofHttp2 = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !["connection", "upgrade", "expect"].includes(name)),
  );
