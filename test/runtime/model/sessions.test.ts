import { afterAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { countEqual, textOf } from "../../support/model/cache.ts";
import type { ModelRequest } from "../../support/model/script.ts";
import { isNewRecording, openSession } from "../../support/model/session-file.ts";
import { openTexts } from "../../support/model/session-texts.ts";
import { countedAnswers, sessions } from "./sessions/all.ts";
import { type Played, playSession } from "./sessions/play.ts";
import { callsIn, openEnds, resultsIn, textsIn, unmarked } from "./sessions/properties.ts";

const texts = openTexts(isNewRecording);
afterAll(() => isNewRecording && texts.save());

/** Sessions in which a request may begin with something else than the one before it. */
const changing = [
  "prefix-changed",
  "fallback",
  "interrupted-effect",
  "compacts-twice",
  "clears-old-results",
  "more-images-than-a-request-takes",
  "refused-image",
  "fallback-without-images",
];

/** The part of all requests but the last that the cache of the service had for the request after each. */
function cachedPart(requests: readonly ModelRequest[]): number {
  const sum = (of: "cached" | "input", some: readonly ModelRequest[]) =>
    some.reduce((tokens, { counted }) => tokens + counted[of], 0);
  return sum("cached", requests.slice(1)) / sum("input", requests.slice(0, -1));
}

describe.each(sessions)("the session $name", (session) => {
  const { name, answers } = session;
  let played: Played;

  test("sends the requests that are recorded, byte for byte", async () => {
    const recorded = openSession(name, countedAnswers(session), texts);
    played = await playSession(session, recorded.answer);
    recorded.end();
  });

  test("begins each request with the one before it", () => {
    const sent = played.requests.map(({ body }) => textOf(body));
    let [kept, total] = [0, 0];
    for (const [index, text] of sent.slice(1).entries()) {
      kept += countEqual(sent[index] ?? "", text);
      total += sent[index]?.length ?? 0;
    }
    if (sent.length >= 20) expect(kept / total).toBeGreaterThan(0.95);
    if (sent.length >= 20) expect(cachedPart(played.requests), "in the cache").toBeGreaterThan(0.94);
    if (changing.includes(name)) return;
    for (const [index, request] of played.requests.slice(1).entries())
      expect(unmarked(request)).toContain(unmarked(played.requests[index]).slice(0, -1));
  });

  test("has exactly one result for each call, in each request and in its rows", () => {
    for (const { body } of played.requests) expect(resultsIn(body).toSorted()).toEqual(callsIn(body));
    const { rows = [], outcome } = played.runs.at(-1) ?? {};
    expect(outcome?.kind).toMatch(/^(finish|fail)$/);
    expect(openEnds(rows)).toEqual([]);
  });

  test("has no text of the model that the model has not sent", () => {
    const earlier = (session.acts as readonly JsonObject[]).flatMap(
      ({ turn }) =>
        ((turn as JsonObject | undefined)?.["earlier"] ?? []) as { role: string; content: string }[],
    );
    const sent = [
      ...answers.flatMap((answer) => ("text" in answer ? [answer.text] : [])),
      ...earlier.flatMap(({ role, content }) => (role === "assistant" ? [content] : [])),
    ];
    for (const text of textsIn(played.requests, "assistant")) expect(sent).toContain(text);
  });

  test("has no key in a request, an event, a row or a line of the log", () => {
    const outside = JSON.stringify([played.requests.map(({ body }: ModelRequest) => body), played.runs]);
    expect(outside).not.toContain("sk-scripted");
  });
});

test("at least 24 sessions are recorded", () => {
  expect(new Set(sessions.map(({ name }) => name)).size).toBe(sessions.length);
  expect(sessions.length).toBeGreaterThanOrEqual(24);
});
