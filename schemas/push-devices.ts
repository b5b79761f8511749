/**
 * Phones and tablets registered for push notifications (public API: /users/me/apns_device_token,
 * /users/me/android_gcm_reg_id, /mobile_push, /register_client_device). Registrations are stored, but this server has
 * no push service: requests that need one are rejected.
 */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { UserId } from "./ids.ts";
import { OtherId } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  push_token_characters_max: 4096,
  push_app_id_characters_max: 255,
  push_tokens_per_user_max: 100,
  devices_per_user_max: 100,
} as const;

/** Length and format have their own error messages. */
const Token = Type.String();
const AppId = Type.String({ maxLength: limits.push_app_id_characters_max });
const own = { authentication: "user", effectiveness: "durable", role: "human" } as const;

export const addApnsToken = defineEndpoint({
  ...own,
  operationId: "add-apns-token",
  method: "POST",
  path: "/users/me/apns_device_token",
  summary: "Registers an Apple device for push notifications.",
  params: { token: Token, appid: AppId },
  ok: {},
  errors: [],
});

export const removeApnsToken = defineEndpoint({
  ...own,
  operationId: "remove-apns-token",
  method: "DELETE",
  path: "/users/me/apns_device_token",
  summary: "Unregisters an Apple device.",
  params: { token: Token },
  ok: {},
  errors: [],
});

export const addFcmToken = defineEndpoint({
  ...own,
  operationId: "add-fcm-token",
  method: "POST",
  path: "/users/me/android_gcm_reg_id",
  summary: "Registers an Android device for push notifications.",
  params: { token: Token },
  ok: {},
  errors: [],
});

export const removeFcmToken = defineEndpoint({
  ...own,
  operationId: "remove-fcm-token",
  method: "DELETE",
  path: "/users/me/android_gcm_reg_id",
  summary: "Unregisters an Android device.",
  params: { token: Token },
  ok: {},
  errors: [],
});

export const testNotification = defineEndpoint({
  ...own,
  operationId: "test-notify",
  method: "POST",
  path: "/mobile_push/test_notification",
  effectiveness: "volatile",
  summary: "Sends a test notification to one of the caller's devices, or to all of them.",
  params: { token: Type.Optional(Token) },
  ok: {},
  errors: ["INVALID_PUSH_DEVICE_TOKEN", "PUSH_SERVICE_NOT_CONFIGURED"],
});

export const testEncryptedNotification = defineEndpoint({
  ...own,
  operationId: "e2ee-test-notify",
  method: "POST",
  path: "/mobile_push/e2ee/test_notification",
  effectiveness: "volatile",
  summary: "Sends an encrypted test notification to one of the caller's devices, or to all of them.",
  params: { push_account_id: Type.Optional(Type.Integer()) },
  ok: {},
  errors: ["NO_ACTIVE_PUSH_DEVICE"],
});

export const registerPushDevice = defineEndpoint({
  ...own,
  operationId: "register-push-device",
  method: "POST",
  path: "/mobile_push/register",
  effectiveness: "volatile",
  summary: "Registers a device for encrypted notifications.",
  params: {
    token_kind: Type.Enum(["fcm", "apns"], { wire: "text" }),
    push_account_id: Type.Integer(),
    push_public_key: Type.String(),
    bouncer_public_key: Type.String(),
    encrypted_push_registration: Type.String(),
  },
  ok: {},
  errors: ["PUSH_SERVICE_NOT_CONFIGURED"],
});

export const registerClientDevice = defineEndpoint({
  ...own,
  operationId: "register-client-device",
  method: "POST",
  path: "/register_client_device",
  summary: "Assigns an id to the caller's device.",
  params: {},
  ok: { device_id: OtherId },
  errors: [],
});

export const removeClientDevice = defineEndpoint({
  ...own,
  operationId: "remove-client-device",
  method: "POST",
  path: "/remove_client_device",
  summary: "Unregisters one of the caller's devices.",
  params: { device_id: Id },
  ok: {},
  errors: [],
});

/** The push service of the device. */
export type PushKind = "apns" | "fcm";

/**
 * A phone or tablet that requested push notifications. The token must be sent to the push service, so it is stored in
 * recoverable form (S2).
 */
export interface PushTokenRecord {
  readonly kind: PushKind;
  readonly token: string;
  /** Apple app id; null for FCM. */
  readonly appId: string | null;
  readonly addedAt: number;
}

/** A registered device, before it requests encrypted notifications. */
export interface DeviceRecord {
  readonly registeredAt: number;
}

/** Parameters of its commands, by type. */
export interface PushDevicesCommands {
  /** `name`: part of the row's key. */
  "push-token.add": {
    readonly name: string;
    readonly kind: PushKind;
    readonly token: string;
    readonly appId: string | null;
  };
  "push-token.remove": { readonly name: string };
  "device.register": Record<string, never>;
  "device.remove": { readonly id: number };
}

/** Their replies, by type; other commands reply without fields. */
export interface PushDevicesReplies {
  readonly "device.register": ResultOf<typeof registerClientDevice>;
}

export const pushDevicesArea = defineArea({
  endpoints: [
    addApnsToken,
    removeApnsToken,
    addFcmToken,
    removeFcmToken,
    testNotification,
    testEncryptedNotification,
    registerPushDevice,
    registerClientDevice,
    removeClientDevice,
  ],
  commands: defineCommands<PushDevicesCommands, PushDevicesReplies>(),
  tables: {
    /** `name`: the kind and the SHA-256 of the token, which may exceed the store's key length. */
    pushTokens: defineTable<readonly [userId: UserId, name: string], PushTokenRecord>({
      fields: ["kind", "token", "appId", "addedAt"],
      dates: ["addedAt"],
    }),
    devices: defineTable<readonly [userId: UserId, id: number], DeviceRecord>({
      fields: ["registeredAt"],
      dates: ["registeredAt"],
    }),
  },
  counters: ["device"],
  limits,
});
