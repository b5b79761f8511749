/**
 * Deletes a topic in batches, newest messages first (spec 4.13, section 3 Topic).
 *
 *    idle --request--> deleting --continue, nothing left--> idle           answers complete: true
 *                      deleting --continue, deadline passed--> parked      answers complete: false
 *                      deleting --continue after a restart--> parked       no request is waiting
 *                      deleting --abandon, a batch failed--> parked        answers complete: false
 *                      deleting --continue, a move has begun--> waiting-for-move
 *                      waiting-for-move --move-ended, or another request--> deleting
 *                      waiting-for-move --deadline, of every request--> parked    answers complete: false
 *                      parked --request--> deleting
 *
 * Between batches the actor sends itself `continue`, which is queued behind the realm's other commands and does not
 * delay them. Each batch is one atomic command, so a crash leaves the topic at a batch boundary. Requests and abandoned
 * steps may arrive in any state, so idle, deleting and parked accept the same commands, and the context decides.
 */
import { forAdministrator } from "../protocol/decision.ts";
import { decide, ignore, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import {
  abandonDeletion,
  continueDeletion,
  expireWaiters,
  initialTopicDeletion,
  requestDeletion,
  type TopicDeletionContext,
} from "./batches.ts";

export const topicDeletionMachineVersion = 1;

const accepted = decide<TopicDeletionContext>({
  "topic-deletion.request": forAdministrator(requestDeletion),
  "topic-deletion.continue": continueDeletion,
  "topic-deletion.abandon": abandonDeletion,
});
const late = ignore(["topic-deletion.move-ended", "topic-deletion.deadline"]);

const idle = "nothing is left";
const parked = "no request waits";
const deleting = "a request waits";

export const topicDeletionMachine = setupMachine<TopicDeletionContext>().createMachine({
  id: "topic-deletion",
  context: initialTopicDeletion,
  initial: "idle",
  states: {
    idle: { on: { ...lead(accepted, { "topic-deletion.request": { deleting, parked } }), ...late } },
    deleting: {
      on: {
        ...lead(accepted, {
          "topic-deletion.request": { idle, parked },
          "topic-deletion.continue": { idle, parked, "waiting-for-move": "a move has begun" },
          "topic-deletion.abandon": { parked },
        }),
        ...late,
      },
    },
    "waiting-for-move": {
      on: {
        ...lead(
          {
            ...accepted,
            ...decide<TopicDeletionContext>({
              "topic-deletion.move-ended": continueDeletion,
              "topic-deletion.deadline": expireWaiters,
            }),
          },
          {
            "topic-deletion.request": { deleting, idle, parked },
            "topic-deletion.move-ended": { deleting, idle, parked },
            "topic-deletion.deadline": { parked },
            "topic-deletion.abandon": { parked },
          },
        ),
        // A step from before the wait, which has nothing left to do.
        ...ignore(["topic-deletion.continue"]),
      },
    },
    parked: {
      on: {
        ...lead(accepted, { "topic-deletion.request": { deleting, idle }, "topic-deletion.continue": { idle } }),
        ...late,
      },
    },
  },
  on: rejectUnhandled,
});
