/** Rules of who may administer a bot, and the email addresses of bots (behaviour 10, 11; public API: /bots). */

import type { BotRecord } from "../schemas/bots.ts";
import { limits } from "../schemas/limits.ts";
import type { UserRecord } from "../schemas/users.ts";
import { hasMetadataAccess, isAdministrator } from "./permissions.ts";
import { isEmailAddress } from "./text.ts";
import type { View } from "./view.ts";

/** Whether a bot has an owner. The server's own bots have none, and they cannot be changed. */
export function isOwnedBot(user: UserRecord): boolean {
  return user.botType !== null && user.botOwnerId !== null;
}

/** The person who answers for what the user does: a bot's owner, or the user. */
export function personOf(view: View, user: UserRecord): UserRecord {
  return (user.botOwnerId === null ? undefined : view.users.get(user.botOwnerId)) ?? user;
}

export function canAdministerBot(user: UserRecord, bot: UserRecord): boolean {
  return isOwnedBot(bot) && (bot.botOwnerId === user.id || isAdministrator(user));
}

/** A bot's default channels as a viewer sees them: channels that the viewer may not know are hidden (S1). */
export function shownDefaults(view: View, record: BotRecord | undefined, viewer: UserRecord) {
  return {
    default_sending_stream: channelName(view, viewer, record?.defaultSendingChannelId ?? null),
    default_events_register_stream: channelName(view, viewer, record?.defaultEventsChannelId ?? null),
    default_all_public_streams: record?.isAllPublicByDefault ?? false,
  };
}

function channelName(view: View, viewer: UserRecord, id: number | null): string | null {
  const channel = id === null ? undefined : view.channels.get(id);
  return channel !== undefined && hasMetadataAccess(view, viewer, channel) ? channel.name : null;
}

/** Domain of bot addresses if the server's host name cannot be part of an email address. */
const fallbackDomain = "colloquy.invalid";

/** The domain of a new bot's address: the host name by which the client reached this server. */
export function botDomain(siteUrl: string): string {
  const host = URL.canParse(siteUrl) ? new URL(siteUrl).hostname : "";
  return isEmailAddress(`bot@${host}`, limits.email_code_points_max) ? host : fallbackDomain;
}

/**
 * Returns null if the name gives no valid address.
 * @param shortName trimmed
 */
export function botAddress(shortName: string, domain: string): string | null {
  const address = `${shortName}-bot@${domain}`;
  return shortName !== "" && isEmailAddress(address, limits.email_code_points_max) ? address : null;
}

export interface BotQueueDefaults {
  readonly allPublicStreams: boolean;
  readonly narrow: readonly (readonly [string, string])[];
}

/** Defaults of POST /register for a bot (behaviour 4.1). A channel that the bot may no longer know is left out. */
export function botQueueDefaults(view: View, caller: UserRecord): BotQueueDefaults {
  const record = caller.botType === null ? undefined : view.row("bots", caller.id);
  const channel = channelName(view, caller, record?.defaultEventsChannelId ?? null);
  return {
    allPublicStreams: record?.isAllPublicByDefault ?? false,
    narrow: channel === null ? [] : [["channel", channel]],
  };
}
