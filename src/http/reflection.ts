import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type { ServerReflectionRequest } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import type { ServerReflectionRequest as ServerReflectionRequestAlpha } from "../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";

/** A request of either published version: their messages differ only in the package. */
type ReflectionRequest = ServerReflectionRequest | ServerReflectionRequestAlpha;

/** gRPC server reflection over these services' descriptors, in both versions. */
export function reflection(services: readonly DescService[]) {
  const files = closure(services.map(({ file }) => file));
  const index: Index = {
    services,
    files: new Map(files.map((file) => [file.proto.name, file])),
    types: createRegistry(...files),
  };
  return async function* serverReflectionInfo<R extends ReflectionRequest>(requests: AsyncIterable<R>) {
    for await (const request of requests) {
      yield { validHost: request.host, originalRequest: request, messageResponse: answer(request, index) };
    }
  };
}

interface Index {
  readonly services: readonly DescService[];
  readonly files: ReadonlyMap<string, DescFile>;
  readonly types: Registry;
}

function answer({ messageRequest }: ReflectionRequest, { services, files, types }: Index) {
  switch (messageRequest.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: { service: services.map(({ typeName }) => ({ name: typeName })) },
      } as const;
    case "fileByFilename":
      return withImports(files.get(messageRequest.value));
    case "fileContainingSymbol":
      return withImports(fileOf(types, messageRequest.value));
    case "fileContainingExtension":
      return withImports(extensionFile(types, messageRequest.value));
    case "allExtensionNumbersOfType":
      return extensionNumbers(types, messageRequest.value);
    default:
      return errorResponse(Code.InvalidArgument, "message_request: is required");
  }
}

/** Finds the file of a symbol: a type, a service, or a member of one of them. */
function fileOf(types: Registry, symbol: string): DescFile | undefined {
  const type = types.get(symbol) ?? types.get(symbol.slice(0, symbol.lastIndexOf(".")));
  return type?.file;
}

const extensionFile = (
  types: Registry,
  { containingType, extensionNumber }: { containingType: string; extensionNumber: number },
) =>
  [...types].find(
    (type) =>
      type.kind === "extension" &&
      type.extendee.typeName === containingType &&
      type.number === extensionNumber,
  )?.file;

function extensionNumbers(types: Registry, containingType: string) {
  const extensionNumber = [...types].flatMap((type) =>
    type.kind === "extension" && type.extendee.typeName === containingType ? [type.number] : [],
  );
  return {
    case: "allExtensionNumbersResponse",
    value: { baseTypeName: containingType, extensionNumber },
  } as const;
}

/** A file with all its imports, so that one answer is enough for a client. */
function withImports(file: DescFile | undefined) {
  if (!file) return errorResponse(Code.NotFound, "not found");
  const fileDescriptorProto = closure([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } } as const;
}

/** These files and all their imports, each once. */
function closure(roots: readonly DescFile[]): DescFile[] {
  const visited = new Set<DescFile>();
  const visit = (file: DescFile): void => {
    if (visited.has(file)) return;
    visited.add(file);
    file.dependencies.forEach(visit);
  };
  roots.forEach(visit);
  return [...visited];
}

const errorResponse = (errorCode: Code, errorMessage: string) =>
  ({ case: "errorResponse", value: { errorCode, errorMessage } }) as const;
