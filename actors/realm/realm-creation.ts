/**
 * Creates an organization (start-up contract): its row, the system groups, the notification bot, an owner and a
 * channel.
 */

import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { systemGroupNames, systemGroups } from "../../schemas/group-settings.ts";
import { roles } from "../../schemas/types.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, type Outcome, type Params } from "../protocol/decision.ts";
import { newApiKey } from "../rules/api-keys.ts";
import { notificationBotId } from "../rules/notification-bot.ts";

import { newSubscription } from "./subscription-records.ts";

const ownerId = 2;
const generalChannelId = 1;

export function createRealm(params: Params<"realm.create">, view: View): Outcome {
  const owner = newUser({
    id: ownerId,
    email: params.ownerEmail,
    fullName: params.ownerFullName,
    role: roles.owner,
    now: view.now,
  });
  const bot: UserRecord = {
    ...newUser({
      id: notificationBotId,
      email: "notification-bot@colloquy.invalid",
      fullName: "Notification Bot",
      role: roles.member,
      now: view.now,
    }),
    botType: 1,
  };
  const channel = generalChannel(view.now);
  return done(
    { user_id: ownerId },
    [
      effects.put("realm", "realm", {
        id: 1,
        label: params.label,
        name: params.name,
        createdAt: view.now,
        settings: { new_stream_announcements_stream_id: generalChannelId },
        userDefaults: {},
        deactivatedAt: null,
      }),
      ...systemGroupEffects(view.now),
      effects.put("users", bot.id, bot),
      effects.put("users", owner.id, owner),
      effects.put("credentials", owner.id, { userId: owner.id, passwordHash: params.passwordHash }),
      effects.put("apiKeys", params.apiKeyHash, newApiKey(view, owner.id, params.apiKeyHash, "kept")),
      ...(params.setupSecret === null
        ? []
        : [effects.put("setup", "owner", { secret: params.setupSecret, userId: owner.id })]),
      effects.put("channels", channel.id, channel),
      effects.put("subscriptions", [channel.id, owner.id], newSubscription(view, owner.id, channel.id, null)),
      effects.setCounter("user", owner.id),
      effects.setCounter("channel", channel.id),
      effects.setCounter("recipient", channel.recipientId),
      effects.setCounter("group", systemGroupNames.length),
    ],
    undefined,
    "open",
  );
}

export function newUser(given: {
  id: number;
  email: string;
  fullName: string;
  role: UserRecord["role"];
  now: number;
}): UserRecord {
  return {
    id: given.id,
    email: given.email,
    fullName: given.fullName,
    role: given.role,
    isActive: true,
    joinedAt: given.now,
    timezone: "",
    botType: null,
    botOwnerId: null,
    avatarVersion: 1,
    settings: {},
    avatarFile: null,
    canChangeUserEmails: false,
  };
}

function systemGroupEffects(now: number): Effect[] {
  return systemGroupNames.map((name, index) => {
    const narrower = index > 1 ? [index] : [];
    const group: GroupRecord = {
      id: index + 1,
      name,
      description: systemGroups[name].description,
      isSystem: true,
      isActive: true,
      creatorId: null,
      createdAt: now,
      memberIds: [],
      subgroupIds: narrower,
      settings: {},
    };
    return effects.put("groups", group.id, group);
  });
}

function generalChannel(now: number): ChannelRecord {
  return {
    id: generalChannelId,
    recipientId: 1,
    name: "general",
    description: "For team-wide conversations",
    renderedDescription: "<p>For team-wide conversations</p>",
    creatorId: null,
    createdAt: now,
    isPrivate: false,
    isWebPublic: false,
    isHistoryPublic: true,
    isDefault: true,
    isArchived: false,
    messageRetentionDays: null,
    folderId: null,
    topicsPolicy: "inherit",
    firstMessageId: null,
    groups: {},
  };
}
