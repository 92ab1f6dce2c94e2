import { codeAt, stepAt } from "../../src/core/sign-in/totp.ts";
import type { Browser, PageResponse } from "./browser.ts";
import { goodPassword, type SignInPlatform } from "./people-rig.ts";
import { type SoftwarePasskey, softwarePasskey } from "./software-passkey.ts";

export const securityPath = "/account/security";
/** The site of the tests: CONSENT_URL. */
const site = { origin: "https://platform.test", rpId: "platform.test" };

type Place = Parameters<SoftwarePasskey["use"]>[1];
interface PasskeyOptions {
  readonly challenge: string;
  readonly rpId?: string;
  readonly user: { readonly id: string };
  readonly allowCredentials?: readonly unknown[];
}

/** The token of a page's forms. */
export const tokenIn = ({ text }: PageResponse): string =>
  /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? "";

function secretIn({ text }: PageResponse): Buffer {
  const key = (/<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? "").replaceAll(" ", "");
  const bits = [...key]
    .map((symbol) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(symbol).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** An authenticator app that a person has set up. */
export interface TestApp {
  readonly recovery: readonly string[];
  /** The code at this moment, or `steps` of 30 seconds later. */
  code(steps?: number): string;
}

/** What people do with passkeys and apps in a browser. */
export function factorsOf(platform: SignInPlatform) {
  /** Asks for a challenge at `path`, from the page where its form is. */
  async function challenge(
    browser: Browser,
    page: string,
    path: string,
  ): Promise<{ options: PasskeyOptions; csrf: string }> {
    const csrf = tokenIn(await browser.get(page));
    const { status, text } = await browser.post(`${path}/options`, { csrf });
    if (status !== 200) throw new Error(`${path}/options: ${status} ${text}`);
    return { options: JSON.parse(text) as PasskeyOptions, csrf }; // The shape of the specification.
  }
  async function useLink(browser: Browser, email: string): Promise<PageResponse> {
    const { link } = await platform.invite({ email });
    return browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
  }
  return {
    challenge,
    newPasskey: () => softwarePasskey(site),
    /** A browser with a session. It used a link, because hashes of passwords take long. */
    async signedIn(email: string): Promise<Browser> {
      const browser = platform.browser();
      const { location } = await useLink(browser, email);
      if (location !== "/account/password") throw new Error(`sign-in of ${email}: ${location}`);
      return browser;
    },
    async add(
      browser: Browser,
      passkey: SoftwarePasskey,
      place: Place = {},
      name = "Laptop",
    ): Promise<PageResponse> {
      const { options, csrf } = await challenge(browser, securityPath, `${securityPath}/passkey`);
      return browser.post(`${securityPath}/passkey`, {
        csrf,
        name,
        credential: passkey.create(options, place),
      });
    },
    async signInWith(browser: Browser, passkey: SoftwarePasskey, place: Place = {}): Promise<PageResponse> {
      const { options, csrf } = await challenge(browser, "/sign-in", "/sign-in/passkey");
      return browser.post("/sign-in/passkey", {
        csrf,
        next: "/account",
        credential: passkey.use(options, place),
      });
    },
    async setUpApp(browser: Browser): Promise<TestApp> {
      const page = await browser.get(`${securityPath}/app`);
      const secret = secretIn(page);
      const code = (steps = 0) => codeAt(secret, stepAt(platform.clock.now()) + steps);
      const done = await browser.submit(page, `${securityPath}/app`, { code: code() });
      const recovery = [...done.text.matchAll(/<li><code>([A-Z2-7-]+)<\/code>/g)].map(
        ([, text = ""]) => text,
      );
      return { recovery, code };
    },
    /**
     * A browser of a person with an app, who has used a link or typed the password: it is at the second step.
     */
    async firstStep(email: string, by: "link" | "password" = "link"): Promise<Browser> {
      const browser = platform.browser();
      const answer =
        by === "link" ? await useLink(browser, email) : await platform.signIn(browser, email, goodPassword);
      if (!answer.location.startsWith("/sign-in/code?"))
        throw new Error(`no second step: ${answer.status} ${answer.location}`);
      return browser;
    },
    async secondStep(browser: Browser, code: string): Promise<PageResponse> {
      const page = await browser.get("/sign-in/code?next=/account");
      return page.status === 200 ? browser.submit(page, "/sign-in/code", { code }) : page;
    },
  };
}
