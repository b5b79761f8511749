/**
 * Devices registered for push notifications (public API). There is no push service, so nothing is sent to them, and a
 * test notification is rejected with an error that says so.
 */
import { createHash } from "node:crypto";
import { command } from "../../../actors/protocol/decision.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  addApnsToken,
  addFcmToken,
  type PushKind,
  registerClientDevice,
  registerPushDevice,
  removeApnsToken,
  removeClientDevice,
  removeFcmToken,
  testEncryptedNotification,
  testNotification,
} from "../../../schemas/push-devices.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const pushDeviceRoutes = [
  bind(addApnsToken, (call) => add(call, "apns", call.params.appid)),
  bind(removeApnsToken, (call) => remove(call, "apns")),
  bind(addFcmToken, (call) => add(call, "fcm", null)),
  bind(removeFcmToken, (call) => remove(call, "fcm")),

  bind(testNotification, (call) => {
    const { view } = call.realm;
    const { id } = requireCaller(call);
    const { token } = call.params;
    if (token === undefined) {
      const hasDevices = view.keys("pushTokens", { start: [id], end: [id + 1], limit: 1 }).length > 0;
      return hasDevices ? refuse.pushNotConfigured() : ok({});
    }
    const isKnown = kinds.some((kind) => view.row("pushTokens", [id, nameOf(kind, token)]) !== undefined);
    return isKnown ? refuse.pushNotConfigured() : refuse.pushTokenUnknown();
  }),

  // None can be registered.
  bind(testEncryptedNotification, () => refuse.noActivePushDevice()),
  bind(registerPushDevice, () => refuse.pushNotConfigured()),

  bind(registerClientDevice, (call) =>
    call.realm.dispatcher.ask(command(self(call), "device.register", {}, requireCaller(call).id), call.idempotencyKey),
  ),

  bind(removeClientDevice, (call) => {
    const params = { id: call.params.device_id };
    return call.realm.dispatcher.ask(
      command(self(call), "device.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

const kinds: readonly PushKind[] = ["apns", "fcm"];

type TokenCall = Call<{ readonly token: string }>;

function add(call: TokenCall, kind: PushKind, appId: string | null) {
  const { token } = call.params;
  const refused = refuseToken(kind, token);
  if (refused !== null) return refused;
  const params = { name: nameOf(kind, token), kind, token, appId };
  return call.realm.dispatcher.ask(
    command(self(call), "push-token.add", params, requireCaller(call).id),
    call.idempotencyKey,
  );
}

function remove(call: TokenCall, kind: PushKind) {
  const { token } = call.params;
  const refused = refuseToken(kind, token);
  if (refused !== null) return refused;
  const params = { name: nameOf(kind, token) };
  return call.realm.dispatcher.ask(
    command(self(call), "push-token.remove", params, requireCaller(call).id),
    call.idempotencyKey,
  );
}

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}

function refuseToken(kind: PushKind, token: string): Refusal | null {
  if (token === "" || token.length > limits.push_token_characters_max) {
    return refuse.badRequest("Empty or invalid length token");
  }
  const isBase64 = token.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(token);
  return kind === "apns" && !isBase64 ? refuse.badRequest("Invalid APNS token") : null;
}

function nameOf(kind: PushKind, token: string): string {
  return `${kind}:${createHash("sha256").update(token).digest("base64url")}`;
}
