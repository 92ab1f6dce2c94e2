import { ServerResponse } from "node:http";
import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { ListMessagesRequestSchema } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { plainGrpcMessage } from "../../src/http/request-hooks.ts";
import { openService } from "../support/service.ts";
import { framed, sendHttp2 } from "../wires/raw.ts";

/** The bytes sent for a text as Connect encodes it. */
function sent(text: string): string {
  const response = Object.create(ServerResponse.prototype) as ServerResponse;
  const add = vi.fn();
  response.addTrailers = add;
  plainGrpcMessage(response);
  response.addTrailers({ "grpc-status": "3", "grpc-message": encodeURIComponent(text) });
  expect(add).toHaveBeenCalledExactlyOnceWith({ "grpc-status": "3", "grpc-message": expect.any(String) });
  return add.mock.calls[0]?.[0]["grpc-message"];
}

test("any text is read correctly by clients that decode all of it, and by those that decode only what they would encode", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(decodeURIComponent(sent(text))).toBe(text);
      expect(decodeURI(sent(text))).toBe(text);
      expect(sent(text)).toMatch(/^([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?$/);
    }),
  );
});

test("leading and trailing blanks, which a header cannot have, stay encoded", () => {
  expect(sent("  timeout value: ")).toBe("%20%20timeout value:%20");
});

test("printable ASCII is sent unchanged, and a percent sign is encoded", () => {
  expect(sent("limit: must be greater than or equal to 1, /and/ [0] é 100%")).toBe(
    "limit: must be greater than or equal to 1, /and/ [0] %C3%A9 100%25",
  );
});

test("a refusal over gRPC says in plain words which field broke which rule", async () => {
  await using service = await openService({ idle: true });
  const { key } = await service.person();
  const body = framed(
    toBinary(ListMessagesRequestSchema, create(ListMessagesRequestSchema, { taskId: "t", limit: 201 })),
  );
  const headers = { "content-type": "application/grpc", te: "trailers", "x-service-api-key": key };
  const reply = await sendHttp2(`${service.url}/task.v2.TaskService/ListMessages`, { headers, body });
  expect(reply.headers.get("grpc-status")).toBe("3");
  expect(reply.headers.get("grpc-message")).toMatch(/^limit: must be .* 200$/);
});
