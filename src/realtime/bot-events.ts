/**
 * `realm_bot` events: the log says which bot and which field; values are read from the rows of now, for who may administer
 * the bot now. So tokens stand in no log (S2), and a replay shows nothing to a former owner (E2, S1).
 */
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { canAdministerBot } from "../domain/bots.ts";
import type { View } from "../domain/view.ts";
import { botBody } from "../queries/bots.ts";
import type { EventKind } from "./event-kind.ts";

/** null: not this person's to know. */
function body(view: View, record: EventRecord, viewer: UserRecord): Record<string, unknown> | null {
  const { op, field } = record.body;
  const id = record.body["user_id"] as number;
  if (op === "delete") return { type: "realm_bot", op, bot: { user_id: id } };
  const bot = view.users.get(id);
  if (bot === undefined || !canAdministerBot(viewer, bot)) return null;
  const whole: Record<string, unknown> = botBody(view, bot, viewer);
  if (op === "add") return { type: "realm_bot", op, bot: whole };
  return { type: "realm_bot", op, bot: { user_id: id, [String(field)]: whole[String(field)] } };
}

export const realmBot: EventKind = {
  key(view, record, user) {
    const content = body(view, record, user);
    return content === null ? null : JSON.stringify(content);
  },
  build(view, record, user) {
    const content = body(view, record, user);
    return content === null ? [] : [content];
  },
};
