import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { ScopeName } from "../../src/core/accounts/caller.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "../sign-in/people-rig.ts";
import { freePort } from "../support/free-port.ts";
import { challenge, type Mode, putAppOf, type TestApp } from "../support/oauth.ts";
import { signIn } from "../support/session.ts";
import { openContext, sharedChromium } from "./chromium.ts";

/** The app's connectors, named as in the catalogue. */
export const [github, slack] = [
  "bbb0df76-66bd-4a24-ae4f-2aac4750d90b",
  "001e6a99-5585-4b3e-b8cb-533fe24d7788",
];

/** A platform, an app that its members may authorize, the app's callback server, and a browser. */
export interface BrowserRig extends AsyncDisposable {
  readonly rig: SignInPlatform;
  readonly url: string;
  readonly testApp: TestApp;
  readonly browser: Browser;
  /** The queries that the callback received, in order. */
  readonly callbacks: readonly URLSearchParams[];
  /** Ann, a member of the app's team. */
  readonly email: string;
  open(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Signs Ann in without the sign-in page, and opens `next`. */
  goSignedIn(page: Page, next?: string): Promise<void>;
  /** The path and query of an authorization request. */
  request(mode: Mode, members?: Readonly<Record<string, string>>): string;
}

export async function openBrowserRig(
  scopes: readonly ScopeName[] = ["create_task", "use_connectors"],
  env: Readonly<Record<string, string>> = {},
): Promise<BrowserRig> {
  await using opening = new AsyncDisposableStack();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const town = opening.use(await openSignInPlatform("sqlite", { PORT: `${port}`, BASE_URL: url, ...env }));
  const callbacks: URLSearchParams[] = [];
  const receiver = await receive(callbacks);
  opening.defer(() => new Promise((closed) => void receiver.close(() => closed()).closeAllConnections()));
  const callback = `http://127.0.0.1:${portOf(receiver)}/callback`;
  const email = "ann@example.com";
  const { accountId, spaceId } = await town.member({ email, role: "admin" });
  const connectorUids = scopes.includes("use_connectors") ? [github, slack].flatMap((uid) => uid ?? []) : [];
  const settings = {
    name: "Garden planner",
    description: "Plans beds and borders.",
    homepageUrl: "https://garden.example",
  };
  const of = await putAppOf(
    town.store,
    { accountId, spaceId },
    { ...settings, redirectUris: [callback], scopes, connectorUids },
  );
  const browser = await sharedChromium();
  const opened = opening.move();
  return {
    ...{ rig: town, url, testApp: of, browser, callbacks, email },
    open: (options = {}) => openContext(browser, { baseURL: url, ...options }),
    async goSignedIn(page, next = "/sign-out") {
      const { headers } = await signIn(
        town.store,
        { next: () => url, clock: town.clock, consentUrl: url },
        { accountId, spaceId },
      );
      const [name = "", value = ""] = headers.cookie.split("=");
      await page.context().addCookies([{ name, value, url }]);
      await page.goto(next);
    },
    request: (mode, members = {}) => {
      const pkce = mode === "secret" ? {} : { code_challenge: challenge, code_challenge_method: "S256" };
      const query = {
        response_type: "code",
        client_id: of.app.clientId,
        redirect_uri: callback,
        state: "xyz",
        ...pkce,
        ...members,
      };
      return `/openapi/oauth?${new URLSearchParams(query)}`;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Fills the sign-in form of the current page and submits it. */
export async function fillSignIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(goodPassword);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/**
 * Revokes the only app that acts for the person, in the console, from the address that links of before have.
 */
export async function revokeApp(page: Page, name: string): Promise<void> {
  await page.goto("/account/apps");
  await page.getByRole("region", { name }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No app may act for you.").waitFor();
}

/** The app's site: stores the queries of callbacks and shows a page. */
async function receive(callbacks: URLSearchParams[]): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://app.test");
    if (pathname === "/callback") callbacks.push(searchParams);
    response
      .setHeader("Content-Type", "text/html")
      .end("<!doctype html><title>Back in the app</title><h1>Back in the app</h1>");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port; // It listens on TCP.
