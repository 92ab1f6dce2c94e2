import type { Tx } from "../../core/store.ts";
import type { ClaimableTask } from "../../core/tasks/task-rows.ts";
import { type ClaimedTurn, newRun, workerNode } from "../../core/workers/worker-run.ts";
import { type Claimant, claimTasks, withinLimits } from "../claims.ts";

/** A place for one task at a poll. */
interface Seat {
  readonly workerId: string;
}

type SeatClaim = Omit<Claimant, "nodeId">;

/** A task and the poll that gets it. */
export type Seated<S extends Seat> = ClaimedTurn & { readonly waiter: S };

/**
 * Assigns one task per seat, in the order of the seats. Seats of revoked credentials get none: then the tasks
 * go to the others. A candidate that has changed since it was read is left out.
 */
export async function claimSeats<S extends Seat>(
  tx: Tx,
  seats: readonly S[],
  candidates: readonly ClaimableTask[],
  by: SeatClaim,
): Promise<readonly Seated<S>[]> {
  const allowed = await withinLimits(tx, candidates);
  const claimed = await claimInOrder(tx, seats, allowed, by);
  const left = Math.min(seats.length, allowed.length) - claimed.length;
  if (left === 0) return claimed;
  const live = await tx.workers.lockActive([...new Set(seats.map(({ workerId }) => workerId))]);
  if (seats.every(({ workerId }) => live.has(workerId))) return claimed;
  const taken = new Set(claimed.map(({ task }) => task.id));
  const free = unused(seats, claimed).filter(({ workerId }) => live.has(workerId));
  return [
    ...claimed,
    ...(await claimInOrder(
      tx,
      free,
      allowed.filter(({ id }) => !taken.has(id)),
      by,
    )),
  ];
}

/** The seats that have no task. A poll has several equal seats. */
function unused<S extends Seat>(seats: readonly S[], claimed: readonly Seated<S>[]): readonly S[] {
  const used = new Map<S, number>();
  for (const { waiter } of claimed) used.set(waiter, (used.get(waiter) ?? 0) + 1);
  return seats.filter((seat) => {
    const count = used.get(seat) ?? 0;
    used.set(seat, count - 1);
    return count <= 0;
  });
}

async function claimInOrder<S extends Seat>(
  tx: Tx,
  seats: readonly S[],
  candidates: readonly ClaimableTask[],
  by: SeatClaim,
): Promise<readonly Seated<S>[]> {
  const pairs = candidates.slice(0, seats.length).flatMap((task, n) => {
    const seat = seats[n];
    return seat ? [{ task, seat, workerId: seat.workerId }] : [];
  });
  const seatOf = new Map(pairs.map(({ task, seat }) => [task.id, seat]));
  // A turn that continues, after a lost run for example, counts its claims.
  const [first, again] = [
    pairs.filter(({ task }) => task.claims === 0),
    pairs.filter(({ task }) => task.claims > 0),
  ];
  const turns = [...(await tx.workerRuns.claim(first, by.now)), ...(await claimAgain(tx, again, by))];
  return turns.flatMap((turn) => {
    const waiter = seatOf.get(turn.task.id);
    return waiter ? [{ ...turn, waiter }] : [];
  });
}

/** Lock order: workers before tasks, and tasks by id, in every process. */
async function claimAgain(
  tx: Tx,
  pairs: readonly { task: ClaimableTask; workerId: string }[],
  by: SeatClaim,
): Promise<readonly ClaimedTurn[]> {
  if (pairs.length === 0) return [];
  const live = await tx.workers.lockActive([...new Set(pairs.map(({ workerId }) => workerId))]);
  const turns: ClaimedTurn[] = [];
  for (const { task: candidate, workerId } of pairs.toSorted((a, b) => (a.task.id < b.task.id ? -1 : 1))) {
    if (!live.has(workerId)) continue;
    for (const task of await claimTasks(tx, [candidate], { ...by, nodeId: workerNode(workerId) }))
      turns.push({ task, workerId });
  }
  await tx.workerRuns.put(turns.map((turn) => newRun(turn, by.now)));
  return turns;
}
