/**
 * Every administrative operation, in one table. The admin listener and the command line read it from here.
 *
 * Operations on organizations' time.
 */

import type { RetentionContext } from "../../../actors/retention/context.ts";
import type { Lmdb } from "../../store/lmdb.ts";
import { lastTurnAt } from "../../store/set-time.ts";
import {
  dropDeadLettersOperation,
  listDeadLettersOperation,
  retryDeadLettersOperation,
  showDeadLetterOperation,
} from "./dead-letter-operations.ts";
import { type AdminOperation, defineOperation } from "./operation.ts";
import {
  confirmRetentionOperation,
  createRealmsOperation,
  deactivateRealmOperation,
  eraseRealmOperation,
  reactivateRealmOperation,
  rebuildSearchOperation,
} from "./realm-operations.ts";
import { listRealmsOperation, sendTestMailOperation, statusOperation } from "./server-operations.ts";
import {
  createUserOperation,
  deactivateUserOperation,
  grantEmailChangesOperation,
  listUsersOperation,
  newKeyOperation,
  reactivateUserOperation,
  resetLinkOperation,
  setPasswordOperation,
  setRoleOperation,
  setupLinkOperation,
} from "./user-operations.ts";

export interface RealmTimeState {
  readonly label: string;
  readonly lastChangeAt: string;
  /** Message retention waits for an operator; null: it does not. */
  readonly heldRetention: { readonly by: string; readonly allMessages: number } | null;
}

export const timeOperation = defineOperation({
  name: "time",
  summary: "Shows each organization's time, and whether message retention is held after a clock jump.",
  params: {},
  async run(_params, ports) {
    const realms: RealmTimeState[] = [];
    for (const entry of ports.realms()) {
      const state = await ports.read(entry, stateOf);
      realms.push({ label: entry.label, ...state });
    }
    return { realms };
  },
});

function stateOf(lmdb: Lmdb): Omit<RealmTimeState, "label"> {
  const snapshot = lmdb.get("snapshots", "retention");
  const paused = snapshot?.state === "held" ? (snapshot.context as RetentionContext).held : null;
  return {
    lastChangeAt: new Date(lastTurnAt(lmdb)).toISOString(),
    heldRetention: paused === null ? null : { by: new Date(paused.at).toISOString(), allMessages: paused.allMessages },
  };
}

export const adminOperations: readonly AdminOperation[] = [
  statusOperation,
  sendTestMailOperation,
  listRealmsOperation,
  createRealmsOperation,
  deactivateRealmOperation,
  reactivateRealmOperation,
  eraseRealmOperation,
  listUsersOperation,
  createUserOperation,
  deactivateUserOperation,
  reactivateUserOperation,
  setRoleOperation,
  setPasswordOperation,
  resetLinkOperation,
  setupLinkOperation,
  newKeyOperation,
  grantEmailChangesOperation,
  listDeadLettersOperation,
  showDeadLetterOperation,
  retryDeadLettersOperation,
  dropDeadLettersOperation,
  rebuildSearchOperation,
  timeOperation,
  confirmRetentionOperation,
];
