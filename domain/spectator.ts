/**
 * A reader without an account (behaviour 5.4; D27), who sees web-public channels in organizations that allow it. For
 * permission checks a spectator is a guest without subscriptions, so no code path needs special checks.
 */

import { roles } from "../schemas/types.ts";
import type { UserRecord } from "../schemas/users.ts";

export const spectator: UserRecord = {
  id: 0,
  email: "",
  fullName: "",
  role: roles.guest,
  isActive: true,
  joinedAt: 0,
  timezone: "",
  botType: null,
  botOwnerId: null,
  avatarVersion: 1,
  settings: {},
  avatarFile: null,
  canChangeUserEmails: false,
};

export function isSpectator(reader: UserRecord): boolean {
  return reader.id === spectator.id;
}
