/** Who may administer a bot, and where bots have their addresses (behaviour 10, 11; public API: /bots). */
import { limits } from "../../schemas/limits.ts";
import type { BotRecord, UserRecord } from "../../schemas/records.ts";
import { hasMetadataAccess, isAdministrator } from "./permissions.ts";
import { isEmailAddress } from "./text.ts";
import type { View } from "./view.ts";

/** A bot that somebody owns: the server's own, which nobody owns, is nobody's to change. */
export function isOwnedBot(user: UserRecord): boolean {
  return user.botType !== null && user.botOwnerId !== null;
}

export function canAdministerBot(user: UserRecord, bot: UserRecord): boolean {
  return isOwnedBot(bot) && (bot.botOwnerId === user.id || isAdministrator(user));
}

/** What a bot does where a request does not say, for a viewer: channels that one may not know of are not named (S1). */
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

/** Where bots are at home when the server is called by something that no address can end in. */
const fallbackDomain = "colloquy.invalid";

/** What stands behind the @ of a bot that is made now: the host by which the client calls this server. */
export function botDomain(siteUrl: string): string {
  const host = URL.canParse(siteUrl) ? new URL(siteUrl).hostname : "";
  return isEmailAddress(`bot@${host}`, limits.email_code_points_max) ? host : fallbackDomain;
}

/** null: no address can be made of the name. @param shortName trimmed */
export function botAddress(shortName: string, domain: string): string | null {
  const address = `${shortName}-bot@${domain}`;
  return shortName !== "" && isEmailAddress(address, limits.email_code_points_max) ? address : null;
}

export interface BotQueueDefaults {
  readonly allPublicStreams: boolean;
  readonly narrow: readonly (readonly [string, string])[];
}

/** What POST /register takes for a bot that does not say (behaviour 4.1). A channel that it may no longer know is left out. */
export function botQueueDefaults(view: View, caller: UserRecord): BotQueueDefaults {
  const record = caller.botType === null ? undefined : view.row("bots", caller.id);
  const channel = channelName(view, caller, record?.defaultEventsChannelId ?? null);
  return {
    allPublicStreams: record?.isAllPublicByDefault ?? false,
    narrow: channel === null ? [] : [["channel", channel]],
  };
}
