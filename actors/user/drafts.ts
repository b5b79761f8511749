/**
 * Drafts (public API: drafts): a user's own, bounded in number. Their texts are already truncated. The recipients must
 * be visible to the user, as for a message sent now.
 */

import { draftBody, keepsDrafts } from "../../domain/drafts.ts";
import { canAccessUser } from "../../domain/people.ts";
import { hasMetadataAccess } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { DraftContent, DraftRecord } from "../../schemas/drafts.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

/** POST /drafts, atomic. */
export function addDrafts(user: UserRecord, { drafts }: Params<"drafts.add">, view: View): Outcome {
  if (!keepsDrafts(user)) return refuse.draftsNotKept();

  for (const draft of drafts) {
    const refused = checkAddress(view, user, draft);
    if (refused !== null) return refused;
  }
  if (draftKeys(view, user.id).length + drafts.length > limits.drafts_per_user_max) {
    return refuse.badRequest("Too many drafts");
  }
  if (drafts.length === 0) return done({ ids: [] }, []);
  const last = view.counter("draft");
  const rows = drafts.map((draft, index) => rowOf(view, user, last + 1 + index, draft));
  return done({ ids: rows.map(({ id }) => id) }, [
    effects.setCounter("draft", last + rows.length),
    ...rows.map((row) => effects.put("drafts", [user.id, row.id], row)),
    eventFor(user.id, { op: "add", drafts: rows.map(draftBody) }),
  ]);
}

export function updateDraft(user: UserRecord, { id, draft }: Params<"drafts.update">, view: View): Outcome {
  if (!keepsDrafts(user)) return refuse.draftsNotKept();

  const before = view.row("drafts", [user.id, id]);
  if (before === undefined) return doesNotExist();
  const refused = checkAddress(view, user, draft);
  if (refused !== null) return refused;
  const row = rowOf(view, user, id, draft);
  if (JSON.stringify(draftBody(row)) === JSON.stringify(draftBody(before))) return done({}, []);
  return done({}, [
    effects.put("drafts", [user.id, id], row),
    eventFor(user.id, { op: "update", draft: draftBody(row) }),
  ]);
}

export function removeDraft(user: UserRecord, { id }: Params<"drafts.remove">, view: View): Outcome {
  if (!keepsDrafts(user)) return refuse.draftsNotKept();

  if (view.row("drafts", [user.id, id]) === undefined) return doesNotExist();
  return done({}, [effects.remove("drafts", [user.id, id]), eventFor(user.id, { op: "remove", draft_id: id })]);
}

/** Turning off enable_drafts_synchronization deletes the drafts; clients receive no event (spec 2.3). */
export function removeAllDrafts(view: View, userId: UserId): Effect[] {
  return draftKeys(view, userId).map((key) => effects.remove("drafts", key));
}

const doesNotExist = () => refuse.notFound("Draft does not exist");

function draftKeys(view: View, userId: UserId) {
  return view.keys("drafts", { start: [userId], end: [userId + 1], limit: limits.drafts_per_user_max });
}

function checkAddress(view: View, user: UserRecord, { type, to }: DraftContent): Refusal | null {
  if (type === "channel") {
    const channel = view.channels.get(to[0] ?? 0);
    return channel !== undefined && hasMetadataAccess(view, user, channel) ? null : refuse.invalidChannelId();
  }
  const unknown = to.find((id) => {
    const person = view.users.get(id);
    return person === undefined || !canAccessUser(view, user, person);
  });
  return unknown === undefined ? null : refuse.badRequest(`Invalid user ID ${unknown}`);
}

/** With other recipients, the user's own id is implied and removed. */
function rowOf(view: View, user: UserRecord, id: number, draft: DraftContent): DraftRecord {
  const others = draft.to.filter((recipient) => recipient !== user.id);
  const to = draft.type === "direct" && others.length > 0 ? others : draft.to;
  return { ...draft, to, id, userId: user.id, changedAt: draft.changedAt ?? view.now };
}

function eventFor(userId: UserId, body: StoredBody<"drafts">): Effect {
  return effects.emit("drafts", body, { to: "users", ids: [userId] });
}

export const draftsDecisions = {
  "drafts.add": forUser(addDrafts),
  "drafts.update": forUser(updateDraft),
  "drafts.remove": forUser(removeDraft),
} as const;
