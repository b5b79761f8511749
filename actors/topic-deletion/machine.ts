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
import { forAdministrator } from "../protocol/decide.ts";
import { decide, ignore, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { abandonDeletion, continueDeletion, expireWaiters, requestDeletion } from "./batches.ts";
import {
  initialTopicDeletion,
  isDeleting,
  isIdle,
  isParked,
  isWaitingForMove,
  type TopicDeletionContext,
} from "./context.ts";

export const topicDeletionMachineVersion = 1;

const resumed = "topic-deletion.move-ended, topic-deletion.request";
const expired = "topic-deletion.deadline, topic-deletion.move-ended, topic-deletion.abandon";

export const topicDeletionMachine = setupMachine<TopicDeletionContext>().createMachine({
  id: "topic-deletion",
  context: initialTopicDeletion,
  initial: "idle",
  on: {
    ...decide<TopicDeletionContext>({
      "topic-deletion.request": forAdministrator(requestDeletion),
      "topic-deletion.continue": continueDeletion,
      "topic-deletion.abandon": abandonDeletion,
    }),
    ...ignore(["topic-deletion.move-ended", "topic-deletion.deadline"]),
    ...rejectUnhandled,
  },
  states: {
    idle: {
      always: [
        { guard: isDeleting, target: "deleting", description: "topic-deletion.request" },
        { guard: isParked, target: "parked", description: "topic-deletion.request" },
      ],
    },
    deleting: {
      always: [
        { guard: isIdle, target: "idle", description: "topic-deletion.continue, topic-deletion.request" },
        { guard: isParked, target: "parked", description: "topic-deletion.continue, topic-deletion.abandon" },
        { guard: isWaitingForMove, target: "waiting-for-move", description: "topic-deletion.continue" },
      ],
    },
    "waiting-for-move": {
      on: {
        ...decide<TopicDeletionContext>({
          "topic-deletion.move-ended": continueDeletion,
          "topic-deletion.deadline": expireWaiters,
        }),
        // A step from before the wait, which has nothing left to do.
        ...ignore(["topic-deletion.continue"]),
      },
      always: [
        { guard: isIdle, target: "idle", description: resumed },
        { guard: isParked, target: "parked", description: expired },
        { guard: isDeleting, target: "deleting", description: resumed },
      ],
    },
    parked: {
      always: [
        { guard: isIdle, target: "idle", description: "topic-deletion.continue, topic-deletion.request" },
        { guard: isDeleting, target: "deleting", description: "topic-deletion.request" },
      ],
    },
  },
});
