import { invalidArgument } from "../../../core/failure.ts";
import type { PushSecrets } from "../../../core/push/push-config.ts";
import type { PushView } from "../../../core/push/push-configs.ts";
import type {
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";

/** What identifies a configuration in a request. */
export type ConfigId = Pick<TaskPushNotificationConfig, "taskId" | "id">;

/** The methods of push notifications for one request of a caller. All throw Failure. */
export interface PushUse {
  /** Checks that a configuration would be accepted. @param taskId empty: of a task to come. */
  check(config: TaskPushNotificationConfig): Promise<void>;
  /** @param afterSeq a message was sent before: events after this one are sent. */
  create(config: TaskPushNotificationConfig, afterSeq?: number): Promise<TaskPushNotificationConfig>;
  get(of: ConfigId): Promise<TaskPushNotificationConfig>;
  list(request: ListTaskPushNotificationConfigsRequest): Promise<ListTaskPushNotificationConfigsResponse>;
  remove(of: ConfigId): Promise<void>;
}

/** The secrets of a requested configuration. @throws Failure `invalid_argument` */
export function secretsOf({ token, authentication }: TaskPushNotificationConfig): PushSecrets {
  if (authentication && authentication.scheme === "")
    throw invalidArgument("authentication.scheme", "is required");
  const { scheme, credentials = "" } = authentication ?? {};
  return {
    ...(token !== "" && { token }),
    ...(scheme !== undefined && { scheme }),
    ...(credentials !== "" && { credentials }),
  };
}

/** A configuration as it is answered: without its token and credentials (spec/decisions.md 148). */
export const configOf = ({ taskId, configId, url, scheme }: PushView) => ({
  taskId,
  id: configId,
  url,
  ...(scheme !== undefined && { authentication: { scheme } }),
});
