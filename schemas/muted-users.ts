/** Muted users, whose messages the muting user does not want to see (public API: mute-user, unmute-user). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import { UserId } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  muted_users_per_user_max: 1000,
} as const;

const common = {
  path: "/users/me/muted_users/{muted_user_id}",
  authentication: "user",
  effectiveness: "durable",
  params: { muted_user_id: Id },
  ok: {},
  errors: [],
} as const;

export const MutedUsers = Type.Array(Type.Object({ id: UserId, timestamp: Type.Integer() }));

export const muteUser = defineEndpoint({
  ...common,
  operationId: "mute-user",
  method: "POST",
  summary: "Mutes a user or a bot, for the caller only.",
});

export const unmuteUser = defineEndpoint({
  ...common,
  operationId: "unmute-user",
  method: "DELETE",
  summary: "Unmutes a user or a bot.",
});

export interface MutedUserRecord {
  readonly mutedAt: number;
}

/** Parameters of its commands, by type. */
export interface MutedUsersCommands {
  "muted-users.add": { readonly userId: UserId };
  "muted-users.remove": { readonly userId: UserId };
}

export const mutedUsersArea = defineArea({
  endpoints: [muteUser, unmuteUser],
  commands: defineCommands<MutedUsersCommands>(),
  state: { muted_users: { muted_users: MutedUsers } },
  tables: {
    mutedUsers: defineTable<readonly [userId: UserId, mutedUserId: UserId], MutedUserRecord>({
      fields: ["mutedAt"],
      dates: ["mutedAt"],
    }),
  },
  events: {
    muted_users: sentAsStored({
      "": { muted_users: MutedUsers },
    }),
  },
  limits,
});
