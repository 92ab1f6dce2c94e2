/**
 * The times that a list of tasks can be ordered by; `waitingSince` only with the status `waiting`, outside of
 * a team's view.
 */
export type TaskOrder = "createdAt" | "updatedAt" | "waitingSince";

/** A place in a list of tasks: the time that the list is ordered by, and an id. */
export interface TaskPosition {
  readonly at: number;
  readonly id: string;
}

/** A keyset page: ordered by a time, then by id. */
export interface TaskPage {
  readonly orderBy: TaskOrder;
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: TaskPosition;
}
