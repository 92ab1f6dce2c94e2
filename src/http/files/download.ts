import type { FastifyInstance } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { absent } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blobs.ts";
import { asOf, type StoredFile } from "../../core/files/file.ts";
import type { FileLinks } from "../../core/files/links.ts";
import { fileOfSkill, skillIdOf } from "../../core/skills/download.ts";
import type { Tx } from "../../core/store.ts";
import { checkLink, linkOf, linkPath } from "./link.ts";
import { sendFile } from "./send-file.ts";

/** What giving files out needs. */
export interface DownloadRouteParts {
  readonly blobs: Blobs;
  readonly links: FileLinks;
  readonly clock: Clock;
  readonly store: Pick<Tx, "files" | "skills">;
}

/** `GET` and `HEAD` of a download link: it says who may, so that no key is asked for. */
export function downloadRoute(app: FastifyInstance, { blobs, links, clock, store }: DownloadRouteParts): void {
  app.route({
    method: [...app.supportedMethods],
    url: linkPath,
    exposeHeadRoute: false,
    onRequest: async (request, reply) => checkLink("downloads", ["GET", "HEAD"], request, reply, { links, clock }),
    async handler(request, reply) {
      const file = await linkedFile(store, linkOf(request).fileId);
      if (!file) throw absent("file");
      return sendFile(request, reply, asOf(file, clock.now()), blobs);
    },
  });
}

/** A file, or a skill's ZIP. */
async function linkedFile(store: DownloadRouteParts["store"], linked: string): Promise<StoredFile | null> {
  const skillId = skillIdOf(linked);
  if (skillId === undefined) return store.files.byId(linked);
  const skill = await store.skills.byId(skillId);
  return skill && fileOfSkill(skill);
}
