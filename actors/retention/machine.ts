/**
 * Message retention: removes messages older than the limit of their channel or organization, by a durable timer (M8).
 *
 *    idle --check, a limit exists--> sweeping --sweep, slice by slice--> sweeping
 *                                    sweeping --sweep, all examined--> waiting       a timer is set
 *                                    sweeping --sweep, no limit is left--> idle
 *                                    sweeping --abandon, a slice failed--> waiting
 *                                    waiting --due, or check: a limit changed--> sweeping
 *                                    sweeping --sweep, a clock jump would remove too much--> held
 *                                    held --check: a limit changed or the realm was opened; confirm--> sweeping
 *
 * After a clock jump a round is counted before it removes anything, because the clock may be wrong rather than the
 * messages old. The first round considers every jump since the realm was created. A round that would remove more than
 * `retention_jump_percent_max` of all messages waits for an operator.
 *
 * Between slices the actor sends itself `sweep`, which is queued behind the realm's other commands and does not delay
 * them. Each slice is one atomic command and the next one is in the durable mailbox, so a crash always resumes at a
 * slice boundary.
 */
import { forServer } from "../protocol/decision.ts";
import { decide, ignore, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { initialRetention, type RetentionContext, type SweepingContext } from "./context.ts";
import { abandonSweep, allowJumps, begin, beginWhenDue, confirmPaused, repeatRound, sweep } from "./sweeps.ts";

export const retentionMachineVersion = 1;

const begins = { sweeping: "a round begins" };

export const retentionMachine = setupMachine<RetentionContext>().createMachine({
  id: "retention",
  context: initialRetention,
  initial: "idle",
  states: {
    idle: {
      on: {
        ...lead(decide<RetentionContext>({ "retention.check": begin, "retention.confirm": forServer(allowJumps) }), {
          "retention.check": begins,
        }),
        ...ignore(["retention.due", "retention.sweep", "retention.abandon"]),
      },
    },
    sweeping: {
      on: {
        ...lead(
          decide<SweepingContext, RetentionContext>({
            "retention.check": repeatRound,
            "retention.sweep": sweep,
            "retention.abandon": forServer(abandonSweep),
            "retention.confirm": forServer(allowJumps),
          }),
          {
            "retention.sweep": {
              held: "it would remove too much",
              idle: "no limit is left",
              waiting: "all is examined",
            },
            "retention.abandon": { waiting: "always" },
          },
        ),
        ...ignore(["retention.due"]),
      },
    },
    held: {
      on: {
        ...lead(decide<RetentionContext>({ "retention.check": begin, "retention.confirm": confirmPaused }), {
          "retention.check": begins,
          "retention.confirm": begins,
        }),
        ...ignore(["retention.due", "retention.sweep", "retention.abandon"]),
      },
    },
    waiting: {
      on: {
        ...lead(
          decide<RetentionContext>({
            "retention.check": begin,
            "retention.due": beginWhenDue,
            "retention.confirm": forServer(allowJumps),
          }),
          { "retention.check": begins, "retention.due": begins },
        ),
        ...ignore(["retention.sweep", "retention.abandon"]),
      },
    },
  },
  on: rejectUnhandled,
});
