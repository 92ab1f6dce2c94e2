import { z } from "zod";
import { notFound } from "../../core/failure.ts";
import { UserService } from "../../gen/proto/user/v2/user_service_pb.ts";
import { unused } from "../v1/input.ts";
import { compound, type Route } from "../v1/route.ts";

/** A profile as a model. Profiles have no time of creation, which SDKs require. */
const modelObject = (id: string) => ({ id, object: "model", created: 0, owned_by: "platform" });

/** The query of SDKs that page through every list. */
const modelList = z.object({ limit: unused, after: unused, order: unused });

/**
 * The agent profiles as models: SDKs read them before they create a response (spec/v1.md 7.7). A call counts
 * as user.me.
 */
export const modelRoutes = (prefix: "" | "/v1", profiles: readonly string[]): readonly Route[] => [
  compound(`GET ${prefix}/models`, UserService.method.getCurrentUser, modelList, async () => ({
    object: "list",
    data: profiles.map(modelObject),
  })),
  compound(
    `GET ${prefix}/models/{model}`,
    UserService.method.getCurrentUser,
    z.object({ model: z.string() }),
    async ({ model }) => {
      if (!profiles.includes(model)) throw notFound("model");
      return modelObject(model);
    },
  ),
];
