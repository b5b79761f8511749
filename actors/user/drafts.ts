/**
 * Drafts (public API: drafts): a person's own, bounded in number. Texts come cut to their bounds; whom a draft is for must be
 * known to the person now, as if the message were sent.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { DraftRecord, UserRecord } from "../../schemas/records.ts";
import { draftBody, keepsDrafts } from "../../src/domain/drafts.ts";
import { canAccessUser } from "../../src/domain/people.ts";
import { hasMetadataAccess } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, DraftContent } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";

/** POST /drafts: all or none. */
export function addDrafts(_context: unknown, command: Command<"drafts.add">, view: View): Outcome {
  const user = writerOf(command, view);
  if ("kind" in user) return user;
  const { drafts } = command.params;
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
    effects.count("draft", last + rows.length),
    ...rows.map((row) => effects.put("drafts", [user.id, row.id], row)),
    tell(user.id, { op: "add", drafts: rows.map(draftBody) }),
  ]);
}

export function updateDraft(_context: unknown, command: Command<"drafts.update">, view: View): Outcome {
  const user = writerOf(command, view);
  if ("kind" in user) return user;
  const { id, draft } = command.params;
  const before = view.row("drafts", [user.id, id]);
  if (before === undefined) return doesNotExist();
  const refused = checkAddress(view, user, draft);
  if (refused !== null) return refused;
  const row = rowOf(view, user, id, draft);
  if (JSON.stringify(draftBody(row)) === JSON.stringify(draftBody(before))) return done({}, []);
  return done({}, [effects.put("drafts", [user.id, id], row), tell(user.id, { op: "update", draft: draftBody(row) })]);
}

export function removeDraft(_context: unknown, command: Command<"drafts.remove">, view: View): Outcome {
  const user = writerOf(command, view);
  if ("kind" in user) return user;
  const { id } = command.params;
  if (view.row("drafts", [user.id, id]) === undefined) return doesNotExist();
  return done({}, [effects.remove("drafts", [user.id, id]), tell(user.id, { op: "remove", draft_id: id })]);
}

/** What turning enable_drafts_synchronization off means for the drafts; no client is told (spec 2.3). */
export function removeAllDrafts(view: View, userId: number): Effect[] {
  return draftKeys(view, userId).map((key) => effects.remove("drafts", key));
}

const doesNotExist = () => refuse.notFound("Draft does not exist");

function draftKeys(view: View, userId: number) {
  return view.keys("drafts", { start: [userId], end: [userId + 1], limit: limits.drafts_per_user_max });
}

/** The caller, who must want drafts to be kept. */
function writerOf(command: Command, view: View): UserRecord | Refusal {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  return keepsDrafts(user) ? user : refuse.draftsNotKept();
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

/** Among several recipients oneself goes without saying. */
function rowOf(view: View, user: UserRecord, id: number, draft: DraftContent): DraftRecord {
  const others = draft.to.filter((recipient) => recipient !== user.id);
  const to = draft.type === "direct" && others.length > 0 ? others : draft.to;
  return { ...draft, to, id, userId: user.id, changedAt: draft.changedAt ?? view.now };
}

function tell(userId: number, body: Readonly<Record<string, unknown>>): Effect {
  return effects.emit("drafts", body, { to: "users", ids: [userId] });
}
