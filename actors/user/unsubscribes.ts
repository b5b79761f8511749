/** A user who followed the link of an email switches off emails of its kind (D258). */

import { channelsWithEmails } from "../../domain/unsubscribe-links.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { unsubscribeKinds } from "../../schemas/unsubscribes.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, command, done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { personalChanges } from "./settings.ts";
import { subscriptionChange } from "./subscription-settings.ts";

const off = { property: "email_notifications", value: false } as const;

/** The same events as if the user had changed the settings. */
export function unsubscribe(
  user: UserRecord,
  params: Params<"user.unsubscribe">,
  view: View,
  request: Command<"user.unsubscribe">,
): Outcome {
  const { kind, email } = params;
  // The address changed after the link was checked.
  if (user.email !== email) return refuse.notFound();
  const settings = Object.fromEntries(unsubscribeKinds[kind].settings.map((name) => [name, false]));
  const max = limits.unsubscribed_channels_per_command_max;
  const all = [...channelsWithEmails(view, { kind, user })];
  return done({}, [
    ...personalChanges(view, user, { settings, fullName: null }),
    ...all.slice(0, max).flatMap((row) => subscriptionChange(row, { ...off, channelId: row.channelId })),
    ...(all.length > max ? [effects.send(command(request.to, "user.unsubscribe", { kind, email }, user.id))] : []),
  ]);
}

export const unsubscribesDecisions = {
  "user.unsubscribe": forUser(unsubscribe),
} as const;
