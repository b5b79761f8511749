/**
 * Event queues of a user (realtime.md): durable registrations. The events they deliver are positions in the realm's
 * log.
 */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { OtherQueues } from "../../schemas/queues.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forEither, forUser, type Outcome, type Params } from "../protocol/decision.ts";

/**
 * POST /register. The state is read after the flush, so `last_event_id` and the state agree. A client that registers
 * repeatedly must not lock its user out, so above the limit the least used queues are closed.
 */
export function registerQueue(user: UserRecord, params: Params<"queue.register">, view: View): Outcome {
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

/**
 * Queues to close before another one is registered. A queue registered in this turn has no reader yet, so it is closed
 * first.
 */
function surplus(view: View, userId: UserId, { unread, connected }: OtherQueues): readonly string[] {
  const present = view.queuesOf(userId);
  const count = present.size + 1 - limits.queues_per_user_max;
  if (count <= 0) return [];
  const known = new Set([...unread, ...connected]);
  const position = (id: string) => view.queue(id)?.createdAtPosition ?? 0;
  const fresh = [...present].filter((id) => !known.has(id)).sort((a, b) => position(a) - position(b));
  return [...unread, ...fresh, ...connected].filter((id) => present.has(id)).slice(0, count);
}

/** DELETE /events, and the expiry of a queue without readers. */
export function deleteQueue(user: UserRecord | null, { queueId }: Params<"queue.delete">, view: View): Outcome {
  const queue = view.queue(queueId);
  if (queue === undefined || (user !== null && queue.userId !== user.id)) {
    return refuse.badEventQueueId(queueId);
  }
  return done({}, [effects.remove("queues", queueId)]);
}

export const queuesDecisions = {
  "queue.register": forUser(registerQueue),
  "queue.delete": forEither(deleteQueue),
} as const;
