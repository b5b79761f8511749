/** What commands about channels, subscriptions, topics' policies and folders carry (commands.ts). Plain data: it is stored (M3). */

import type { Refusal } from "../../schemas/errors.ts";
import type { GroupSettingName } from "../../schemas/group-settings.ts";
import type { subscriptionNotificationNames } from "../../schemas/subscriptions.ts";
import type { GroupSettingChange, GroupSettingValue, TopicsPolicy } from "../../schemas/types.ts";
import type { ParsedContent } from "../../src/domain/markdown/render.ts";
import type { TopicPolicy } from "../../src/domain/user-topics.ts";
import type { Command } from "../commands.ts";
import type { Ticket } from "../effects.ts";

export interface ChannelCreate {
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  readonly isHistoryPublic: boolean | null;
  readonly isDefault: boolean;
  readonly messageRetentionDays: number | string | null;
  readonly folderId: number | null;
  readonly topicsPolicy: TopicsPolicy;
  readonly groups: Readonly<Partial<Record<GroupSettingName, GroupSettingValue>>>;
  readonly subscriberIds: readonly number[];
  readonly announce: boolean;
  readonly isWebPublicAllowed: boolean;
}

/** Spec 4.4; null: not sent, stays as it is. */
export interface ChannelUpdate {
  readonly channelId: number;
  readonly description: { readonly description: string; readonly renderedDescription: string } | null;
  /** Trimmed. */
  readonly newName: string | null;
  readonly isPrivate: boolean | null;
  readonly isWebPublic: boolean | null;
  readonly isHistoryPublic: boolean | null;
  readonly isDefault: boolean | null;
  readonly messageRetentionDays: number | string | null;
  readonly isArchived: boolean | null;
  /** `id` null: out of its folder. */
  readonly folder: { readonly id: number | null } | null;
  readonly topicsPolicy: TopicsPolicy | null;
  readonly groups: Readonly<Partial<Record<GroupSettingName, GroupSettingChange>>>;
  readonly isWebPublicAllowed: boolean;
}

export interface SubscribeRequest {
  readonly channels: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly renderedDescription: string;
    readonly color: string | null;
  }[];
  /** null: the caller. */
  readonly principals: readonly (number | string)[] | null;
  readonly areErrorsFatal: boolean;
  /** Others who are newly subscribed are told by a direct message. */
  readonly tellsOthers: boolean;
  /** Settings for channels that do not exist yet. */
  readonly template: Omit<ChannelCreate, "name" | "description" | "renderedDescription" | "subscriberIds">;
}

/** Joins the first and leaves the second. */
export interface SubscriptionsUpdate {
  readonly add: SubscribeRequest;
  readonly removeNames: readonly string[];
}

/** What is left of a large change of members; `waiting` names the request that is answered when it is done. */
export interface MembershipChange {
  readonly targets: readonly {
    readonly kind: "join" | "leave";
    readonly channelId: number;
    readonly userIds: readonly number[];
    readonly color: string | null;
  }[];
  readonly waiting: {
    readonly ticket: Ticket;
    readonly boot: number;
    readonly answer: Readonly<Record<string, unknown>>;
  } | null;
  /** Told when it is done. */
  readonly after: readonly Command[];
}

/** One setting of a person's for a channel (spec 2.3, public API update-subscription-settings). */
export type SubscriptionSetting =
  | { readonly channelId: number; readonly property: "color"; readonly value: string }
  | {
      readonly channelId: number;
      readonly property: "is_muted" | "pin_to_top" | (typeof subscriptionNotificationNames)[number];
      readonly value: boolean;
    };

/** One person's policy for one topic; a channel by its id or name. */
export interface UserTopicChange {
  readonly channel: number | string;
  readonly topic: string;
  readonly policy: TopicPolicy;
  /** What is answered where the channel is none that the caller may know. */
  readonly unknown: Refusal;
}

interface TopicPlace {
  readonly channelId: number;
  readonly topic: string;
}

/** What is left to carry of people's policies for a topic that moves as a whole. */
export interface TopicMove {
  readonly from: TopicPlace;
  readonly to: TopicPlace;
  /** The target had messages. */
  readonly isMerge: boolean;
  /** Whose policies are looked at: first those for the target, then those for the source. */
  readonly phase: "target" | "source";
  readonly afterUserId: number;
}

/** What is left to end of people's policies for a topic that was deleted. */
export interface TopicEnd {
  readonly place: TopicPlace;
  /** The oldest and the newest message that went: whose reader knew the topic. */
  readonly messageIds: readonly number[];
  /** When the last message went, in milliseconds: a policy that was set later is for another topic of this name. */
  readonly at: number;
  readonly afterUserId: number;
}

/** Which channels were active at one time and are not at a later one, both in milliseconds, is being told. */
export interface InactivityLook {
  readonly since: number;
  readonly upTo: number;
  /** Channels up to this id are done. */
  readonly afterId: number;
}

/** A folder's description within its bounds, with its Markdown. */
export interface FolderDescription {
  readonly text: string;
  readonly parsed: ParsedContent;
}
