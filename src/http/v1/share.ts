import { ShareVisibility, type Task } from "../../gen/proto/task/v2/task_pb.ts";

/** Where a task is shared, as operations that change it answer it: absent while it is private. */
export const shareUrlOf = ({ taskUrl, shareVisibility }: Task): string | undefined =>
  shareVisibility === ShareVisibility.PRIVATE ? undefined : taskUrl.replace(/\/app\/([^/]+)$/, "/share/$1");
