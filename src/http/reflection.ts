import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type { ServerReflection, ServerReflectionRequest } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";

/**
 * gRPC server reflection over these services' descriptors. Both published versions
 * have the same messages but for their package, so one implementation serves both.
 */
export function reflectionService(services: readonly DescService[]): ServiceImpl<typeof ServerReflection> {
  const files = closure(services.map(({ file }) => file));
  const index: Index = { services, files: new Map(files.map((file) => [file.proto.name, file])), types: createRegistry(...files) };
  return {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield { validHost: request.host, originalRequest: request, messageResponse: answer(request, index) };
      }
    },
  };
}

interface Index {
  readonly services: readonly DescService[];
  readonly files: ReadonlyMap<string, DescFile>;
  readonly types: Registry;
}

function answer({ messageRequest: asked }: ServerReflectionRequest, { services, files, types }: Index) {
  switch (asked.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: services.map(({ typeName }) => ({ name: typeName })) } } as const;
    case "fileByFilename":
      return withImports(files.get(asked.value));
    case "fileContainingSymbol":
      return withImports(fileOf(types, asked.value));
    case "fileContainingExtension":
      return withImports(extensionFile(types, asked.value));
    case "allExtensionNumbersOfType":
      return extensionNumbers(types, asked.value);
    default:
      return failed(Code.InvalidArgument, "no question asked");
  }
}

/** A symbol is a type, a service, or a member of one of them. */
function fileOf(types: Registry, symbol: string): DescFile | undefined {
  const found = types.get(symbol) ?? types.get(symbol.slice(0, symbol.lastIndexOf(".")));
  return found?.file;
}

const extensionFile = (types: Registry, { containingType, extensionNumber }: { containingType: string; extensionNumber: number }) =>
  [...types].find((type) => type.kind === "extension" && type.extendee.typeName === containingType && type.number === extensionNumber)
    ?.file;

function extensionNumbers(types: Registry, containingType: string) {
  const extensionNumber = [...types].flatMap((type) =>
    type.kind === "extension" && type.extendee.typeName === containingType ? [type.number] : [],
  );
  return { case: "allExtensionNumbersResponse", value: { baseTypeName: containingType, extensionNumber } } as const;
}

/** A file with everything it imports, so that one answer is enough for a client. */
function withImports(file: DescFile | undefined) {
  if (!file) return failed(Code.NotFound, "not found");
  const fileDescriptorProto = closure([file]).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } } as const;
}

/** These files and all that they import, each once. */
function closure(roots: readonly DescFile[]): DescFile[] {
  const found = new Set<DescFile>();
  const visit = (file: DescFile): void => {
    if (found.has(file)) return;
    found.add(file);
    file.dependencies.forEach(visit);
  };
  roots.forEach(visit);
  return [...found];
}

const failed = (errorCode: Code, errorMessage: string) => ({ case: "errorResponse", value: { errorCode, errorMessage } }) as const;
