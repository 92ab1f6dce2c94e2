import { expect } from "vitest";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import {
  allow,
  answerIn,
  authorizePath,
  createSignedInVisitor,
  type FormFields,
  requestOf,
  type Visitor,
} from "../console/consent-rig.ts";
import type { PageResponse } from "../sign-in/browser.ts";
import { type Members, type OAuthReply, postForm, userMe, verifier } from "../support/oauth.ts";
import { callingWith, type Person } from "../support/service.ts";

export const callback = "http://127.0.0.1:4711/callback";

/** An authorization request of the command line. */
export const cliRequest = (members: Members = {}): string =>
  requestOf({ app: { clientId: "atp-cli", redirectUris: [callback] } as never }, members); // Only these members are read.

/** The choice of a space on the page, and the button. */
export const allowIn = (spaceId: string): FormFields => [["space", spaceId], ...allow];

/** Approves a request of the command line for a space. */
export async function approveIn(
  browser: Visitor,
  spaceId: string,
  members: Members = {},
): Promise<PageResponse> {
  return browser.send(await browser.get(cliRequest(members)), authorizePath, allowIn(spaceId));
}

/** A code for a space, by the page. */
export const codeIn = async (browser: Visitor, spaceId: string): Promise<string> =>
  answerIn(await approveIn(browser, spaceId), callback)["code"] ?? "";

interface Served {
  readonly url: string;
}

export const exchange = (service: Served, code: string, members: Members = {}): Promise<OAuthReply> =>
  postForm(service.url, "/oauth/token", {
    ...{
      grant_type: "authorization_code",
      client_id: "atp-cli",
      code,
      redirect_uri: callback,
      code_verifier: verifier,
    },
    ...members,
  });

export const refresh = (service: Served, token: string, members: Members = {}): Promise<OAuthReply> =>
  postForm(service.url, "/oauth/token", {
    grant_type: "refresh_token",
    client_id: "atp-cli",
    refresh_token: token,
    ...members,
  });

/** What the command line holds after a login. */
export interface CliTokens {
  readonly access: string;
  readonly refresh: string;
}

/** Logs a person's command line in to a space, which may be another than the person's. */
export async function logIn(service: Served, person: Person, spaceId = person.spaceId): Promise<CliTokens> {
  const { status, body } = await exchange(
    service,
    await codeIn(await createSignedInVisitor(service.url, person), spaceId),
  );
  expect([status, body.token_type]).toEqual([200, "Bearer"]);
  return { access: body.access_token, refresh: body.refresh_token };
}

/** A caller with the access token. */
export const callingAs = (service: Served, { access }: Pick<CliTokens, "access">) =>
  callingWith({ authorization: `Bearer ${access}` }, () => service.url);

/** How the next call over v2 and over gRPC, and a refresh, are answered. */
export async function uses(service: Served, tokens: CliTokens): Promise<readonly string[]> {
  const v2 = await userMe(service.url, tokens.access);
  const grpc = await callingAs(service, tokens)
    .client(UserService, "grpc")
    .getCurrentUser({})
    .then(
      () => "ok",
      (error: unknown) => String(error),
    );
  const next = await refresh(service, tokens.refresh);
  return [String(v2.status), grpc, String(next.body.error ?? next.status)];
}

/** Every use is refused. */
export const ended = ["401", expect.stringContaining("[unauthenticated]"), "invalid_grant"];
