import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import passport from "passport";
import OAuth2Strategy from "passport-oauth2";
import { expect, test } from "vitest";
import { allow, authorizePath, createVisitor } from "../console/consent-rig.ts";
import { openSignInPlatform } from "../sign-in/people-rig.ts";
import { freePort } from "../support/free-port.ts";
import { type Mode, modes, putAppOf, type TestApp, userMe } from "../support/oauth.ts";

interface Site extends AsyncDisposable {
  readonly url: string;
}

/**
 * A small site with passport, written as its documentation shows: `/callback` answers the tokens that it
 * received.
 */
async function openSite(port: number, platform: string, { app, secret }: TestApp, mode: Mode): Promise<Site> {
  const url = `http://127.0.0.1:${port}`;
  const site = express();
  // One browser, one session.
  const session = {};
  site.use((request, _response, next) => {
    Object.assign(request, { session });
    next();
  });
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: `${platform}${authorizePath}`,
      tokenURL: `${platform}/oauth/token`,
      clientID: app.clientId,
      clientSecret: mode === "pkce" ? "" : secret,
      callbackURL: `${url}/callback`,
      state: true,
      ...(mode === "secret" ? {} : { pkce: true }),
    } as OAuth2Strategy.StrategyOptions, // Its types do not include PKCE.
    (
      accessToken: string,
      refreshToken: string,
      _profile: unknown,
      done: (error: null, user: object) => void,
    ) => done(null, { accessToken, refreshToken }),
  );
  site.use(passport.initialize());
  site.get("/login", passport.authenticate(strategy, { session: false }));
  site.get(
    "/callback",
    passport.authenticate(strategy, { session: false }),
    (request, response) => void response.json(request.user),
  );
  const server: Server = createServer(site);
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  if ((server.address() as AddressInfo).port !== port) throw new Error("not where it was to be");
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise((closed) => void server.close(() => closed()).closeAllConnections()),
  };
}

test.each(
  modes,
)("passport-oauth2 behind Express signs a user in through our pages, in the mode %s", async (mode) => {
  const [port, sitePort] = [await freePort(), await freePort()];
  const platform = `http://127.0.0.1:${port}`;
  await using town = await openSignInPlatform("sqlite", { PORT: `${port}`, BASE_URL: platform });
  const ann = await town.member({ email: "ann@example.com" });
  const of = await putAppOf(town.store, ann, { redirectUris: [`http://127.0.0.1:${sitePort}/callback`] });
  await using site = await openSite(sitePort, platform, of, mode);

  const sent = new URL(
    (await fetch(`${site.url}/login`, { redirect: "manual" })).headers.get("location") ?? "",
  );
  expect(sent.origin).toBe(platform);
  const browser = town.browser();
  const signedIn = await town.signIn(browser, "ann@example.com", undefined, sent.pathname + sent.search);
  const page = await browser.get(signedIn.location);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const allowed = await createVisitor(platform, cookie).send(page, authorizePath, allow);
  const back = await fetch(allowed.location, { redirect: "manual" });
  expect(back.status).toBe(200);
  const { accessToken } = (await back.json()) as { readonly accessToken: string };
  expect(await userMe(platform, accessToken)).toMatchObject({
    status: 200,
    body: { user_id: ann.accountId },
  });
});
