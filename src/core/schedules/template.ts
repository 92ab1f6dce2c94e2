import type { JsonObject } from "../json.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type { Metadata } from "../tasks/metadata.ts";
import type { RequestedResources } from "../tasks/task-resources.ts";
import type { Visibility } from "../visibility.ts";

/** What task.create gets at each due time. The message has text only, because files expire. */
export interface TaskTemplate {
  readonly input: {
    readonly texts: readonly string[];
    readonly references: readonly string[];
    readonly resources: RequestedResources;
  };
  readonly projectId?: string;
  readonly locale?: string;
  readonly interactive: boolean;
  readonly hidden: boolean;
  readonly shareVisibility: Visibility;
  readonly agentProfile?: string;
  readonly title?: string;
  readonly metadata?: Metadata;
  /** Absent in templates of releases before 0.3.0. */
  readonly permissions?: readonly PermissionRule[] | undefined;
  /** `checkSchema` has accepted it. */
  readonly outputSchema?: JsonObject | undefined;
}
