import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** The provider's claims about a user. */
export interface Claims {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: unknown;
  readonly _claim_names?: unknown;
}

/** An OpenID Connect provider on loopback; any user signs in with a subject and any password. */
export interface ProviderRig extends AsyncDisposable {
  readonly issuer: string;
  /** The claims for each subject from now on. */
  readonly people: Map<string, Claims>;
  /** The token requests so far. */
  readonly exchanges: string[];
  /**
   * Signs a subject in at the address from the platform; returns the address that the browser is redirected
   * to.
   */
  signIn(url: string, subject: string): Promise<string>;
}

export const client = { id: "platform", secret: "a-secret-of-the-provider" } as const;
export const redirectUri = "https://platform.test/sign-in/callback";

export async function openProvider(): Promise<ProviderRig> {
  const people = new Map<string, Claims>();
  const exchanges: string[] = [];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on TCP.
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        application_type: "web",
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups", "_claim_names"] },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...people.get(sub) }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ["test"] },
  });
  const answer = provider.callback();
  server.on("request", (request, reply) => {
    if (request.url === "/token") exchanges.push(request.url);
    answer(request, reply);
  });
  return {
    issuer,
    people,
    exchanges,
    signIn: (url, subject) => walk(url, subject),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes the provider's forms, login and consent, until it redirects the browser back. */
export async function walk(url: string, subject: string, back = redirectUri): Promise<string> {
  const cookies = new Map<string, string>();
  let at = url;
  let body: URLSearchParams | null = null;
  for (let steps = 0; steps < 20; steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer: Response = await fetch(at, {
      redirect: "manual",
      headers: { cookie },
      ...(body ? { method: "POST", body } : {}),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const text = await answer.text();
    const location = answer.headers.get("location");
    if (location !== null) {
      at = new URL(location, at).href;
      body = null;
      if (at.startsWith(back)) return at.replace("https://platform.test", "");
      continue;
    }
    const action = /<form[^>]* action="([^"]*)"/.exec(text)?.[1];
    if (action === undefined)
      throw new Error(`the provider has no form (${answer.status}): ${text.slice(0, 500)}`);
    at = new URL(action.replaceAll("&amp;", "&"), at).href;
    body = new URLSearchParams({
      prompt: text.includes('value="consent"') ? "consent" : "login",
      login: subject,
      password: "x",
    });
  }
  throw new Error("the provider leads nowhere");
}
