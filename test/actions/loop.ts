import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sample, seed, share } from "../support/depth.ts";
import { taskRig } from "../support/task-rig.ts";
import { type Act, approvals, leavesOf, paramsFor, paramsOf, requestAct } from "./acts.ts";
import { deceiving, missingIn, type OpenSurface, type Surface } from "./surface.ts";

/** How a surface is tested. */
export interface Looping {
  /** False: the surface shows every action, of any length. */
  readonly hasRoomLimit: boolean;
  /** Kinds whose decision this surface cannot take: it leaves them to the task's page. */
  readonly leaves?: readonly string[];
  /** `npm test` has one of `parts` parts of the kinds, those from this one on; a full run has all. */
  readonly part: number;
  readonly parts: number;
  /** More settings of the platform. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Rounds of each kind, so that a full run has 8 actions of each on each surface, one of them too long for a
 * protocol.
 */
const rounds = approvals.flatMap((row, at) =>
  Array.from({ length: sample(8, 1) }, (_, round) => ({ ...row, round: seed * 1000 + at * 8 + round })),
);

/**
 * Tests one surface: for every kind of approval, each value of random params is in the view that offers the
 * decision, or the view offers none, says so, and names the task's page.
 */
export function testSurface(
  name: string,
  openSurface: OpenSurface,
  { hasRoomLimit, leaves = [], part, parts, env = {} }: Looping,
): void {
  describe(`an approval by ${name}`, () => {
    const rig = taskRig({ idle: true, env: { A2A: "on", A2A_PROFILES: "manus-1.6", ...env } });
    let surface: Surface;
    beforeAll(async () => {
      surface = await openSurface({ service: rig.service, person: rig.ann });
    });
    afterAll(async () => surface?.close?.());

    async function show(act: Act) {
      const id = await rig.create();
      const view = await surface.show(id, () => requestAct(rig.service, id, act));
      const { task } = (await rig.ann.v2("task.detail", { task_id: id })).body;
      return { view, task };
    }

    test.each(
      share(rounds, part, parts),
    )("of $kind $variant shows every value, or offers no decision ($round)", async ({
      kind,
      variant,
      round,
    }) => {
      const params = paramsFor(kind, paramsOf(round));
      const { view, task } = await show({
        kind,
        variant,
        description: `Do \u202e${round}\n\nto: no one`,
        params,
      });
      expect(view.text).not.toMatch(deceiving);
      if (view.offersDecision) expect(missingIn(view, leavesOf(params))).toEqual([]);
      else expect(view.text).toContain(task.task_url);
      const isLong = JSON.stringify(params).length > 15_000;
      expect(view.offersDecision, "only what is too long is not decided").toBe(
        !(hasRoomLimit && isLong) && !leaves.includes(kind),
      );
    });

    test.runIf(hasRoomLimit)(
      "that is too long says so, names the task's page, and is refused on this wire",
      async () => {
        const { view, task } = await show({
          kind: "terminalExecute",
          variant: "",
          description: "Go on",
          params: paramsOf(1, true),
        });
        expect(view.offersDecision).toBe(false);
        expect(view.text).toMatch(/has \d+ characters/);
        expect(view.text).toContain(task.task_url);
        if (!surface.decide) return;
        expect(await surface.decide(task.id, task.status_detail.waiting_for_event_id)).toMatch(
          /failed_precondition|20000 are shown/,
        );
        expect((await rig.row(task.id)).status).toBe("waiting");
      },
    );
  });
}
