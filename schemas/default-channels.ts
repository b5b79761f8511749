/** Default channels, which new users are subscribed to (public API: add-default-stream, remove-default-stream). */

import { defineArea, defineCommands } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { ChannelId } from "./ids.ts";
import { OtherIds } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  default_channels_max: 100,
} as const;

const common = {
  path: "/default_streams",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  params: { stream_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
} as const;

export const addDefaultChannel = defineEndpoint({
  ...common,
  operationId: "add-default-stream",
  method: "POST",
  summary: "Makes a channel a default channel for new users; organization administrators only.",
});

export const removeDefaultChannel = defineEndpoint({
  ...common,
  operationId: "remove-default-stream",
  method: "DELETE",
  summary: "Removes a channel from the default channels for new users; organization administrators only.",
});

/** Parameters of its commands, by type. */
export interface DefaultChannelsCommands {
  "default-channels.set": { readonly channelId: ChannelId; readonly isDefault: boolean };
}

export const defaultChannelsArea = defineArea({
  endpoints: [addDefaultChannel, removeDefaultChannel],
  commands: defineCommands<DefaultChannelsCommands>(),
  state: { default_streams: { realm_default_streams: OtherIds } },
  limits,
});
