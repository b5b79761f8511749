/** A channel of which nothing is said but what it is called and who is in it. */
import type { ChannelCreate } from "../../actors/commands.ts";

/** What a creation with name and subscribers alone comes to, for commands that are put into the line directly. */
export function plainChannel(name: string, subscriberIds: readonly number[] = []): ChannelCreate {
  return {
    name,
    subscriberIds,
    description: "",
    renderedDescription: "",
    isPrivate: false,
    isWebPublic: false,
    isHistoryPublic: null,
    isDefault: false,
    messageRetentionDays: null,
    folderId: null,
    topicsPolicy: "inherit",
    groups: {},
    announce: false,
    isWebPublicAllowed: false,
  };
}
