import { browsersMax } from "../../src/core/browsers/browser.ts";
import { connectorsMax } from "../../src/core/connectors/connector.ts";
import { appsMax } from "../../src/core/oauth/app.ts";
import { projectsMax } from "../../src/core/projects/project.ts";
import { pushConfigsMax } from "../../src/core/push/push-configs.ts";
import { schedulesMax } from "../../src/core/schedules/schedule.ts";
import { passkeysMax } from "../../src/core/sign-in/factor.ts";
import { entriesMax } from "../../src/core/skills/files.ts";
import { skillsMax } from "../../src/core/skills/skill.ts";
import { depthMax, livingMax, subtasksMax } from "../../src/core/tasks/subtasks.ts";
import { groupMembersMax, groupsMax } from "../../src/core/teams/group.ts";
import { budgetsMax } from "../../src/core/usage/budget.ts";
import { listenersMax } from "../../src/core/webhooks/listener.ts";
import { webhooksMax } from "../../src/core/webhooks/webhook.ts";
import { domainsMax } from "../../src/core/websites/domain.ts";
import { viewersMax } from "../../src/core/websites/viewers.ts";

/** How many objects something has at most. */
export interface ObjectLimit {
  /** What has them, as in a sentence. */
  readonly of: string;
  /** The objects, as texts name them after a number. */
  readonly what: string;
  readonly max: number;
}

/** The limits that texts name in several places; a test compares each of these texts. */
export const objectLimits: readonly ObjectLimit[] = [
  { of: "a space", what: "projects", max: projectsMax },
  { of: "an account in a space", what: "webhooks", max: webhooksMax },
  { of: "an account, at a time", what: "listeners", max: listenersMax },
  { of: "an account in a space", what: "schedules", max: schedulesMax },
  { of: "an account or a space", what: "connectors", max: connectorsMax },
  { of: "an account, a team or a project", what: "skills", max: skillsMax.personal },
  { of: "a skill", what: "files and folders", max: entriesMax },
  { of: "an account in a space, at a time", what: "browsers", max: browsersMax },
  { of: "a task", what: "push notification configurations", max: pushConfigsMax },
  { of: "a root task", what: "running or waiting subtasks", max: livingMax },
  { of: "a root task", what: "subtasks in all", max: subtasksMax },
  { of: "a root task", what: "levels of subtasks", max: depthMax },
  { of: "a website", what: "viewers", max: viewersMax },
  { of: "a space", what: "domains", max: domainsMax },
  { of: "a team", what: "apps", max: appsMax },
  { of: "a team", what: "groups", max: groupsMax },
  { of: "a group", what: "members", max: groupMembersMax },
  { of: "a space", what: "budgets", max: budgetsMax },
  { of: "a person", what: "passkeys", max: passkeysMax },
];
