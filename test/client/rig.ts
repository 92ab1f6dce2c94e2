import { type Client, type ClientOptions, createClient } from "../../packages/client/src/index.ts";
import type { Person, Service } from "../support/service.ts";

/** Links of the test's platform name `BASE_URL`; they are opened where it listens. */
export const fetchOf =
  ({ url }: Pick<Service, "url">): typeof fetch =>
  (input, init) =>
    fetch(String(input).replace("https://platform.test", url), init);

/** A client of a person. It does not pause between attempts. */
export const clientFor = (
  service: Pick<Service, "url">,
  person: Pick<Person, "key">,
  options: ClientOptions = {},
): Client =>
  createClient({
    baseUrl: service.url,
    apiKey: person.key,
    fetch: fetchOf(service),
    sleep: async () => undefined,
    ...options,
  });
