/** A channel defined only by its name and subscribers. */
import type { ChannelCreate } from "../../schemas/channels.ts";

/**
 * The parameters of a command that creates a channel with only a name and subscribers, for tests that enqueue commands
 * directly.
 */
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
