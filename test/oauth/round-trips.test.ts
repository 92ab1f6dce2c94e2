import { expect, test } from "vitest";
import { atRest } from "../support/at-rest.ts";
import { describeOnOne } from "../support/database.ts";
import {
  codeFor,
  exchangeCode,
  pairOf,
  postForm,
  putApp,
  refreshProof,
  refreshWith,
  userMe,
} from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";

describeOnOne("round trips of the OAuth endpoints", (kind) => {
  test("each request runs exactly its expected number of statements", async () => {
    await using service = await openService({ database: kind, idle: true, clock: stillClock() });
    await atRest(service);
    const ann = await service.person();
    const of = await putApp(service, ann);
    const pair = await pairOf(service, ann, of, "secret", quarterPast);
    const code = await codeFor(service, ann, of, "secret", quarterPast);
    const sent = async (work: Promise<{ readonly status: number }>) => {
      const before = service.statements.length;
      expect((await work).status).toBe(200);
      return service.statements.slice(before).map((sql) =>
        sql
          .trim()
          .split(/[\s,]+/, 2)
          .join(" "),
      );
    };
    expect(await sent(refreshWith(service, of, "secret", pair.refresh_token))).toEqual([
      "SELECT p.client_id",
      "BEGIN",
      "SELECT f.id",
      "UPDATE oauth_family",
      "COMMIT",
    ]);
    expect(await sent(exchangeCode(service, of, "secret", code))).toEqual([
      ...[
        "SELECT p.client_id",
        "BEGIN",
        "SELECT oauth_code.digest",
        "SELECT g.revoked_at",
        "UPDATE oauth_code",
      ],
      ...["INSERT INTO", "INSERT INTO", "COMMIT"],
    ]);
    const { access_token: token } = await pairOf(service, ann, of, "secret", quarterPast);
    const look = postForm(service.url, "/oauth/introspect", { token, ...refreshProof("secret", of) });
    expect(await sent(look)).toEqual(["SELECT p.client_id", "SELECT f.id"]);
    expect(await sent(userMe(service.url, token))).toEqual(["SELECT f.id"]);
  });
});
