import { z } from "zod";
import type { Clock } from "../../core/clock.ts";
import { absent } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blobs.ts";
import { asOf } from "../../core/files/file.ts";
import type { Tx } from "../../core/store.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { sendFile } from "../files/send-file.ts";
import { fileRoutes } from "../v1/file.ts";
import { compound, type Route } from "../v1/route.ts";

/** What giving files out needs. */
export interface ContentParts {
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files">;
  readonly clock: Clock;
}

/** Files as SDKs know them: v1's, with times in numbers where there is no `/v1`, and what is in them (contract/v1.md 7.4). */
export const sdkFileRoutes = (parts: ContentParts): readonly Route[] => [
  ...fileRoutes("", Number),
  contentRoute("", parts),
  contentRoute("/v1", parts),
];

const contentRoute = (prefix: "" | "/v1", { blobs, store, clock }: ContentParts): Route =>
  compound(
    `GET ${prefix}/files/{file_id}/content`,
    FileService.method.getFile,
    z.object({ file_id: z.string() }),
    async ({ file_id: fileId }, ask, reply) => {
      // It says whether the caller may see this file.
      await ask(FileService.method.getFile, { fileId });
      const file = await store.files.byId(fileId);
      if (!file) throw absent("file");
      return sendFile(reply.request, reply, asOf(file, clock.now()), blobs);
    },
  );
