/** Event queues of a person (realtime.md): durable registrations; what they deliver are positions in the realm's log. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, OtherQueues } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

/**
 * POST /register. The state is read after the flush, so `last_event_id` and state agree. Clients that register again and again must
 * not lock their owner out: beyond the bound, queues end that are missed least.
 */
export function registerQueue(_context: unknown, command: Command<"queue.register">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null || !user.isActive) return refuse.userDeactivated();
  const { params } = command;
  return done({ queue_id: params.queueId }, [
    ...surplus(view, user.id, params.others).map((id) => effects.remove("queues", id)),
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

/** Queues to end before one more is registered. A queue that was registered in this turn has no reader yet. */
function surplus(view: View, userId: number, { unread, connected }: OtherQueues): readonly string[] {
  const present = view.queuesOf(userId);
  const count = present.size + 1 - limits.queues_per_user_max;
  if (count <= 0) return [];
  const known = new Set([...unread, ...connected]);
  const position = (id: string) => view.queue(id)?.createdAtPosition ?? 0;
  const fresh = [...present].filter((id) => !known.has(id)).sort((a, b) => position(a) - position(b));
  return [...unread, ...fresh, ...connected].filter((id) => present.has(id)).slice(0, count);
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
