import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { Writers } from "../exporting/written.ts";
import { EnterpriseTaskRecordSchema } from "../gen/proto/dataexport/v1/export_pb.ts";
import { FileDetailSchema } from "../gen/proto/file/v2/file_pb.ts";
import { ProjectSchema } from "../gen/proto/project/v2/project_pb.ts";
import { SkillSchema } from "../gen/proto/skill/v2/skill_pb.ts";
import { TaskEventSchema } from "../gen/proto/task/v2/task_event_pb.ts";
import { compileBareWriter } from "../http/v2/writer.ts";
import { taskMessage } from "../rpc/data-export-words.ts";
import { eventMessage } from "../rpc/event.ts";
import { toDetail } from "../rpc/file.ts";
import { toProject } from "../rpc/project.ts";
import { toListed } from "../rpc/skill.ts";

/** The v2 JSON of a message. */
function writerOf<Desc extends DescMessage>(desc: Desc): (message: MessageInitShape<Desc>) => string {
  const write = compileBareWriter(desc);
  return (message) => write(create(desc, message));
}

const record = writerOf(EnterpriseTaskRecordSchema);
const event = writerOf(TaskEventSchema);
const file = writerOf(FileDetailSchema);
const project = writerOf(ProjectSchema);
const skill = writerOf(SkillSchema);

/** Rows of archives are those of the API. */
export const exportWriters: Writers = {
  record: (task) => record(taskMessage(task)),
  event: (told, link) => event(eventMessage(told, link)),
  file: (kept) => file(toDetail(kept)),
  project: (kept) => project(toProject(kept)),
  skill: (kept) => skill(toListed(kept)),
};
