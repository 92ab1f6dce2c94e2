import { Code } from "@connectrpc/connect";
import { codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { describe, expect, test } from "vitest";
import { connectAnswers, connectCodes, v2Answers } from "../../src/http/failure.ts";

describe("a failure", () => {
  test("of a credential is 401 permission_denied on v2 and unauthenticated on Connect", () => {
    expect(v2Answers.unauthenticated).toEqual({ status: 401, code: "permission_denied" });
    expect(connectCodes.unauthenticated).toBe(Code.Unauthenticated);
  });

  test("of a state is 412 on v2 and code 9 on Connect and gRPC", () => {
    expect(v2Answers.failed_precondition).toEqual({ status: 412, code: "failed_precondition" });
    expect(connectCodes.failed_precondition).toBe(9);
  });

  test("of a rate differs from one of a quota on v2", () => {
    expect(v2Answers.rate_limited).toEqual({ status: 429, code: "rate_limited" });
    expect(v2Answers.resource_exhausted).toEqual({ status: 429, code: "resource_exhausted" });
  });

  test("has the status and code in plain Connect calls that connect-es gives it", () => {
    const written = Object.values(connectCodes).map((code) => ({
      status: codeToHttpStatus(code),
      code: codeToString(code),
    }));
    expect(Object.values(connectAnswers)).toEqual(written);
    expect(Object.keys(connectAnswers)).toEqual(Object.keys(connectCodes));
  });

  test("never has a status of success", () => {
    expect(Object.values(v2Answers).filter(({ status }) => status < 400 || status > 599)).toEqual([]);
  });
});
