/** The answer of a page, or of any other address. */
export interface PageResponse {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** The redirect target; empty without a redirect. */
  readonly location: string;
}

/** The parts of a browser that our pages need: cookies and forms; it follows no redirect by itself. */
export interface Browser {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<PageResponse>;
  post(path: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<PageResponse>;
  /** Sends the form of a page whose action ends with `action`: its hidden fields, and `fields`. */
  submit(
    page: PageResponse,
    action: string,
    fields?: Fields,
    headers?: Readonly<Record<string, string>>,
  ): Promise<PageResponse>;
  /** Follows redirects within the site, from an answer to the final page. */
  follow(seen: PageResponse): Promise<PageResponse>;
}

type Fields = Readonly<Record<string, string>>;

export function openBrowser(url: string): Browser {
  const cookies = new Map<string, string>();

  async function send(path: string, init: RequestInit): Promise<PageResponse> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(init.headers as Fields | undefined), ...(cookie === "" ? {} : { cookie }) }; // Callers pass headers only as records.
    const answer = await fetch(url + path, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return {
      status: answer.status,
      text: await answer.text(),
      headers: answer.headers,
      location: answer.headers.get("location") ?? "",
    };
  }

  const get: Browser["get"] = (path, headers = {}) => send(path, { headers });
  const post: Browser["post"] = (path, fields, headers = {}) =>
    send(path, { method: "POST", body: new URLSearchParams(fields), headers });
  return {
    cookies,
    get,
    post,
    submit(page, action, fields = {}, headers) {
      const form = formIn(page.text, action);
      return post(form.action, { ...form.hidden, ...fields }, headers);
    },
    async follow(seen) {
      let at = seen;
      while (at.status === 303 && at.location.startsWith("/")) at = await get(at.location);
      return at;
    },
  };
}

function formIn(text: string, action: string): { readonly action: string; readonly hidden: Fields } {
  for (const [, target = "", body = ""] of text.matchAll(
    /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g,
  )) {
    if (!target.endsWith(action)) continue;
    const inputs = [...body.matchAll(/<input type="hidden" name="([^"]*)"[^>]* value="([^"]*)">/g)];
    return {
      action: target,
      hidden: Object.fromEntries(
        inputs.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]),
      ),
    };
  }
  throw new Error(`the page has no form that leads to ${action}: ${text}`);
}
