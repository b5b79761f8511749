/**
 * Links that switch a kind of emails off (D258): who, which kind, and a signature over both and the address that the
 * email was sent to. They are valid without a row of their own, and until the address of the account changes.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { subscriptionNotificationNames } from "../schemas/subscriptions.ts";
import { type UnsubscribeKind, type UnsubscribeKindName, unsubscribeKinds } from "../schemas/unsubscribes.ts";
import { userSetting } from "../schemas/user-settings.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { View } from "./view.ts";

export const unsubscribePrefix = "/accounts/unsubscribe/";

const shape = /^([a-z_]{1,40})\/(\d{1,15})-([A-Za-z0-9_-]{43})\/?$/;
const emailIndex = subscriptionNotificationNames.indexOf("email_notifications");

export interface UnsubscribeTarget {
  readonly kind: UnsubscribeKindName;
  readonly user: UserRecord;
}

/** The kind of emails that a template belongs to; undefined: such emails cannot be switched off. */
export function unsubscribeKindOf(template: string): UnsubscribeKindName | undefined {
  return kindNames.find((name) => settingsOf(name).templates.some((one) => one === template));
}

/** @param site the organization's address, without a trailing slash */
export function unsubscribeLink(secret: string, site: string, { kind, user }: UnsubscribeTarget): string {
  const token = `${user.id}-${sign(secret, kind, user).toString("base64url")}`;
  return `${site}${unsubscribePrefix}${kind}/${token}`;
}

/** @param rest the path after the prefix. undefined: the link is not valid, or not any more */
export function openUnsubscribeLink(view: View, rest: string): UnsubscribeTarget | undefined {
  const [, name, id, signature = ""] = shape.exec(rest) ?? [];
  const kind = kindNames.find((one) => one === name);
  const user = view.users.get(Number(id));
  const secret = view.row("linkSecrets", "unsubscribe")?.secret;
  if (kind === undefined || user?.isActive !== true || secret === undefined) return undefined;
  const shown = Buffer.from(signature, "base64url");
  const expected = sign(secret, kind, user);
  return shown.length === expected.length && timingSafeEqual(shown, expected) ? { kind, user } : undefined;
}

/** Whether a user may still get emails of the kind. */
export function isSubscribed(view: View, { kind, user }: UnsubscribeTarget): boolean {
  if (settingsOf(kind).settings.some((name) => userSetting(user, name) === true)) return true;
  return channelsWithEmails(view, { kind, user }).next().done !== true;
}

/** Subscriptions whose own setting demands emails. */
export function* channelsWithEmails(view: View, { kind, user }: UnsubscribeTarget) {
  if (!settingsOf(kind).includesChannels) return;
  for (const row of view.subscriptions.ofUser(user.id)) if (row.notifications[emailIndex] === true) yield row;
}

const kindNames = Object.keys(unsubscribeKinds) as UnsubscribeKindName[];

function settingsOf(name: UnsubscribeKindName): UnsubscribeKind {
  return unsubscribeKinds[name];
}

function sign(secret: string, kind: UnsubscribeKindName, { id, email }: UserRecord): Buffer {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["unsubscribe", kind, id, email]))
    .digest();
}
