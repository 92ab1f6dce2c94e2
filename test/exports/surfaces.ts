import {
  type DescMethod,
  type DescService,
  fromJson,
  type JsonObject,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { EnterpriseDataExportService } from "../../src/gen/proto/dataexport/v1/export_service_pb.ts";
import { EnterpriseDataExportV2Service } from "../../src/gen/proto/dataexport/v2/export_service_pb.ts";
import { EnterpriseComplianceV2Service } from "../../src/gen/proto/observability/v2/compliance_export_service_pb.ts";
import { callV2, type RpcWire, transportOf } from "../support/wires.ts";

export type Method = "ListTasks" | "CreateExport" | "GetExport" | "ListExports" | "GetDownloadURL";

/** An answer on any wire: a refusal's HTTP status (on gRPC its number) and code, or the answer's members. */
export interface SurfaceReply {
  readonly status: number;
  /** In lower case, as in Connect; undefined on success. */
  readonly code?: string;
  readonly message?: string;
  /** As JSON, without the envelope's members. */
  readonly body: JsonObject;
  readonly requestId: string;
  readonly headers: Headers;
}

type Headed = Readonly<Record<string, string>>;

/** One way to call one version. */
export interface Surface {
  readonly version: 1 | 2;
  readonly wire: "json" | "connect" | "grpc";
  call(url: string, method: Method, body: JsonObject, headers: Headed): Promise<SurfaceReply>;
}

const v2Names: Readonly<Record<Method, string>> = {
  ListTasks: "enterprise.task.list",
  CreateExport: "enterprise.export.create",
  GetExport: "enterprise.export.detail",
  ListExports: "enterprise.export.list",
  GetDownloadURL: "enterprise.export.downloadUrl",
};

const createReply = (
  status: number,
  headers: Headers,
  { ok: _, request_id: requestId, ...body }: JsonObject,
): SurfaceReply => ({
  ...{ status, headers, body, requestId: String(requestId) },
});

async function overV2(
  url: string,
  name: string,
  body: JsonObject,
  headers: Headed,
  method: "GET" | "POST" = "POST",
): Promise<SurfaceReply> {
  const reply = await callV2(url, name, body, { headers, method });
  const { error, ...rest } = reply.body;
  return { ...createReply(reply.status, reply.headers, rest), ...error };
}

export async function overPlain(
  url: string,
  method: string,
  sent: string | JsonObject,
  headers: Headed,
): Promise<SurfaceReply> {
  const body = typeof sent === "string" ? sent : JSON.stringify(sent);
  const reply = await fetch(`${url}/dataexport.v1.EnterpriseDataExportService/${method}`, {
    method: "POST",
    body,
    headers,
  });
  const json = (await reply.json()) as JsonObject;
  const requestId = reply.headers.get("x-request-id") ?? "";
  if (reply.ok) return createReply(reply.status, reply.headers, json);
  const { code, message } = json;
  return {
    ...{ status: reply.status, headers: reply.headers, requestId, body: json },
    ...{ code: String(code).toLowerCase(), message: String(message) },
  };
}

const services = { 1: EnterpriseDataExportService, 2: EnterpriseDataExportV2Service } as const;

const isUnary = (method: DescMethod | undefined): method is DescMethod & { methodKind: "unary" } =>
  method?.methodKind === "unary";

function methodOf(service: DescService, name: Method): DescMethod & { methodKind: "unary" } {
  const method: DescMethod | undefined = service.methods.find((other) => other.name === name);
  if (!isUnary(method)) throw new Error(`there is no ${name}`);
  return method;
}

/** The JSON text of the wire, for a client that does not interpret it. */
async function overConnect(
  service: DescService,
  url: string,
  name: Method,
  body: JsonObject,
  headers: Headed,
): Promise<SurfaceReply> {
  const reply = await fetch(`${url}/${service.typeName}/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "connect-protocol-version": "1", ...headers },
    body: JSON.stringify(body),
  });
  const json = (await reply.json()) as JsonObject;
  if (reply.ok) return createReply(reply.status, reply.headers, json);
  const requestId = reply.headers.get("x-request-id") ?? "";
  return {
    status: reply.status,
    headers: reply.headers,
    requestId,
    code: String(json["code"]),
    message: String(json["message"]),
    body: json,
  };
}

async function overRpc(
  wire: RpcWire,
  service: DescService,
  url: string,
  name: Method,
  body: JsonObject,
  headers: Headed,
): Promise<SurfaceReply> {
  const method = methodOf(service, name);
  try {
    const answer = await transportOf(wire, url, headers).unary(
      method,
      undefined,
      undefined,
      undefined,
      fromJson(method.input, body) as never,
    );
    return createReply(
      0,
      answer.header,
      numbered(toJson(method.output, answer.message as Message, { alwaysEmitImplicit: true }) as JsonObject),
    );
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const code = Code[error.code].replace(
      /[A-Z]/g,
      (letter, at) => `${at === 0 ? "" : "_"}${letter.toLowerCase()}`,
    );
    return {
      status: error.code,
      headers: error.metadata,
      requestId: error.metadata.get("x-request-id") ?? "",
      code,
      message: error.rawMessage,
      body: {},
    };
  }
}

/** // Protobuf's own JSON of a binary answer has 64-bit numbers as strings. */
const numbered = (json: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(json).replace(/"(file_size|event_count)":"(\d+)"/g, '"$1":$2')) as JsonObject;

/** All surfaces, by name for `test.each`. */
export const surfaces: Readonly<Record<string, Surface>> = {
  "v2 JSON": {
    version: 2,
    wire: "json",
    call: (url, method, ...call) => overV2(url, v2Names[method], ...call),
  },
  "v2 Connect": { version: 2, wire: "connect", call: (...call) => overConnect(services[2], ...call) },
  "v2 gRPC": { version: 2, wire: "grpc", call: (...call) => overRpc("grpc", services[2], ...call) },
  "v1 plain JSON": { version: 1, wire: "json", call: overPlain },
  "v1 Connect": { version: 1, wire: "connect", call: (...call) => overConnect(services[1], ...call) },
  "v1 gRPC": { version: 1, wire: "grpc", call: (...call) => overRpc("grpc", services[1], ...call) },
};

const complianceName = (method: Method): string =>
  `enterprise.compliance.export.${complianceNames[method] ?? ""}`;
const complianceNames: Partial<Record<Method, string>> = {
  CreateExport: "create",
  GetExport: "detail",
  GetDownloadURL: "downloadUrl",
};
const compliance = EnterpriseComplianceV2Service;

/** The surfaces of compliance exports; read operations are a GET on one of them. */
export const complianceSurfaces: Readonly<Record<string, Surface>> = {
  "v2 JSON": {
    version: 2,
    wire: "json",
    call: (url, method, ...call) => overV2(url, complianceName(method), ...call),
  },
  "v2 GET": {
    ...{ version: 2, wire: "json" },
    call: (url, method, ...call) =>
      overV2(url, complianceName(method), ...call, method === "CreateExport" ? "POST" : "GET"),
  },
  "v2 Connect": { version: 2, wire: "connect", call: (...call) => overConnect(compliance, ...call) },
  "v2 gRPC": { version: 2, wire: "grpc", call: (...call) => overRpc("grpc", compliance, ...call) },
};

/** The status, or gRPC's number, and the code of a refusal on a surface. */
export function refusal(
  surface: Surface,
  code: "invalid_argument" | "not_found" | "failed_precondition" | "permission_denied",
): object {
  const grpc = { invalid_argument: 3, not_found: 5, failed_precondition: 9, permission_denied: 7 };
  const http = {
    invalid_argument: 400,
    not_found: 404,
    failed_precondition: surface.version === 2 && surface.wire === "json" ? 412 : 400,
    permission_denied: 403,
  };
  return { status: surface.wire === "grpc" ? grpc[code] : http[code], code };
}
