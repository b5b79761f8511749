/** Drafts (public API: get, create, edit and delete). Texts are truncated to their limits before the command. */
import type { Static } from "typebox";
import { command } from "../../../actors/protocol/decision.ts";
import { draftBody, draftsOf, keepsDrafts } from "../../../domain/drafts.ts";
import { cutContent } from "../../../domain/message-content.ts";
import { cutTopic } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import {
  createDrafts,
  type DraftContent,
  deleteDraft,
  editDraft,
  getDrafts,
  type NewDraft,
} from "../../../schemas/drafts.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

/** Most recently edited first. */
function listDrafts(view: View, user: UserRecord) {
  return keepsDrafts(user) ? draftsOf(view, user.id).map(draftBody) : [];
}

export const draftsState: Section<"drafts"> = (view, user) => ({ drafts: listDrafts(view, user) });

export const draftRoutes = [
  bind(getDrafts, (call) => {
    const caller = requireCaller(call);
    if (!keepsDrafts(caller)) return refuse.draftsNotKept();
    const drafts = listDrafts(call.realm.view, caller);
    return ok({ count: drafts.length, drafts });
  }),

  bind(createDrafts, (call) => {
    const drafts: DraftContent[] = [];
    for (const [index, given] of call.params.drafts.entries()) {
      const draft = readDraft(given, `drafts[${index}]`);
      if (isRefusal(draft)) return draft;
      drafts.push(draft);
    }
    return call.realm.dispatcher.ask(
      command(self(call), "drafts.add", { drafts }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(editDraft, (call) => {
    const draft = readDraft(call.params.draft, "draft");
    if (isRefusal(draft)) return draft;
    const params = { id: call.params.draft_id, draft };
    return call.realm.dispatcher.ask(
      command(self(call), "drafts.update", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(deleteDraft, (call) => {
    const params = { id: call.params.draft_id };
    return call.realm.dispatcher.ask(
      command(self(call), "drafts.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}

/** @param path path of the draft in the parameters, for error messages */
function readDraft(given: Static<typeof NewDraft>, path: string): DraftContent | Refusal {
  const { type, timestamp = null } = given;
  if (given.content.includes("\0")) return refuse.badRequest("Message must not contain null bytes");
  if (given.content.trim() === "") return refuse.badRequest(`${path}["content"] cannot be blank`);
  if (timestamp !== null && timestamp < 0) return refuse.badRequest("Timestamp must not be negative.");
  const content = cutContent(given.content);
  const changedAt = timestamp === null ? null : Math.round(timestamp * 1000);
  if (type === "stream") {
    const topic = cutTopic(given.topic);
    if (topic.includes("\0")) return refuse.badRequest("Topic must not contain null bytes");
    if (given.to.length !== 1) return refuse.badRequest("Must specify exactly 1 channel ID for channel messages");
    return { type: "channel", to: given.to, topic, content, changedAt };
  }
  // Without recipients there is no destination, whatever the type says; only channel drafts have a topic.
  const to = type === "private" ? [...new Set(given.to)] : [];
  return { type: to.length === 0 ? "" : "direct", to, topic: "", content, changedAt };
}
