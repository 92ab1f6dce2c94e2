import { parseContentType as connectType } from "@connectrpc/connect/protocol-connect";
import { parseContentType as grpcType } from "@connectrpc/connect/protocol-grpc";
import { parseContentType as grpcWebType } from "@connectrpc/connect/protocol-grpc-web";
import { expect, test } from "vitest";
import { rpcTypes } from "../../src/http/request-hooks.ts";

const beginnings = [
  "",
  "connect+",
  "connect",
  "grpc",
  "grpc+",
  "grpc-web",
  "grpc-web+",
  "grpc-web-text",
  "grpc-web-text+",
  "grpc-text+",
];
const ends = [
  "",
  "json",
  "proto",
  "JSON",
  "json; charset=utf-8",
  "json;charset=UTF8",
  "json;  charset=utf-8",
  "json; charset=ascii",
  "xml",
];
const types = beginnings.flatMap((beginning) => ends.map((end) => `application/${beginning}${end}`));

test.each([...types, "", "text/json", " application/json"])("connect-es reads %j as we do", (type) => {
  const connect = connectType(type);
  const unary = rpcTypes.unary.exec(type);
  expect(unary && { stream: false, binary: unary[1] !== undefined }).toEqual(
    connect?.stream === false ? connect : null,
  );
  expect(rpcTypes.stream.test(type)).toBe(connect?.stream === true);
  expect(rpcTypes.grpc.test(type)).toBe((grpcType(type) ?? grpcWebType(type)) !== undefined);
});
