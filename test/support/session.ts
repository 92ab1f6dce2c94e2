import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Clock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { newSessionText, sessionDigest, sessionMs } from "../../src/core/sign-in/sign-in.ts";
import type { Store } from "../../src/core/store.ts";
import { sessionCookieName } from "../../src/http/request.ts";
import { clientOf, type RpcWire } from "./wires.ts";

export interface SessionOptions {
  /** When the person last proved their identity; now by default. */
  readonly provedAt?: number;
}

/** A signed-in browser. */
export interface SignedIn {
  readonly id: string;
  /** The cookie, and the origin of this service's pages: they are valid on the Connect wire only. */
  readonly headers: { readonly cookie: string; readonly origin: string };
  /** A client with the session, of the next node. */
  client<S extends DescService>(service: S, wire?: RpcWire): Client<S>;
}

interface Place {
  readonly next: () => string;
  readonly clock: Clock;
  readonly consentUrl: string;
}

/** Signs a person in, without the pages. */
export async function signIn(
  store: Store,
  { next, clock, consentUrl }: Place,
  who: { readonly accountId: string; readonly spaceId: string },
  { provedAt = clock.now() }: SessionOptions = {},
): Promise<SignedIn> {
  const id = systemIds.short();
  const text = newSessionText(systemRandom);
  const { accountId, spaceId } = who;
  const createdAt = clock.now();
  const session = {
    id,
    digest: sessionDigest(text),
    accountId,
    spaceId,
    createdAt,
    provedAt,
    expiresAt: createdAt + sessionMs,
  };
  await store.change((tx) => tx.sessions.insert(session));
  const headers = { cookie: `${sessionCookieName(consentUrl)}=${text}`, origin: new URL(consentUrl).origin };
  return {
    id,
    headers,
    client: (service, wire = "connect-json") => clientOf(service, wire, next(), headers),
  };
}
