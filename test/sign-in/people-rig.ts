import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { hashPassword } from "../../src/core/sign-in/password.ts";
import type { Store } from "../../src/core/store.ts";
import { createFirstAccount } from "../../src/core/use-cases/initialize-installation.ts";
import {
  type Invitation,
  type InvitationResult,
  invitePerson,
} from "../../src/core/use-cases/invite-person.ts";
import { type DatabaseKind, openTestStore, rowsIn, runOn } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { type Browser, openBrowser, type PageResponse } from "./browser.ts";

/** A password that is long enough. */
export const goodPassword = "correct horse battery staple";
let storedGood: Promise<string> | undefined;

/** A platform with its first team, whose owner is owner@example.com. */
export interface SignInPlatform extends AsyncDisposable {
  readonly service: Service;
  readonly store: Store;
  readonly clock: StillClock;
  browser(): Browser;
  invite(invitation: Invitation): Promise<InvitationResult>;
  /** Invites a member and sets the good password. */
  member(invitation: Invitation): Promise<InvitationResult>;
  /** Signs in with the good password; returns the answer to the form. */
  signIn(browser: Browser, email: string, password?: string, next?: string): Promise<PageResponse>;
  /** Runs one statement directly on the database. */
  run(statement: string): Promise<void>;
  rows(query: string): Promise<Record<string, unknown>[]>;
}

export async function openSignInPlatform(
  kind: DatabaseKind = "sqlite",
  env: Readonly<Record<string, string>> = {},
): Promise<SignInPlatform> {
  const clock = stillClock();
  const test = await openTestStore(kind, { clock });
  const { store } = test;
  const service = await openService({ over: test, clock, env, idle: true });
  const dependencies = () => ({ now: clock.now(), ids: systemIds, random: systemRandom });
  await store.change((tx) => createFirstAccount(tx, dependencies(), "owner@example.com"));
  const inviteMember = (invitation: Invitation) =>
    store.change((tx) => invitePerson(tx, dependencies(), invitation));
  return {
    service,
    store,
    clock,
    browser: () => openBrowser(service.url),
    invite: inviteMember,
    async member(invitation) {
      const invited = await inviteMember(invitation);
      storedGood ??= hashPassword(goodPassword, { account: "" });
      const stored = await storedGood;
      await store.change((tx) => tx.signIns.setPassword(invited.accountId, stored));
      return invited;
    },
    async signIn(browser, email, password = goodPassword, next = "/account") {
      const page = await browser.get(`/sign-in?next=${encodeURIComponent(next)}`);
      return browser.submit(page, "/sign-in", { email, password });
    },
    run: (statement) => runOn(test.url, statement),
    rows: (query) => rowsIn(test.url, query),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await test[Symbol.asyncDispose]();
    },
  };
}
