/** Event queues of a person (realtime.md): durable registrations; what they deliver are positions in the realm's log. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

/** POST /register. The state is read after the flush, so `last_event_id` and state agree. */
export function registerQueue(_context: unknown, command: Command<"queue.register">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null || !user.isActive) return refuse.userDeactivated();
  const { params } = command;
  if (view.queuesOf(user.id).size >= limits.queues_per_user_max) {
    return refuse.badRequest("Could not allocate event queue");
  }
  return done({ queue_id: params.queueId }, [
    effects.put("queues", params.queueId, {
      id: params.queueId,
      userId: user.id,
      createdAt: view.now,
      createdAtPosition: view.position,
      lifespanMs: params.lifespanMs,
      client: params.client,
      options: params.options,
    }),
  ]);
}

/** DELETE /events, and the end of a queue that nobody reads. */
export function deleteQueue(_context: unknown, command: Command<"queue.delete">, view: View): Outcome {
  const { queueId } = command.params;
  const queue = view.queue(queueId);
  if (queue === undefined || (command.callerId !== null && queue.userId !== command.callerId)) {
    return refuse.badEventQueueId(queueId);
  }
  return done({}, [effects.remove("queues", queueId)]);
}
