/**
 * Phones and tablets that want notifications (public API: /users/me/apns_device_token, /users/me/android_gcm_reg_id, /mobile_push,
 * /register_client_device). They are remembered; this server has no push service yet, and says so.
 */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

/** Length and form have texts of their own. */
const Token = Type.String();
const AppId = Type.String({ maxLength: limits.push_app_id_characters_max });
const own = { authentication: "user", effectiveness: "durable", role: "human" } as const;

export const addApnsToken = defineEndpoint({
  ...own,
  operationId: "add-apns-token",
  method: "POST",
  path: "/users/me/apns_device_token",
  summary: "Remembers a device of Apple's that wants notifications.",
  params: { token: Token, appid: AppId },
  ok: {},
  errors: [],
});

export const removeApnsToken = defineEndpoint({
  ...own,
  operationId: "remove-apns-token",
  method: "DELETE",
  path: "/users/me/apns_device_token",
  summary: "Forgets a device of Apple's.",
  params: { token: Token },
  ok: {},
  errors: [],
});

export const addFcmToken = defineEndpoint({
  ...own,
  operationId: "add-fcm-token",
  method: "POST",
  path: "/users/me/android_gcm_reg_id",
  summary: "Remembers an Android device that wants notifications.",
  params: { token: Token },
  ok: {},
  errors: [],
});

export const removeFcmToken = defineEndpoint({
  ...own,
  operationId: "remove-fcm-token",
  method: "DELETE",
  path: "/users/me/android_gcm_reg_id",
  summary: "Forgets an Android device.",
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
  summary: "Gives the caller's device a number, by which it is known from then on.",
  params: {},
  ok: { device_id: Id },
  errors: [],
});

export const removeClientDevice = defineEndpoint({
  ...own,
  operationId: "remove-client-device",
  method: "POST",
  path: "/remove_client_device",
  summary: "Forgets a device of the caller's.",
  params: { device_id: Id },
  ok: {},
  errors: [],
});
