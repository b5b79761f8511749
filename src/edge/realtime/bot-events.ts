/**
 * `realm_bot` events. The log stores only the bot and the field; values are read from the current rows, for users who
 * may administer the bot now. So no token is in the log (S2), and a replay shows nothing to a former owner (E2, S1).
 */

import { canAdministerBot } from "../../../domain/bots.ts";
import type { View } from "../../../domain/view.ts";
import type { BotField } from "../../../schemas/bots.ts";
import type { WireEvent } from "../../../schemas/events.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { botBody } from "../../queries/bots.ts";
import type { EventKind } from "./event-kind.ts";

type BotBody = ReturnType<typeof botBody>;

function fieldOf<F extends BotField>(whole: BotBody, field: F): Pick<BotBody, F> {
  // A computed key has the type `string`.
  return { [field]: whole[field] } as Pick<BotBody, F>;
}

/** Returns null if the viewer may not see the bot. */
function event(view: View, { body }: EventRecord<"realm_bot">, viewer: UserRecord): WireEvent<"realm_bot"> | null {
  const { user_id: id } = body;
  if (body.op === "delete") return { type: "realm_bot", op: "delete", bot: { user_id: id } };
  const bot = view.users.get(id);
  if (bot === undefined || !canAdministerBot(viewer, bot)) return null;
  const whole = botBody(view, bot, viewer);
  if (body.op === "add") return { type: "realm_bot", op: "add", bot: whole };
  return { type: "realm_bot", op: "update", bot: { user_id: id, ...fieldOf(whole, body.field) } };
}

export const realmBot: EventKind<"realm_bot"> = {
  key(view, record, user) {
    const content = event(view, record, user);
    return content === null ? null : JSON.stringify(content);
  },
  build(view, record, user) {
    const content = event(view, record, user);
    return content === null ? [] : [content];
  },
};
