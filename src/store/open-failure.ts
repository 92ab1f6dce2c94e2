import { Failure } from "../core/failure.ts";
import { causeText, rootCause } from "../core/root-cause.ts";
import { driverFailure } from "./driver-failure.ts";
import { ownership } from "./folder.ts";
import { decoded, pathOf, placeOf } from "./place.ts";

/**
 * The error for an operator when a database cannot be opened. It names the setting, the place and the cause in one
 * sentence, such as `DATABASE_URL: the database x at db:5432 cannot be opened: getaddrinfo ENOTFOUND db`. The
 * password of the URL is never in it. Refusals of our own stay as they are.
 */
export function openFailure(databaseUrl: string, thrown: unknown): unknown {
  if (thrown instanceof Failure) return thrown;
  const failure = driverFailure(thrown);
  if (!(failure instanceof Failure)) return failure;
  const isFile = databaseUrl.startsWith("file:");
  const setting = isFile ? "DATABASE_URL or DATA_DIR" : "DATABASE_URL";
  const place = `${placeOf(databaseUrl)} cannot be opened${isFile ? ownership(pathOf(databaseUrl)) : ""}`;
  const text = `${setting}: ${place}: ${safeText(thrown, databaseUrl)}`;
  // Without the cause, which may quote the URL: all that it says is in the text.
  return new Failure(failure.reason, text);
}

/** What the database or the system says has a code and no password in it; other errors may quote the URL. */
function safeText(thrown: unknown, databaseUrl: string): string {
  const text = causeText(thrown);
  const { password } = new URL(databaseUrl);
  if (rootCause(thrown).code !== null || password === "") return text;
  return text.replaceAll(password, "***").replaceAll(decoded(password), "***");
}
